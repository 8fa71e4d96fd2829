import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { checkSign, describeChecks } from './checks.ts'
import { type PullPage, pullPage } from './pull-page.ts'

/** The checks of the last commit, with what the runs report. */
export async function checksPage(visit: Visit, page: PullPage): Promise<Outcome> {
  const { checks, repo, pull } = page
  const described = describeChecks(checks)
  if (!described) {
    const text = 'Programs report the results of tests here, by check runs or commit statuses.'
    return pullPage(visit, page, 'Checks', emptyState('checklist', 'There are no checks for the last commit', text))
  }
  const texts = await renderTexts(
    visit,
    repo,
    checks.map(({ run }) => run?.output_summary ?? ''),
  )
  const rows = checks.map(({ name, result, description, href, required, run }, index) => {
    const summary = texts[index]
    return html`<div class="check-row" tabindex="-1"${run && html` id="run-${run.id}"`}>${checkSign(result)}<div><h3>${name}${required && html` ${badge('Required')}`}</h3>
<p class="muted">${description}${run?.app && html` · ${run.app.name}`}${run?.completed_at && html` · ${moment(run.completed_at)}`}${href && html` · <a href="${href}" rel="nofollow noreferrer">Details</a>`}</p>
${run?.output_summary && summary && markdownBody(summary)}</div></div>`
  })
  const header = html`<h2>${described.title}</h2><span class="muted">${described.text} · <code>${pull.head_sha.slice(0, 7)}</code></span>`
  return pullPage(visit, page, 'Checks', box(rows, { header, label: 'Checks', kind: 'checks' }))
}
