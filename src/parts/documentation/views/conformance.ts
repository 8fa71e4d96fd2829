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
${table(
  ['API', 'Passed', 'Failed', 'Skipped'],
  variants.map((variant) => {
    const count = (outcome: string) => checks.filter(({ outcomes }) => outcomes[variant] === outcome).length
    return [variant, count('passed'), count('failed'), count('skipped')]
  }),
  { label: 'Result of the recorded run' },
)}
<p>A check is skipped if its statement is about the other API only.</p>
${[...parts].map(
  ([part, some]) =>
    html`<h2>${part}</h2>${table(
      ['Check', 'Statement', 'Self-hosted', 'Versioned'],
      some.map(({ id, operation, proves, outcomes }) => [
        html`<code>${id}</code><br><code class="muted">${operation}</code>`,
        proves.join(' / '),
        ...variants.map((variant) => outcomeBadge(outcomes[variant])),
      ]),
      { label: `Checks: ${part}` },
    )}`,
)}`
}

const tones = { passed: 'success', failed: 'danger', skipped: 'default' } as const

const outcomeBadge = (outcome: keyof typeof tones | undefined) =>
  outcome ? badge(outcome, tones[outcome]) : html`<span class="muted">not run</span>`
