import type { ConformanceRecord } from '#parts/documentation/conformance.ts'
import { copyLine } from '#web/components/copy.ts'
import { badge } from '#web/components/label.ts'
import { table } from '#web/components/table.ts'
import { dayText } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

const variants = ['self-hosted', 'versioned'] as const

/** The checks, and how this version did. */
export function conformanceBody({ belfry, date, checks }: ConformanceRecord, address: string): Html {
  const operations = new Set(checks.map(({ operation }) => operation)).size
  const parts = Map.groupBy(checks, ({ part }) => part)
  return html`<h1>Conformance</h1>
<p>${checks.length} checks of ${operations} operations compare a server with the specification of the API, over HTTP. Each is one statement of it. To check this server, or another one that speaks the API, run:</p>
${copyLine(`npx belfry conformance ${address} --token TOKEN`, 'Command that checks this server')}
<p>Belfry ${belfry} was checked on <time datetime="${date}">${dayText(new Date(date))}</time>:</p>
<div class="conformance-results">${table(
    ['API', 'Passed', 'Failed', 'Skipped'],
    variants.map((variant) => {
      const count = (outcome: string) => checks.filter(({ outcomes }) => outcomes[variant] === outcome).length
      return [variant, count('passed'), count('failed'), count('skipped')]
    }),
    { label: 'Result of the recorded run' },
  )}</div>
<p>A check is skipped if its statement is about the other API only, or if it takes ten minutes and the run did without it.</p>
${[...parts].map(
  ([part, some]) => html`<h2>${part}</h2>
<ul class="conformance-checks">${some.map(checkItem)}</ul>`,
)}`
}

function checkItem({ id, operation, proves, outcomes }: ConformanceRecord['checks'][number]): Html {
  // A row of a table in the specification has bars between its cells.
  const statement = proves.map((sentence) => sentence.replaceAll(' | ', ' · ')).join(' / ')
  return html`<li class="conformance-check"><span class="conformance-outcome">${outcomeBadges(outcomes)}</span><div>${statement}<div class="muted"><code>${operation}</code> <code>${id}</code></div></div></li>`
}

const tones = { passed: 'success', failed: 'danger', skipped: 'default' } as const
type Outcomes = ConformanceRecord['checks'][number]['outcomes']

/** One badge if both APIs did the same, otherwise one for each API that the statement is about. */
function outcomeBadges(outcomes: Outcomes) {
  const run = variants.flatMap((variant) => {
    const outcome = outcomes[variant]
    return outcome && outcome !== 'skipped' ? { variant, outcome } : []
  })
  const [first] = run
  if (!first) return html`<span class="muted">not run</span>`
  if (run.length === variants.length && run.every(({ outcome }) => outcome === first.outcome))
    return badge(first.outcome, tones[first.outcome])
  return run.map(({ variant, outcome }) => html`${badge(outcome, tones[outcome])} <span class="muted">${variant}</span>`)
}
