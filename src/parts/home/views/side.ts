import { subjectState } from '#hosting/issues/views/conversation.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { FoundIssue } from '#hosting/search/issues.ts'
import { nameOf, type Overview } from '#parts/home/overview.ts'
import { addressesOf, titleOf } from '#parts/notifications/json.ts'
import type { Thread } from '#parts/notifications/threads.ts'
import { avatar } from '#web/components/avatar.ts'
import { buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { counter, stateIcon } from '#web/components/label.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

/** What waits for the visitor: repositories, unread threads, pull requests. */
export function side(overview: Overview, find: string, programs: Html): Html {
  const { unread, reviews, pulls } = overview
  return html`<aside aria-label="Yours" id="home-side">${repositories(overview, find)}
${section('Unread', '/notifications', unread.total, unread.rows.map(threadItem), 'Nothing unread. Well done.')}
${section('Review requests', '/pulls?tab=review-requested', reviews.total, reviews.rows.map(pullItem), 'Nobody waits for your review.')}
${section('Your pull requests', '/pulls', pulls.total, pulls.rows.map(pullItem), 'You have no open pull requests.')}
${programs}</aside>`
}

function section(title: string, all: string, total: number, items: Html[], nothing: string): Html {
  const count = total > 0 && counter(Number.isFinite(total) ? total : '1000+')
  const list = items.length ? html`<ul class="plain side-list">${items}</ul>` : html`<p class="muted">${nothing}</p>`
  const more = total > items.length && html`<p class="side-more"><a href="${all}">Show all</a></p>`
  return html`<section><h2><a href="${all}">${title}</a> ${count}</h2>${list}${more}</section>`
}

/** The script of the page finds while one types; without it, the form finds. */
function repositories({ repositories: { rows, total } }: Overview, find: string): Html {
  const items = rows.map(
    (repo) =>
      html`<li data-name="${nameOf(repo).toLowerCase()}"><a href="${pathOf(repo)}">${avatar({ id: repo.owner_id, type: repo.owner_type }, 16)} <span>${repo.owner_login}/<strong>${repo.name}</strong></span>${repo.private && icon('lock', { label: 'Private' })}</a></li>`,
  )
  const nothing = find ? 'None of your repositories has such a name.' : 'You have no repositories yet.'
  return html`<section><div class="side-head"><h2>Your repositories</h2>${buttonLink('New', '/new', { icon: 'repo', kind: 'primary', size: 'small' })}</div>
${(rows.length > 0 || find) && html`<form method="get" action="/" role="search" class="quick-find"><input type="search" name="find" value="${find}" placeholder="Find a repository" aria-label="Find one of your repositories" maxlength="140" autocomplete="off" spellcheck="false"></form>`}
${items.length ? html`<ul class="plain side-list repository-finder">${items}</ul>` : html`<p class="muted">${nothing}</p>`}${total > rows.length && html`<p class="side-more muted">${rows.length} of ${total}. Find the others by name.</p>`}</section>`
}

const icons: Record<Thread['type'], string> = {
  Issue: 'issue-opened',
  PullRequest: 'git-pull-request',
  Commit: 'git-commit',
  Release: 'tag',
  RepositoryInvitation: 'mail',
  RepositoryImport: 'repo-push',
  RepositoryTransfer: 'arrow-switch',
  Webhook: 'webhook',
}

function threadItem(thread: Thread): Html {
  const name = nameOf(thread.repo)
  const { html_url } = addressesOf(thread, { api: '', web: '' }, name)
  const mark = thread.state
    ? stateIcon(thread.state, thread.type === 'PullRequest' ? 'pull' : 'issue')
    : html`<span class="state-icon">${icon(icons[thread.type])}</span>`
  return html`<li class="side-item">${mark}<div><a class="side-title" href="${html_url}"><bdi>${titleOf(thread, name)}</bdi></a><p class="muted">${name}${thread.number && ` #${thread.number}`} · ${moment(thread.updated_at)}</p></div></li>`
}

function pullItem({ issue, repo }: FoundIssue): Html {
  return html`<li class="side-item">${stateIcon(subjectState(issue), 'pull')}<div><a class="side-title" href="${pathOf(repo)}/pull/${issue.number}"><bdi>${issue.title}</bdi></a><p class="muted">${nameOf(repo)} #${issue.number} · ${moment(issue.updated_at)}</p></div></li>`
}
