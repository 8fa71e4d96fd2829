import { type Exchange, Mismatch, Skip } from './answer.ts'
import type { Check, Context } from './check.ts'
import { basic, Client, type Wiring } from './client.ts'
import type { Receiver } from './receiver.ts'
import type { Target } from './target.ts'
import { Workspace } from './workspace.ts'

export type Outcome = 'passed' | 'failed' | 'skipped'

export interface Result {
  id: string
  part: string
  operation: string
  proves: string[]
  variant: Target['variant']
  outcome: Outcome
  /** Why it was skipped. */
  reason?: string
  failure?: { expected: string; got: string; exchange?: Exchange }
  milliseconds: number
}

export interface RunOptions {
  concurrency: number
  /** Milliseconds that one check may take. */
  patience: number
  /** Milliseconds that a slow one may take; 0 skips it. */
  slow_patience: number
  /** Milliseconds after which no further check begins. */
  limit: number
  signal: AbortSignal
  onResult(result: Result): void
}

export interface Run {
  results: Result[]
  /** What was made and could not be deleted. */
  left: string[]
  /** Whether checks were skipped because the run took its limit. */
  overdue: boolean
}

/** Runs all checks against a server, and deletes what they made, also when it is interrupted. */
export async function runChecks(checks: Check[], target: Target, receiver: Receiver | string, options: RunOptions): Promise<Run> {
  const workspace = new Workspace(target, receiver, options.signal)
  const results = new Map<Check, Result>()
  const notFound = new Set<Result>()
  const started = performance.now()
  let overdue = false
  const run = async (check: Check) => {
    overdue ||= performance.now() - started > options.limit
    const late = `The run took its limit of ${options.limit / 1000} s.`
    const statuses = new Set<number>()
    const result = overdue ? skip(check, target, late) : await runCheck(check, target, workspace, options, statuses)
    results.set(check, result)
    if (result.outcome === 'passed' && statuses.size === 1 && statuses.has(404)) notFound.add(result)
    options.onResult(result)
  }
  let left: string[] = []
  try {
    const waiting = checks.filter(({ alone }) => !alone)
    const worker = async () => {
      for (let check = waiting.shift(); check && !options.signal.aborted; check = waiting.shift()) await run(check)
    }
    await Promise.all(Array.from({ length: options.concurrency }, worker))
    for (const check of checks.filter(({ alone }) => alone)) if (!options.signal.aborted) await run(check)
  } finally {
    left = await workspace.clean()
  }
  return {
    results: withoutEmptyProofs(
      checks.flatMap((check) => results.get(check) ?? []),
      notFound,
    ),
    left,
    overdue,
  }
}

/** A server without an operation answers 404 in any case. If nothing else of it passed, a check that expects 404 proves nothing. */
function withoutEmptyProofs(results: Result[], notFound: Set<Result>): Result[] {
  const isMissing = (some: Result[]) =>
    some.some(({ outcome }) => outcome !== 'passed') && some.every((one) => one.outcome !== 'passed' || notFound.has(one))
  const missing = new Set([...Map.groupBy(results, ({ operation }) => operation).values()].filter(isMissing).flat())
  const reason = 'It expects status 404, but no check shows that the server has the operation.'
  return results.map((one) => (missing.has(one) && notFound.has(one) ? { ...one, outcome: 'skipped', reason } : one))
}

const skip = ({ id, part, operation, proves }: Check, { variant }: Target, reason: string): Result => ({
  ...{ id, part, operation, proves, variant },
  outcome: 'skipped',
  reason,
  milliseconds: 0,
})

/** `statuses` gets those of the responses that the check read. */
async function runCheck(
  check: Check,
  target: Target,
  workspace: Workspace,
  options: RunOptions,
  statuses: Set<number>,
): Promise<Result> {
  const { signal } = options
  const patience = check.slow ? options.slow_patience : options.patience
  if (check.variant && check.variant !== target.variant) return skip(check, target, `It is about the ${check.variant} variant.`)
  if (patience === 0) return skip(check, target, 'It takes more than 10 minutes: give --slow.')
  const { id, part, operation, proves } = check
  const started = performance.now()
  const finish = (rest: Pick<Result, 'outcome' | 'reason' | 'failure'>): Result => {
    const milliseconds = Math.round(performance.now() - started)
    return { id, part, operation, proves, variant: target.variant, ...rest, milliseconds }
  }
  const over = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const late = () => {
    over.abort()
    reject(new Mismatch(`an end within ${patience / 1000} s`, 'none'))
  }
  const timer = setTimeout(late, patience)
  let last: Exchange | undefined
  const wiring: Wiring = {
    ...workspace.wiring(AbortSignal.any([signal, over.signal])),
    onExchange: (exchange) => {
      last = exchange
      if (exchange.status > 0) statuses.add(exchange.status)
    },
  }
  try {
    wiring.liveness.expect()
    await Promise.race([check.run(contextOf(target, workspace, wiring)), promise])
    return finish({ outcome: 'passed' })
  } catch (error) {
    if (error instanceof Skip) return finish({ outcome: 'skipped', reason: error.message })
    if (signal.aborted) return finish({ outcome: 'skipped', reason: 'It was interrupted.' })
    // A response of another kind than the check reads, such as an array of texts, is a fault of the server too.
    const mismatch = error instanceof Mismatch ? error : new Mismatch('a response that can be read', `${error}`)
    const { expected, got, exchange = last } = mismatch
    return finish({ outcome: 'failed', failure: { expected, got, ...(exchange && { exchange }) } })
  } finally {
    clearTimeout(timer)
  }
}

function contextOf(target: Target, workspace: Workspace, wiring: Wiring): Context {
  const bearer = (token: string) => new Client(wiring, { authorization: `Bearer ${token}` })
  return {
    target,
    workspace,
    me: bearer(target.token),
    anonymous: new Client(wiring, {}),
    other() {
      if (!target.other) throw new Skip('It needs a second user: give --other-token.')
      return bearer(target.other.token)
    },
    withPassword() {
      if (target.password === undefined) throw new Skip('It needs the password of the user: give --password.')
      return new Client(wiring, basic(target.login, target.password))
    },
  }
}
