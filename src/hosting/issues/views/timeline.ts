import { type CommentCursor, readCommentWindow } from '#hosting/issues/comments/comment-window.ts'
import type { Comment } from '#hosting/issues/comments/comments.ts'
import { listEventsBetween } from '#hosting/issues/events/events.ts'
import { mayEdit, mayPush } from '#hosting/issues/rights.ts'
import { listCrossReferences } from '#hosting/mentions/cross-references.ts'
import { previewOf } from '#hosting/mentions/views/composer.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { listOwnReactions } from '#hosting/reactions/reactions.ts'
import { pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { timelineItem } from '#web/components/timeline-item.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { addressOf, type Conversation, type Entry, postItem, type Typed, windowIn } from './conversation.ts'
import { eventEntries, referenceEntries } from './event-items.ts'
import { deleteForm, editForm, postMenu, reactionBar, taskAttributes, type Written } from './post-tools.ts'

/** How many comments a page shows: the newest by default. And how many events between them. */
const stretch = 50
const mostEvents = 200

/** The opening text, then comments, events and the entries of the kind in one list, oldest first. */
export async function timeline(visit: Visit, conversation: Conversation, typed?: Typed): Promise<Html> {
  const { repo, issue } = conversation
  const { db } = visit
  const { comments, earlier, later, ...range } = await readCommentWindow(db, issue, cursorIn(visit.query), stretch)
  const [events, references, others, texts, own] = await Promise.all([
    listEventsBetween(db, viewerOf(visit), issue, range, mostEvents),
    listCrossReferences(db, viewerOf(visit), issue, range, mostEvents),
    conversation.entries?.(range) ?? [],
    renderTexts(visit, repo, [issue.body, ...comments.map(({ body }) => body)]),
    ownReactions(visit, issue.id, comments),
  ])
  const place = { path: pathOf(repo), is_pull: conversation.kind === 'pull' }
  const made: Entry[] = []
  for (const [index, comment] of comments.entries()) {
    const id = `issuecomment-${comment.id}`
    const text = texts[index + 1] ?? html``
    const shown = { ...comment, id, edited_at: comment.updated_at > comment.created_at ? comment.updated_at : null }
    made.push({ at: comment.created_at, item: await showPost(visit, conversation, shown, text, own.get(id), typed) })
  }
  // At the same time, a comment comes first, because a closing comment precedes the close. The sort keeps this order.
  const entries = [...made, ...others, ...referenceEntries(references), ...eventEntries(events, place)].toSorted(
    (one, other) => +one.at - +other.at,
  )
  const path = addressOf(conversation)
  const opening = { ...issue, id: `issue-${issue.id}`, did: 'opened this' }
  const none = html`<p class="muted">No description.</p>`
  return html`<ol class="timeline">${await showPost(visit, conversation, opening, issue.body ? (texts[0] ?? none) : none, own.get(opening.id), typed)}
${earlier && more(html`<a href="${path}?before=${comments[0]?.id}">Earlier comments</a>`)}${events.length === mostEvents && more(html`Only the last ${mostEvents} events are shown here.`)}
${entries.map(({ item }) => item)}${later && more(html`<a href="${path}?from=${(comments.at(-1)?.id ?? 0) + 1}">Later comments</a> · <a href="${path}">The newest</a>`)}</ol>`
}

const more = (text: Html) => timelineItem('kebab-horizontal', text)

function cursorIn(query: URLSearchParams): CommentCursor {
  const id = (name: string) => {
    const text = /^\d{1,15}$/.exec(query.get(name) ?? '')?.[0]
    return text === undefined ? undefined : Number(text)
  }
  return { before: id('before'), from: id('from') }
}

/** The visitor's reactions, by the anchor of the post. */
async function ownReactions({ db, visitor }: Visit, issue_id: number, comments: Comment[]): Promise<Map<string, Set<string>>> {
  const own = new Map<string, Set<string>>()
  if (!visitor) return own
  const ids = comments.map(({ id }) => id)
  const [toIssue, toComments] = await Promise.all([
    listOwnReactions(db, visitor, 'issue_id', [issue_id]),
    ids.length ? listOwnReactions(db, visitor, 'comment_id', ids) : [],
  ])
  const put = (anchor: string, content: string) => own.set(anchor, (own.get(anchor) ?? new Set()).add(content))
  for (const { id, content } of toIssue) put(`issue-${id}`, content)
  for (const { id, content } of toComments) put(`issuecomment-${id}`, content)
  return own
}

type Shown = Parameters<typeof postItem>[0] & Pick<Comment, 'author' | 'reactions'> & { body: string | null }

/** A post with its tools, or with a form in place of its text. */
async function showPost(
  visit: Visit,
  conversation: Conversation,
  shown: Shown,
  text: Html,
  own: Set<string> = new Set(),
  typed?: Typed,
): Promise<Html> {
  const { repo, issue } = conversation
  const { id, author, body, reactions = null } = shown
  const written: Written = { id, body, path: addressOf(conversation), window: windowIn(visit.query) }
  const edit = mayEdit(repo, visit.visitor, author)
  const again = typed?.form === id ? typed : undefined
  if (edit && (again || visit.query.get('edit') === id)) {
    const preview = again?.preview ? await previewOf(visit, repo, again.body) : undefined
    return postItem({ ...shown, foot: editForm(visit, repo, written, again && { ...again, shown: preview }) }, html``)
  }
  const is_comment = id.startsWith('issuecomment-')
  const asks = edit && is_comment && visit.query.get('delete') === id
  const talks = visit.visitor !== null && !repo.archived && (!issue.locked || mayPush(repo))
  const foot = asks ? deleteForm(visit, written) : reactionBar(visit, written, reactions, own, talks)
  const tools = visit.visitor ? postMenu(written, { quote: talks, edit, remove: edit && is_comment }) : undefined
  const attributes = edit && text.text.includes('<input type="checkbox"') ? taskAttributes(written) : undefined
  return postItem({ ...shown, tools, foot, attributes }, text)
}
