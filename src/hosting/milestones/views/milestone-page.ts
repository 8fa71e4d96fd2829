import { type Issue, listIssues } from '#hosting/issues/issues.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import { issueRow } from '#hosting/issues/views/issue-row.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import type { Milestone } from '#hosting/milestones/milestones.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { segments } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type Visit } from '#web/page.ts'
import { dueText, milestoneTools } from './milestone-row.ts'
import { percentDone, progressBar } from './progress.ts'

const perPage = 30
const anything = { labels: '', since: '', sort: 'created', direction: 'desc', creator: '', assignee: '' } as const

/** A milestone with its issues and pull requests. */
export async function milestonePage(visit: Visit, repo: Repository, milestone: Milestone): Promise<Outcome> {
  const path = `${pathOf(repo)}/milestone/${milestone.number}`
  const state = visit.query.has('closed') ? 'closed' : 'open'
  const page = pageIn(visit.query)
  const filter = { ...anything, state, milestone: String(milestone.number) } as const
  const { rows, total } = await listIssues(visit.db, repo, filter, { limit: perPage, offset: (page - 1) * perPage })
  const [text] = await renderTexts(visit, repo, [milestone.description])
  const may = visit.visitor !== null && mayPush(repo) && !repo.archived
  const header = segments('State', [
    { text: 'Open', href: path, current: state === 'open', count: milestone.open_issues },
    { text: 'Closed', href: `${path}?closed`, current: state === 'closed', count: milestone.closed_issues },
  ])
  const body = html`<main class="issue-lists">${banner(visit.flash.done)}${may && visit.query.has('delete') && question(visit, milestone, path)}
<div class="title-bar"><h1><bdi>${milestone.title}</bdi></h1>${may && milestoneTools(visit, repo, milestone)}</div>
<div class="milestone-facts"><p class="muted">${milestone.state === 'closed' && badge('Closed', 'done')} ${dueText(visit, milestone)} · <strong>${percentDone(milestone)}%</strong> complete</p>${progressBar(milestone)}</div>
${milestone.description && text && markdownBody(text)}${listOf(repo, rows, header, state)}${pager(path, state === 'closed' ? { closed: '' } : {}, page, Math.ceil(total / perPage))}</main>`
  return {
    title: `${milestone.title} · Milestone · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'issues'),
  }
}

function listOf(repo: Repository, rows: Issue[], header: Html, state: string): Html {
  if (rows.length)
    return box(
      rows.map((issue) => issueRow(issue, repo)),
      { header, label: 'Issues', kind: 'issue-list' },
    )
  return html`${box([], { header, kind: 'issue-list none' })}${emptyState('milestone', `Nothing ${state} is in this milestone`, 'Add issues and pull requests on their pages, beside the conversation.')}`
}

function question(visit: Visit, { title }: Milestone, path: string): Html {
  const inputs = html`<p>Delete the milestone <strong>${title}</strong>? Its issues and pull requests remain.</p><div class="buttons">${button('Delete milestone', { kind: 'danger' })}${buttonLink('Cancel', path)}</div>`
  return html`<section class="card" aria-label="Delete">${form(visit, `${path}/delete`, inputs)}</section>`
}
