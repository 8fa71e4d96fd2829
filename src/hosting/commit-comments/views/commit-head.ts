import type { CommitObject } from '#git/objects.ts'
import type { CheckSummary } from '#hosting/checks/summaries.ts'
import { authorLink, checkState, isOwn, splitMessage } from '#hosting/commits/views/history.ts'
import type { Authors } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { buttonLink } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { icon } from '#web/components/icon.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

/** A commit's message, who wrote and committed it, and the commits before it. */
export function commitHead(repo: Repository, commit: CommitObject, { author, committer }: Authors, checks?: CheckSummary): Html {
  const { sha, message, parents } = commit
  const { title, text } = splitMessage(message)
  const path = pathOf(repo)
  const who = isOwn(commit, { author, committer })
    ? html`<span>${authorLink(commit.author, author)} committed ${moment(commit.committer.date)}</span>`
    : html`<span>${authorLink(commit.author, author)} wrote this ${moment(commit.author.date)}</span><span>${authorLink(commit.committer, committer)} committed it ${moment(commit.committer.date)}</span>`
  const links = parents.map(
    (parent, index) =>
      html`${index > 0 && ' + '}<a href="${path}/commit/${parent}" title="${parent}"><code>${parent.slice(0, 7)}</code></a>`,
  )
  const before =
    parents.length === 0
      ? html`<span class="muted">The first commit</span>`
      : html`<span class="ids"><span class="muted">${parents.length > 1 ? html`${icon('git-merge')} ${parents.length} parents` : 'Parent'}</span> <span>${links}</span></span>`
  return html`<div class="commit-head"><div><div class="title-bar"><h1 dir="auto">${title || 'No message'}</h1>${buttonLink('Browse files', `${path}/tree/${sha}`, { icon: 'code' })}</div>
${text && html`<pre class="commit-message" dir="auto">${text}</pre>`}</div>
<div class="commit-head-facts">${who}${checks && checkState(checks)}<span class="space"></span>${before}<span class="ids"><span class="muted">Commit</span> <code title="${sha}">${sha.slice(0, 12)}</code>${copyButton(sha, 'Copy the full id')}</span></div></div>`
}
