import type { Outcome, Result } from './run.ts'
import type { VariantName } from './target.ts'

/** The report of a run, as `--json` prints it. */
export interface Report {
  /** The version of the checks. */
  belfry: string
  date: string
  servers: { url: string; variant: VariantName; login: string }[]
  interrupted: boolean
  summary: Record<Outcome, number>
  results: Result[]
  /** What the run made and could not delete. */
  left: string[]
}

export function countOutcomes(results: Result[]): Record<Outcome, number> {
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
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
