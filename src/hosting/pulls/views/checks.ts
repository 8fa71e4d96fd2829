import { type CheckRun, listRuns } from '#hosting/checks/runs.ts'
import { findProtection } from '#hosting/protection/protection.ts'
import { readCheckStates } from '#hosting/protection/requirements.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { loadCombinedStatus } from '#hosting/statuses/statuses.ts'
import type { Queryable } from '#platform/database.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { type Html, html } from '#web/html.ts'

export type CheckResult = 'success' | 'failure' | 'pending' | 'neutral' | 'expected'

/** A check run or a status of the last commit of a pull request. */
export interface Check {
  name: string
  result: CheckResult
  description: string
  href: string | undefined
  required: boolean
  run?: CheckRun
}

/** How many runs, and how many statuses, a page shows. */
const most = 100

const results: Record<NonNullable<CheckRun['conclusion']>, CheckResult> = {
  success: 'success',
  neutral: 'neutral',
  skipped: 'neutral',
  failure: 'failure',
  cancelled: 'failure',
  timed_out: 'failure',
  action_required: 'failure',
}

/** The checks of the last commit, failures first, and those that the base requires and nobody reported yet. */
export async function readChecks(db: Queryable, repo: Repository, pull: Pull): Promise<Check[]> {
  const slice = { limit: most, offset: 0 }
  const { rows: runs } = await listRuns(db, repo, { sha: pull.head_sha }, { check_name: '', status: '', filter: 'latest' }, slice)
  const { statuses } = await loadCombinedStatus(db, repo, pull.head_sha, slice)
  const protection = pull.state === 'open' ? await findProtection(db, repo, pull.base_ref) : undefined
  const states =
    protection && (await readCheckStates(db, repo, [{ protection_id: protection.id, sha: pull.head_sha }])).get(protection.id)
  const required = new Set(states?.map(({ context }) => context))
  const checks: Check[] = [
    ...runs.map((run) => ({
      name: run.name,
      result: run.conclusion ? results[run.conclusion] : ('pending' as const),
      description: run.output_title ?? wordsOf(run),
      href: linkIn(run.details_url),
      required: required.has(run.name),
      run,
    })),
    ...statuses.map(({ context, state, description, target_url }) => ({
      name: context,
      result: state === 'error' ? ('failure' as const) : state,
      description: description ?? '',
      href: linkIn(target_url),
      required: required.has(context),
    })),
    ...(states ?? []).flatMap(({ context, state }): Check[] =>
      state === 'expected'
        ? [{ name: context, result: 'expected', description: 'Waiting to be reported', href: undefined, required: true }]
        : [],
    ),
  ]
  return checks.toSorted((one, other) => order.indexOf(one.result) - order.indexOf(other.result))
}

const order: CheckResult[] = ['failure', 'expected', 'pending', 'neutral', 'success']

const wordsOf = ({ status, conclusion }: CheckRun) => (conclusion ?? status).replaceAll('_', ' ')

/** Programs report these addresses, so that any text may be in them. */
const linkIn = (address: string | null) => (address && /^https?:\/\//i.test(address) ? address : undefined)

const signs: Record<CheckResult, [name: string, tone: string, text: string]> = {
  success: ['check', 'success', 'Successful'],
  failure: ['x', 'danger', 'Failed'],
  pending: ['dot-fill', 'attention', 'In progress'],
  expected: ['dot-fill', 'attention', 'Expected'],
  neutral: ['skip', 'muted', 'Neutral'],
}

export function checkSign(result: CheckResult): Html {
  const [name, tone, text] = signs[result]
  return html`<span class="check-sign ${tone}">${icon(name, { label: text })}</span>`
}

/** All checks in one word; undefined if there are none. */
export function summaryOf(checks: Check[]): 'success' | 'failure' | 'pending' | undefined {
  if (!checks.length) return undefined
  if (checks.some(({ result }) => result === 'failure')) return 'failure'
  return checks.some(({ result }) => result === 'pending' || result === 'expected') ? 'pending' : 'success'
}

const headings = {
  success: 'All checks have passed',
  failure: 'Some checks were not successful',
  pending: 'Some checks have not finished yet',
}

/** `All checks have passed`, and how many of each result there are. */
export function describeChecks(checks: Check[]): { title: string; text: string } | undefined {
  const summary = summaryOf(checks)
  if (!summary) return undefined
  const counted = order
    .map((result) => [result, checks.filter((check) => check.result === result).length] as const)
    .filter(([, number]) => number)
    .map(([result, number]) => `${number} ${signs[result][2].toLowerCase()}`)
  return { title: headings[summary], text: counted.join(', ') }
}

/** One check in a line. `to` is the page that shows runs in full. */
export function checkLine({ name, result, description, href, required, run }: Check, to: string): Html {
  const address = run ? `${to}#run-${run.id}` : href
  return html`<li>${checkSign(result)} <strong>${name}</strong> <span class="muted">${description}</span><span class="space"></span>${required && badge('Required')}${address && html`<a href="${address}"${!run && html` rel="nofollow noreferrer"`}>Details</a>`}</li>`
}
