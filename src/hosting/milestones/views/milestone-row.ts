import { queryFor } from '#hosting/issues/views/list-query.ts'
import type { Milestone } from '#hosting/milestones/milestones.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { dayText, moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { percentDone, progressBar } from './progress.ts'

/** One milestone of the list. */
export function milestoneRow(visit: Visit, repo: Repository, milestone: Milestone, text: Html | undefined, may: boolean): Html {
  const path = `${pathOf(repo)}/milestone/${milestone.number}`
  return html`<div class="milestone-row"><div class="milestone-about"><h2 dir="auto"><a href="${path}">${milestone.title}</a></h2><p class="muted">${dueText(visit, milestone)} · Updated ${moment(milestone.updated_at)}</p>
${milestone.description && text && markdownBody(text)}</div>
<div class="milestone-done">${progressBar(milestone)}<p class="muted"><strong>${percentDone(milestone)}%</strong> complete · ${countLinks(repo, milestone)}</p>${may && milestoneTools(visit, repo, milestone)}</div></div>`
}

export function countLinks(repo: Repository, { title, open_issues, closed_issues }: Milestone): Html {
  const open = `${pathOf(repo)}/issues?${queryFor('issues', { milestone: title })}`
  return html`<a href="${open}">${open_issues} open</a> · <span>${closed_issues} closed</span>`
}

/** When it is due, or that it is overdue or closed. */
export function dueText({ db }: Visit, { state, closed_at, due_on }: Milestone): Html {
  if (state === 'closed' && closed_at) return html`Closed ${moment(closed_at)}`
  if (!due_on) return html`No due date`
  const late = due_on.getTime() + 43_200_000 < db.now.getTime()
  return late
    ? html`<span class="overdue">${icon('alert')} Past due by ${dayText(due_on)}</span>`
    : html`${icon('calendar')} Due by ${dayText(due_on)}`
}

/** Edit, close or reopen, delete. Deleting asks first, on the page of the milestone. */
export function milestoneTools(visit: Visit, repo: Repository, { number, state }: Milestone): Html {
  const path = `${pathOf(repo)}/milestone/${number}`
  const next = state === 'open' ? (['closed', 'Close'] as const) : (['open', 'Reopen'] as const)
  return html`<div class="buttons">${buttonLink('Edit', `${path}/edit`, { size: 'small' })}${form(visit, `${path}/state`, button(next[1], { size: 'small', name: 'state', value: next[0] }), { class: 'inline' })}${buttonLink('Delete', `${path}?delete`, { size: 'small', kind: 'danger' })}</div>`
}
