import { byOperation, type Report } from '#conformance/report.ts'
import type { Result } from '#conformance/run.ts'
import { type Html, html } from '#web/html.ts'
import { describeExchange } from './conformance-report.ts'

/** The report as one file: no script, nothing loaded from elsewhere, light and dark. */
export function reportPage(report: Report): string {
  const { summary, servers, results, left } = report
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  const title = summary.failed === 0 ? 'No check failed' : `${summary.failed} checks failed`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${title} · Conformance</title><style>${styles}</style></head>
<body><main><h1>${title}</h1>
<p>${results.length} checks: ${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped. <time datetime="${report.date}">${report.date.slice(0, 16).replace('T', ' ')} UTC</time>, Belfry ${report.belfry}.${report.interrupted && ' The run was interrupted.'}</p>
<ul>${servers.map(({ url, variant, login }) => html`<li><code>${url}</code> (${variant}) as ${login}</li>`)}</ul>
${left.length > 0 && html`<h2>Not deleted</h2><ul>${left.map((what) => html`<li>${what}</li>`)}</ul>`}
${failed.length > 0 && html`<h2>Failures</h2>${failed.map(failureSection)}`}
<h2>Operations</h2>${operationTable(report)}
<h2>Checks</h2>${checkTables(results)}
</main></body></html>
`.text
}

function failureSection({ id, variant, operation, proves, failure }: Result): Html {
  return html`<section><h3><code>${id}</code> <span class="failed">failed</span></h3><p>${operation} (${variant})</p>
<dl><dt>The specification</dt>${proves.map((sentence) => html`<dd>${sentence}</dd>`)}<dt>Expected</dt><dd>${failure?.expected}</dd><dt>Got</dt><dd>${failure?.got}</dd></dl>
${failure?.exchange && html`<pre tabindex="0" aria-label="Request and response">${describeExchange(failure.exchange).join('\n')}</pre>`}</section>`
}

function operationTable({ results }: Report): Html {
  const rows = byOperation(results).map(
    ({ part, operation, counts }) =>
      html`<tr><td>${part}</td><th scope="row"><code>${operation}</code></th><td class="number">${counts.passed}</td><td class="number${counts.failed > 0 && ' failed'}">${counts.failed}</td><td class="number">${counts.skipped}</td></tr>`,
  )
  return html`<div class="wide" role="region" aria-label="Results by operation" tabindex="0"><table><thead><tr><th scope="col">Part</th><th scope="col">Operation</th><th scope="col">Passed</th><th scope="col">Failed</th><th scope="col">Skipped</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

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
table{border-collapse:collapse;width:100%}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);font-weight:400}
thead th,dt{color:var(--muted);font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums}
.passed{color:var(--good)}.failed{color:var(--bad);font-weight:600}.skipped{color:var(--muted)}
dd{margin:0 0 8px}summary{padding:8px 0;cursor:pointer;font-weight:600}
:focus-visible{outline:2px solid var(--text);outline-offset:2px}`
