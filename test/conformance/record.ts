import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from '#conformance/report.ts'
import type { ConformanceRecord } from '#parts/documentation/conformance.ts'

const file = join(import.meta.dirname, '..', '..', 'docs', 'conformance.json')

/** What the page of the documentation shows of a run: each check once, with its outcome on each variant. */
function recordOf({ belfry, date, results }: Report): ConformanceRecord {
  const checks = [...Map.groupBy(results, ({ id }) => id).values()].map(([first, ...others]) => {
    const { id, part, operation, proves } = first as (typeof results)[number]
    const outcomes = Object.fromEntries([first, ...others].map((result) => [result?.variant, result?.outcome]))
    return { id, part, operation, proves, outcomes }
  })
  return { belfry, date, checks }
}

export const readRecord = (): ConformanceRecord => JSON.parse(readFileSync(file, 'utf8'))

/** A check is a line, so that a run changes few lines of the file. */
export function writeRecord(report: Report) {
  const { belfry, date, checks } = recordOf(report)
  const lines = checks.map((check) => `    ${JSON.stringify(check)}`).join(',\n')
  writeFileSync(file, `{\n  "belfry": "${belfry}",\n  "date": "${date}",\n  "checks": [\n${lines}\n  ]\n}\n`)
}
