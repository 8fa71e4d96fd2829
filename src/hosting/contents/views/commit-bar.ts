import type { CommitSummary } from '#git/last-commits.ts'
import type { CheckSummary } from '#hosting/checks/summaries.ts'
import { checkState } from '#hosting/commits/views/history.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Person } from '#identity/accounts.ts'
import { avatar, person } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'

/** The author's account or, without one, the name that the commit has. */
export function authorName({ author }: CommitSummary, account: Person | undefined): Html {
  return account ? person(account) : html`<span class="person">${author.name || 'unknown'}</span>`
}

export const authorPicture = (account: Person | undefined): Html => (account ? avatar(account, 20) : icon('person'))

export const commitAddress = ({ repo }: Pick<CodeLocation, 'repo'>, sha: string) => `${pathOf(repo)}/commit/${sha}`

/** The latest commit of a file or a folder, with a link to all of them. `commits` is their number, if it is known. */
export function commitBar(
  location: CodeLocation,
  latest: CommitSummary | undefined,
  author: Person | undefined,
  commits?: number | undefined,
  checks?: CheckSummary | undefined,
): Html {
  const { path } = location
  const count = commits === undefined ? 'History' : `${commits.toLocaleString('en')} ${commits === 1 ? 'commit' : 'commits'}`
  const history = html`<a class="button invisible small" href="${codeAddress('commits', location, path)}">${icon('history')}<span>${count}</span></a>`
  if (!latest) return html`<div class="commit-bar"><span class="space"></span>${history}</div>`
  const address = commitAddress(location, latest.sha)
  return html`<div class="commit-bar">${authorName(latest, author)}
<a class="latest-title" href="${address}" title="${latest.title}">${latest.title || 'No message'}</a>
${checks && checkState(checks)}<span class="latest-facts muted"><a href="${address}"><code>${latest.sha.slice(0, 7)}</code></a> ${moment(latest.committed_at)}</span>${history}</div>`
}
