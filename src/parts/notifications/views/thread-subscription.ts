import type { FastifyRequest } from 'fastify'
import type { Issue } from '#hosting/issues/issues.ts'
import { markSubjectRead } from '#parts/notifications/inbox-actions.ts'
import { rulesInWords } from '#parts/notifications/reasons.ts'
import { findIssueSubscription, setIssueSubscription } from '#parts/notifications/thread-subscription.ts'
import { type Sql, sql } from '#platform/database.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, type Visit } from '#web/page.ts'

/**
 * Whoever is shown a page has read it: their notification of it is marked, however they came. It is done by the page itself and not by a
 * link that marks, so that it also holds for who comes by mail or by an address they kept, and without scripts. A GET may do so because
 * it only notes that the page was shown; so it is not done where the page is fetched and not shown: by HEAD, ahead of time, or by a script.
 * It is done before the page is read, so that what is said at the same moment stays unread.
 */
export async function markShown({ db, visitor, request }: Visit, subject: Sql) {
  if (visitor && isShown(request)) await markSubjectRead(db, visitor, subject)
}

function isShown({ method, headers }: FastifyRequest) {
  const ahead = [headers['sec-purpose'], headers.purpose, headers['x-moz']].some((value) => String(value).includes('prefetch'))
  return method === 'GET' && !ahead && (headers['sec-fetch-dest'] ?? 'document') === 'document'
}

export const markConversationShown = (visit: Visit, repo: { id: number }, number: number) =>
  markShown(visit, sql`s.issue_id = (select i.id from issues i where i.repo_id = ${repo.id} and i.number = ${number})`)

/** Whether the visitor hears of a conversation, why, and the way to change it. */
export async function subscriptionBox(visit: Visit, { issue, path }: { issue: Issue; path: string }): Promise<Html | undefined> {
  if (!visit.visitor) return undefined
  const { subscribed, reason, repository_ignored } = await findIssueSubscription(visit.db, visit.visitor, issue)
  if (repository_ignored) return box(html`<p>You ignore this repository, and hear nothing of it.</p>`)
  const button = subscribed
    ? html`<button name="hears" value="no">Unsubscribe</button>`
    : html`<button name="hears" value="yes">Subscribe</button>`
  const why = subscribed
    ? html`<p>You are receiving notifications because ${begun(rulesInWords[reason ?? 'manual'])}</p>`
    : html`<p>You are told of this only when you are mentioned.</p>`
  return box(html`${form(visit, `${path}/subscription`, button, { class: 'subscription' })}${why}`)
}

const box = (body: Html) =>
  html`<section aria-labelledby="hearing"><h2 class="small" id="hearing">Notifications</h2>${body}</section>`

const begun = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)

export async function changeSubscription(visit: SignedIn, issue: Issue, path: string): Promise<Outcome> {
  const subscribed = visit.form.get('hears') === 'yes'
  const type = issue.pull_id === null ? 'Issue' : 'PullRequest'
  await visit.db.transaction((db) => setIssueSubscription(db, visit.visitor, issue, type, subscribed))
  return { to: path }
}
