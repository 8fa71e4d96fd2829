import type { Outcome, Result } from './run.ts'
import type { VariantName } from './target.ts'

/** The report of a run, as `--json` prints it. */
export interface Report {
  /** The version of the checks. */
  belfry: string
  date: string
  /** How long the run took. */
  milliseconds: number
  /** `web` is the web root, where the OAuth pages are. */
  servers: { url: string; web: string; variant: VariantName; login: string }[]
  interrupted: boolean
  /** Whether checks were skipped because the run took its limit. */
  overdue: boolean
  summary: Record<Outcome, number>
  results: Result[]
  /** What the run made and could not delete. */
  left: string[]
}

export function countOutcomes(results: Result[]): Record<Outcome, number> {
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}

/** A run is green only if it proves something: skipped checks prove nothing. */
export const isGood = ({ summary, left, interrupted, overdue }: Report) =>
  summary.failed === 0 && summary.passed > 0 && left.length === 0 && !interrupted && !overdue

/** What all reports say first or last. */
export function describeSummary({ results, summary, milliseconds, interrupted, overdue }: Report): string[] {
  const seconds = Math.round(milliseconds / 1000)
  const time = seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return [
    ...(interrupted ? ['Interrupted: not all checks were made.'] : []),
    ...(overdue ? ['The run took its limit: not all checks were made.'] : []),
    ...(summary.passed + summary.failed === 0 ? ['No check could be made.'] : []),
    `${results.length} ${results.length === 1 ? 'check' : 'checks'} in ${time}: ${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped.`,
  ]
}

export interface OperationRow {
  part: string
  operation: string
  counts: Record<Outcome, number>
}

/** A row for each operation of each part, in the order of the checks. */
export function byOperation(results: Result[]): OperationRow[] {
  const rows = Map.groupBy(results, ({ part, operation }) => `${part}\n${operation}`)
  return [...rows.values()].map((some) => ({
    part: some[0]?.part ?? '',
    operation: some[0]?.operation ?? '',
    counts: countOutcomes(some),
  }))
}

/** How many checks were skipped for each reason, the most frequent first. */
export function skipReasons(results: Result[]): { reason: string; count: number }[] {
  const skipped = results.filter(({ outcome }) => outcome === 'skipped')
  return [...Map.groupBy(skipped, ({ reason }) => reason ?? '')]
    .map(([reason, some]) => ({ reason, count: some.length }))
    .sort((one, other) => other.count - one.count)
}
