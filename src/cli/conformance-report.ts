import type { Exchange } from '#conformance/answer.ts'
import type { Check } from '#conformance/check.ts'
import { byOperation, describeSummary, type Report, skipReasons } from '#conformance/report.ts'
import type { Result } from '#conformance/run.ts'

export function describeChecks(checks: Check[]): string {
  const operations = new Set(checks.map(({ operation }) => operation)).size
  const width = Math.max(...checks.map(({ id }) => id.length)) + 2
  const parts = Map.groupBy(checks, ({ part }) => part)
  const lines = [...parts].flatMap(([part, some]) => [
    '',
    part,
    ...some.map(({ id, operation, proves }) => `  ${id.padEnd(width)}${operation}: ${proves[0]}`),
  ])
  return [`${checks.length} checks of ${operations} operations`, ...lines].join('\n')
}

export function describeReport(report: Report): string {
  const { servers, results, left } = report
  const rows = byOperation(results)
  const width = Math.max(...rows.map(({ operation }) => operation.length), 20) + 4
  const line = (name: string, cells: (string | number)[]) =>
    name.padEnd(width) + cells.map((cell) => `${cell}`.padStart(9)).join('')
  const table = [...Map.groupBy(rows, ({ part }) => part)].flatMap(([part, some]) => [
    line(part, ['passed', 'failed', 'skipped']),
    ...some.map(({ operation, counts }) => line(`  ${operation}`, [counts.passed, counts.failed || '.', counts.skipped || '.'])),
  ])
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  return [
    ...servers.map(({ url, variant, login }) => `${url} (${variant}) as ${login}`),
    '',
    ...table,
    ...failed.flatMap((result) => ['', ...describeFailure(result)]),
    ...describeSkipped(results),
    ...(left.length > 0 ? ['', 'Not deleted:', ...left.map((what) => `  ${what}`)] : []),
    '',
    ...describeSummary(report),
  ].join('\n')
}

function describeFailure({ id, variant, operation, proves, failure }: Result): string[] {
  return [
    `FAILED ${id} (${variant}): ${operation}`,
    `  The specification: ${proves.join(' / ')}`,
    `  Expected: ${failure?.expected}`,
    `  Got:      ${failure?.got}`,
    ...(failure?.exchange ? describeExchange(failure.exchange).map((line) => `  ${line}`) : []),
  ]
}

/** As HTTP writes it: `> ` is what was sent. */
export function describeExchange({ method, url, headers, body, status, response_headers, response_body }: Exchange): string[] {
  const header = (mark: string) => (entry: [string, string]) => `${mark} ${entry[0]}: ${entry[1]}`
  const shown = Object.entries(response_headers).filter(([name]) => reportedHeader.test(name))
  return [
    `> ${method} ${url}`,
    ...Object.entries(headers).map(header('>')),
    ...(body === null ? [] : [`> ${body}`]),
    `< ${status || 'no response'}`,
    ...shown.map(header('<')),
    ...(response_body ? [`< ${response_body.replaceAll(/\s+/g, ' ')}`] : []),
  ]
}

/** Headers of responses that checks are about. */
const reportedHeader =
  /^(content-type|date|etag|last-modified|link|location|retry-after|x-(poll|ratelimit|service|oauth|github).*)$/

function describeSkipped(results: Result[]): string[] {
  const reasons = skipReasons(results)
  return reasons.length === 0 ? [] : ['', 'Skipped:', ...reasons.map(({ reason, count }) => `  ${count}: ${reason}`)]
}
