import { loadCommitComments } from '#hosting/commit-comments/commit-comments.ts'
import { readCommentWindow } from '#hosting/issues/comments/comment-window.ts'
import { loadIssue } from '#hosting/issues/issues.ts'
import { type Post, post, stateMark } from '#hosting/issues/views/conversation.ts'
import { renderAll } from '#hosting/mentions/rendering.ts'
import { loadReleases, type Release } from '#hosting/releases/releases.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { loadReviewComments } from '#hosting/reviews/comments/comments.ts'
import { loadReviews } from '#hosting/reviews/reviews.ts'
import type { Person } from '#identity/accounts.ts'
import { titleOf } from '#parts/notifications/json.ts'
import { listThreadReasons, reasonNameOf, ruleOf, type ThreadReason } from '#parts/notifications/reasons.ts'
import type { Thread } from '#parts/notifications/threads.ts'
import { buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { issueLabel } from '#web/components/label.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'
import { addressOf, type InboxQuery, writeShown } from './inbox-query.ts'
import { threadButtons } from './thread-actions.ts'
import { nameOf, subjectAddress, subjectIcon } from './thread-list.ts'

const mostComments = 5

interface Text {
  post: Post
  body: string | null
}

interface Subject {
  /** The state and the labels, below the title. */
  head?: Html
  texts: Text[]
  /** There are more comments than those shown. */
  more: boolean
}

/** A thread beside the list: its subject, the latest comments, and why the user was notified. */
export async function readingPane(visit: SignedIn, thread: Thread, look: InboxQuery): Promise<Html> {
  const { db, visitor } = visit
  const { repo, number, id } = thread
  const { head, texts, more } = await readSubject(visit, thread)
  const rendered = await renderAll(
    { db, viewer: { viewer_id: visitor.id, sees_private: true }, repo, web: '' },
    texts.map(({ body }) => body),
  )
  const posts = texts.map((text, index) => post(text.post, rendered[index] ?? html``))
  const reasons = await listThreadReasons(db, thread)
  const address = subjectAddress(thread)
  const list = thread.done ? (thread.snoozed_until ? 'snoozed' : 'done') : undefined
  const buttons = html`<input type="hidden" name="id" value="${writeShown(thread)}">${threadButtons(list, `pane-${id}`)}`
  return html`<header><p class="pane-place">${subjectIcon(thread)} <a href="/${nameOf(repo)}">${nameOf(repo)}</a>${number !== null && html` <span class="muted">#${number}</span>`}
<span class="space"></span>${buttonLink('Open', address, { icon: 'link-external', size: 'small' })}<a class="button invisible small" id="close-pane" href="${addressOf(look, { page: look.page })}" aria-label="Close the reading pane" title="Close">${icon('x')}</a></p>
<h2><a href="${address}">${titleOf(thread, nameOf(repo))}</a></h2>${head && html`<p class="pane-state">${head}</p>`}${form(visit, addressOf(look, { page: look.page }), buttons, { class: 'bar' })}</header>
<div class="pane-texts">${posts.slice(0, 1)}${more && html`<p class="more"><a href="${address}">Earlier comments are on the page</a></p>`}${posts.slice(1)}${!posts.length && html`<p>${ruleOf(thread.reason, thread)}</p>`}</div>
<details class="pane-reasons"><summary>Why you are notified</summary><ul>${reasons.slice(0, 10).map((item) => reasonItem(item, thread))}</ul></details>`
}

const reasonItem = ({ actor, act, reason, created_at }: ThreadReason, thread: Thread) =>
  html`<li>${actor ? html`<a href="/${actor.login}">${actor.login}</a>` : 'a deleted user'} ${act.replaceAll('_', ' ')} ${moment(created_at)} <span class="muted">· ${reasonNameOf(reason, thread)}</span></li>`

async function readSubject(visit: SignedIn, thread: Thread): Promise<Subject> {
  const { db } = visit
  const { type, number, release_id, latest_type, latest_id } = thread
  if ((type === 'Issue' || type === 'PullRequest') && number !== null) {
    const repo = await loadRepository(db, viewerOf(visit), thread.repo.owner_login, thread.repo.name)
    const issue = await loadIssue(db, repo, number)
    const { comments, earlier } = await readCommentWindow(db, issue, {}, mostComments)
    const opening = { id: `read-issue-${issue.id}`, author: issue.author, created_at: issue.created_at, did: 'opened this' }
    const texts = comments.map((comment) => ({ post: { ...comment, id: `read-comment-${comment.id}` }, body: comment.body }))
    const review = await readReview(db, latest_type, latest_id)
    return {
      head: html`${stateMark(issue)} ${issue.labels.map((label) => html`${issueLabel(label)} `)}`,
      texts: [{ post: opening, body: issue.body }, ...texts, ...review],
      more: earlier,
    }
  }
  if (release_id !== null) {
    const [release] = await loadReleases(db, [release_id])
    const told = release && {
      post: {
        id: `read-release-${release.id}`,
        author: authorOf(release),
        created_at: release.published_at ?? release.created_at,
        did: 'released this',
      },
      body: release.body,
    }
    return { texts: told ? [told] : [], more: false }
  }
  const comments = latest_type === 'CommitComment' && latest_id !== null ? await loadCommitComments(db, [latest_id]) : []
  return {
    texts: comments.map((comment) => ({ post: { ...comment, id: `read-comment-${comment.id}` }, body: comment.body })),
    more: false,
  }
}

const authorOf = ({ author_id, author_login, author_type, author_site_admin }: Release): Person | null =>
  author_id === 0 ? null : { id: author_id, login: author_login, type: author_type, site_admin: author_site_admin }

/** The latest review or comment on a line, if that is the latest of the conversation. */
async function readReview(db: SignedIn['db'], type: Thread['latest_type'], id: number | null): Promise<Text[]> {
  if (id === null) return []
  if (type === 'PullRequestReview') {
    return (await loadReviews(db, [id])).map((review) => ({
      post: { ...review, id: `read-review-${id}`, created_at: review.submitted_at ?? db.now, did: 'reviewed' },
      body: review.body,
    }))
  }
  if (type !== 'PullRequestReviewComment') return []
  return (await loadReviewComments(db, [id])).map((comment) => ({
    post: { ...comment, id: `read-line-${id}`, did: `commented on ${comment.path}` },
    body: comment.body,
  }))
}
