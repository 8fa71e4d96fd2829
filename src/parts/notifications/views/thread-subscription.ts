import type { FastifyRequest } from 'fastify'
import type { Issue } from '#hosting/issues/issues.ts'
import { markSubjectRead } from '#parts/notifications/inbox-actions.ts'
import { rulesInWords } from '#parts/notifications/reasons.ts'
import { findIssueSubscription, setIssueSubscription } from '#parts/notifications/thread-subscription.ts'
import { type Sql, sql } from '#platform/database.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, shownHeader, type Visit } from '#web/page.ts'

/**
 * Showing a page marks its notification as read, so that this also works for visitors from a mail or a bookmark, and without scripts. A
 * page that is fetched but not shown (HEAD, prefetch, scripts) marks nothing. The mark comes before the page is read, so that an update at
 * the same time stays unread.
 */
export async function markShown({ db, visitor, request }: Visit, subject: Sql) {
  if (visitor && isShown(request)) await markSubjectRead(db, visitor, subject)
}

function isShown({ method, headers }: FastifyRequest) {
  const prefetched = [headers['sec-purpose'], headers.purpose, headers['x-moz']].some((value) =>
    String(value).includes('prefetch'),
  )
  const shown = (headers['sec-fetch-dest'] ?? 'document') === 'document' || shownHeader in headers
  return method === 'GET' && !prefetched && shown
}

export const markConversationShown = (visit: Visit, repo: { id: number }, number: number) =>
  markShown(visit, sql`s.issue_id = (select i.id from issues i where i.repo_id = ${repo.id} and i.number = ${number})`)

/** Shows whether and why the visitor is subscribed to a conversation, with a button to change it. */
export async function subscriptionBox(visit: Visit, { issue, path }: { issue: Issue; path: string }): Promise<Html | undefined> {
  if (!visit.visitor) return undefined
  const { subscribed, reason, repository_ignored } = await findIssueSubscription(visit.db, visit.visitor, issue)
  if (repository_ignored) return box(html`<p>You ignore this repository, so you get no notifications.</p>`)
  const button = subscribed
    ? html`<button name="subscribe" value="no">Unsubscribe</button>`
    : html`<button name="subscribe" value="yes">Subscribe</button>`
  const why = subscribed
    ? html`<p>You are receiving notifications because ${begun(rulesInWords[reason ?? 'manual'])}</p>`
    : html`<p>You are notified only when you are mentioned.</p>`
  return box(html`${form(visit, `${path}/subscription`, button, { class: 'subscription' })}${why}`)
}

const box = (body: Html) =>
  html`<section aria-labelledby="subscription"><h2 class="small" id="subscription">Notifications</h2>${body}</section>`

const begun = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)

export async function changeSubscription(visit: SignedIn, issue: Issue, path: string): Promise<Outcome> {
  const subscribed = visit.form.get('subscribe') === 'yes'
  const type = issue.pull_id === null ? 'Issue' : 'PullRequest'
  await visit.db.transaction((db) => setIssueSubscription(db, visit.visitor, issue, type, subscribed))
  return { to: path }
}
