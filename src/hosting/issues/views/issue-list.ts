import { type Issue, listIssues } from '#hosting/issues/issues.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { issueLabel } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { count, nameOf, stateMark } from './conversation.ts'

const perPage = 30

const kinds = { issues: { title: 'Issues', path: 'issues' }, pulls: { title: 'Pull requests', path: 'pull' } } as const
const anything = { labels: '', since: '', sort: 'created', direction: 'desc', creator: '', assignee: '' } as const

/** Issues or pull requests of a repository, open or closed, newest first. */
export async function listPage(visit: Visit, only: keyof typeof kinds): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const state = visit.query.get('state') === 'closed' ? 'closed' : 'open'
  const milestone = /^\d{1,9}$/.exec(visit.query.get('milestone') ?? '')?.[0] ?? ''
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const { rows, total } = await listIssues(visit.db, repo, { ...anything, state, milestone, only }, slice)
  const { title, path } = kinds[only]
  const place = `${pathOf(repo)}/${only}`
  const query = { state, ...(milestone && { milestone }) }
  const list = rows.length
    ? html`<ul class="issues">${rows.map((issue) => row(`${pathOf(repo)}/${path}`, issue))}</ul>`
    : html`<p class="muted">There are no ${state} ${title.toLowerCase()}.</p>`
  const body = html`<main class="conversation"><h1>${title}</h1>
<nav class="views" aria-label="State">${tab(place, { ...query, state: 'open' }, 'Open', state === 'open')} ${tab(place, { ...query, state: 'closed' }, 'Closed', state === 'closed')}
${only === 'issues' && !repo.archived && html`<a class="button" href="${place}/new">New issue</a>`}</nav>
${list}${pager(place, query, page, Math.ceil(total / perPage))}</main>`
  return { title: `${title} · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, only) }
}

const tab = (path: string, query: Record<string, string>, title: string, current: boolean) =>
  html`<a href="${path}?${new URLSearchParams(query).toString()}"${current && html` aria-current="page"`}>${title}</a>`

function row(path: string, issue: Issue): Html {
  return html`<li><a class="title" href="${path}/${issue.number}">${issue.title}</a> ${issue.labels.map((label) => html`${issueLabel(label)} `)}
<p class="muted">${stateMark(issue)} #${issue.number} by ${nameOf(issue.author)} ${moment(issue.created_at)} · ${count(issue.comments_count, 'comment')}</p></li>`
}
