import { type Exchange, Mismatch, Skip } from './answer.ts'
import type { Check, Context } from './check.ts'
import { basic, Client } from './client.ts'
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
  signal: AbortSignal
  onResult(result: Result): void
}

export interface Run {
  results: Result[]
  /** What was made and could not be deleted. */
  left: string[]
}

/** Runs all checks against a server, and deletes what they made, also when it is interrupted. */
export async function runChecks(checks: Check[], target: Target, receiver: Receiver | string, options: RunOptions): Promise<Run> {
  const workspace = new Workspace(target, receiver, options.signal)
  const results = new Map<Check, Result>()
  const run = async (check: Check) => {
    const result = await runCheck(check, target, workspace, options)
    results.set(check, result)
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
  return { results: checks.flatMap((check) => results.get(check) ?? []), left }
}

async function runCheck(check: Check, target: Target, workspace: Workspace, { patience, signal }: RunOptions): Promise<Result> {
  const { id, part, operation, proves } = check
  const started = performance.now()
  const finish = (rest: Pick<Result, 'outcome' | 'reason' | 'failure'>): Result => {
    const milliseconds = Math.round(performance.now() - started)
    return { id, part, operation, proves, variant: target.variant, ...rest, milliseconds }
  }
  if (check.variant && check.variant !== target.variant)
    return finish({ outcome: 'skipped', reason: `It is about the ${check.variant} variant.` })
  const over = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const late = () => {
    over.abort()
    reject(new Mismatch(`an end within ${patience / 1000} s`, 'none'))
  }
  const timer = setTimeout(late, patience)
  try {
    await Promise.race([check.run(contextOf(target, workspace, AbortSignal.any([signal, over.signal]))), promise])
    return finish({ outcome: 'passed' })
  } catch (error) {
    if (error instanceof Skip) return finish({ outcome: 'skipped', reason: error.message })
    if (signal.aborted) return finish({ outcome: 'skipped', reason: 'It was interrupted.' })
    // A response of another kind than the check reads, such as an array of texts, is a fault of the server too.
    const { expected, got, exchange } =
      error instanceof Mismatch ? error : new Mismatch('a response that can be read', `${error}`)
    return finish({ outcome: 'failed', failure: { expected, got, ...(exchange && { exchange }) } })
  } finally {
    clearTimeout(timer)
  }
}

function contextOf(target: Target, workspace: Workspace, signal: AbortSignal): Context {
  const wiring = { base: target.base, timeout: target.timeout, signal }
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
