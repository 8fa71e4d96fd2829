import { byOperation, describeSummary, type OperationRow, type Report, skipReasons } from '#conformance/report.ts'
import type { Result } from '#conformance/run.ts'
import { type Html, html } from '#web/html.ts'
import { describeExchange } from './conformance-report.ts'

/** The report as one file: no script, nothing loaded from elsewhere, light and dark. */
export function reportPage(report: Report): string {
  const { servers, results, left } = report
  const title = describeTitle(report)
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${title} · Conformance</title><style>${styles}</style></head>
<body><main><h1>${title}</h1>
<p>${describeSummary(report).join(' ')} <time datetime="${report.date}">${report.date.slice(0, 16).replace('T', ' ')} UTC</time>, Belfry ${report.belfry}.</p>
<ul>${servers.map(({ url, variant, login }) => html`<li><code>${url}</code> (${variant}) as ${login}</li>`)}</ul>
${left.length > 0 && html`<h2>Not deleted</h2><ul>${left.map((what) => html`<li>${what}</li>`)}</ul>`}
<h2>Operations</h2>${operationTable(report)}
${failures(results)}
${skippedList(results)}
<h2>Checks</h2>${checkTables(results)}
</main></body></html>
`.text
}

function describeTitle({ summary }: Report) {
  if (summary.failed > 0) return `${summary.failed} ${summary.failed === 1 ? 'check' : 'checks'} failed`
  return summary.passed === 0 ? 'No check could be made' : 'No check failed'
}

/** Open from the start if there are few. */
function failures(results: Result[]): Html | undefined {
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  if (failed.length === 0) return undefined
  const open = failed.length <= 20 && html` open`
  const parts = [...Map.groupBy(failed, ({ part }) => part)]
  return html`<h2>Failures</h2>${parts.map(([part, some]) => html`<details${open}><summary>${part} (${some.length})</summary>${some.map(failureSection)}</details>`)}`
}

function skippedList(results: Result[]): Html | undefined {
  const reasons = skipReasons(results)
  return reasons.length === 0
    ? undefined
    : html`<h2>Skipped</h2><ul>${reasons.map(({ reason, count }) => html`<li>${count}: ${reason}</li>`)}</ul>`
}

function failureSection({ id, variant, operation, proves, failure }: Result): Html {
  return html`<section><h3><code>${id}</code></h3><p>${operation} (${variant})</p>
<dl><dt>The specification</dt>${proves.map((sentence) => html`<dd>${sentence}</dd>`)}<dt>Expected</dt><dd>${failure?.expected}</dd><dt>Got</dt><dd>${failure?.got}</dd></dl>
${failure?.exchange && html`<pre tabindex="0" aria-label="Request and response">${describeExchange(failure.exchange).join('\n')}</pre>`}</section>`
}

function operationTable({ results }: Report): Html {
  const row = ({ operation, counts }: OperationRow) =>
    html`<tr><th scope="row"><code>${breakable(operation)}</code></th><td class="number">${counts.passed}</td><td class="number${counts.failed > 0 && ' failed'}">${counts.failed}</td><td class="number">${counts.skipped}</td></tr>`
  const bodies = [...Map.groupBy(byOperation(results), ({ part }) => part)].map(
    ([part, rows]) => html`<tbody><tr><th colspan="4" scope="rowgroup">${part}</th></tr>${rows.map(row)}</tbody>`,
  )
  return html`<table><thead><tr><th scope="col">Operation</th><th scope="col" class="number">Passed</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Skipped</th></tr></thead>${bodies}</table>`
}

/** Narrow screens break a path at its slashes. */
const breakable = (path: string) => path.split(/(?<=\/)/).map((piece) => html`${piece}<wbr>`)

function checkTables(results: Result[]): Html[] {
  return [...Map.groupBy(results, ({ part }) => part)].map(([part, some]) => {
    const rows = some.map(
      ({ id, variant, outcome, reason, proves }) =>
        html`<tr><th scope="row"><code>${id}</code></th><td>${variant}</td><td class="${outcome}">${outcome}</td><td>${reason ?? proves.join(' / ')}</td></tr>`,
    )
    return html`<details><summary>${part} (${some.length})</summary><div class="wide" role="region" aria-label="${part}" tabindex="0"><table><thead><tr><th scope="col">Check</th><th scope="col">Variant</th><th scope="col">Result</th><th scope="col">What it proves, or why it was skipped</th></tr></thead><tbody>${rows}</tbody></table></div></details>`
  })
}

const styles = `:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--muted:#59636e;--line:#d1d9e0;--good:#1a7f37;--bad:#cf222e}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#f0f6fc;--muted:#9198a1;--line:#3d444d;--good:#3fb950;--bad:#f85149}}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:24px 16px 64px}
code,pre{font:13px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}
pre{padding:12px;overflow:auto;border:1px solid var(--line);border-radius:6px;white-space:pre-wrap}
.wide{overflow-x:auto}
@media (max-width:40rem){.wide thead{display:none}.wide tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}.wide :is(th,td){display:inline;border:0}.wide td:last-child{display:block;overflow-wrap:anywhere}}
@media (min-width:40rem){.wide code{white-space:nowrap}}
table{border-collapse:collapse;width:100%}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);font-weight:400}
thead th,dt{color:var(--muted);font-size:13px;font-weight:600}
[scope=rowgroup],h3 code{padding-top:16px;font-weight:600}
.number{padding:4px 0 4px 12px;text-align:right;font-variant-numeric:tabular-nums}
.passed{color:var(--good)}.failed{color:var(--bad);font-weight:600}.skipped{color:var(--muted)}
p,li,dd{overflow-wrap:anywhere}dd{margin:0 0 8px}summary{padding:8px 0;cursor:pointer;font-weight:600}
:focus-visible{outline:2px solid var(--text);outline-offset:2px}`
