import type { Entry, Stretch } from '#hosting/issues/views/conversation.ts'
import { listPullCommits } from '#hosting/pulls/mergeability.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { Refusal } from '#platform/errors.ts'
import { avatar } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { moment } from '#web/components/time.ts'
import { timelineItem } from '#web/components/timeline-item.ts'
import { html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import type { PullPage } from './pull-page.ts'

/** How many commits a timeline shows: the newest. */
const most = 100

/** The commits of a pull request, for its timeline. Commits that git does not find are left out. */
export async function commitEntries(visit: Visit, { repo, pull }: PullPage, { since, until }: Stretch): Promise<Entry[]> {
  const found = await listPullCommits(visit.belfry.storage, pull, most).catch((error) => {
    if (error instanceof Refusal) return []
    throw error
  })
  const commits = found.toReversed().filter(({ committer: { date } }) => !(since && date < since) && !(until && date >= until))
  const authors = await findAllAuthors(visit.db, commits)
  return commits.map(({ sha, message, author, committer }, index) => {
    const account = authors[index]?.author
    const [title = ''] = message.split('\n')
    const who = account
      ? html`<a href="/${account.login}" title="${account.login}">${avatar(account, 20)}<span class="unseen">${account.login}</span></a>`
      : html`<span title="${author.name}">${icon('person', { label: author.name })}</span>`
    const sentence = html`<span class="commit-line">${who} <a class="commit-title" href="${pathOf(repo)}/commit/${sha}" dir="auto">${title || 'No message'}</a> <span class="unseen">${moment(committer.date)}</span><a href="${pathOf(repo)}/commit/${sha}"><code>${sha.slice(0, 7)}</code></a></span>`
    return { at: committer.date, item: timelineItem('git-commit', sentence) }
  })
}
