import { mayEdit, mayPush } from '#hosting/issues/rights.ts'
import { count, post } from '#hosting/issues/views/conversation.ts'
import { composer } from '#hosting/mentions/views/composer.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import { rowsBefore } from '#hosting/pulls/views/diff-rows.ts'
import { anchorOf, plainTable } from '#hosting/pulls/views/diff-table.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { mayResolve, type Resolution } from '#hosting/reviews/resolved-threads.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { menu } from '#web/components/menu.ts'
import { moment } from '#web/components/time.ts'
import { alert, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import type { Talk, Thread } from './threads.ts'

/** A form to be shown again, because it was refused or its preview was requested. */
export interface TypedReview {
  /** `review`, `thread-7`, `discussion_r7`, or the anchor of a line. */
  form: string
  body: string
  problem?: Problem
  /** The rendered text. */
  preview?: Html
}

/** Where threads are shown: below the reviews of a conversation with the lines that they are about, or beside those lines. */
export interface Shelf {
  repo: Repository
  pull: Pull
  path: string
  page: 'conversation' | 'files'
  talk: Talk
  typed?: TypedReview | undefined
}

/** How many lines before a comment the conversation shows. */
const linesBefore = 4

/** May the visitor take part? The same rule as in update.ts. */
export const mayReview = ({ visitor }: Visit, { repo, pull }: Pick<Shelf, 'repo' | 'pull'>) =>
  visitor !== null && !repo.archived && (!pull.locked || mayPush(repo))

export function threadBox(visit: Visit, shelf: Shelf, thread: Thread, options: { quoted?: boolean } = {}): Html {
  const { first, comments, id } = thread
  const { path } = shelf
  const quoted = options.quoted ?? shelf.page === 'conversation'
  const about =
    quoted &&
    html`<p class="thread-about">${icon('file')} <a href="${path}/files#${lineAnchor(first)}"><code>${first.path}</code></a> <span class="muted">${describeLines(first)}</span></p>
${first.diff_hunk && html`<div class="thread-lines">${plainTable(rowsBefore(first.diff_hunk, linesBefore))}</div>`}`
  const pending = first.review_state === 'PENDING'
  const shown = html`${about}<div class="thread-posts" role="group" aria-label="${count(comments.length, 'comment')} on ${first.path}">${comments.map((comment) => showComment(visit, shelf, comment))}</div>${!pending && mayReview(visit, shelf) && replyForm(visit, shelf, thread)}${!pending && resolveForm(visit, shelf, thread)}`
  return html`<div class="review-thread" id="thread-${id}">${thread.resolution ? folded(visit, shelf, thread, thread.resolution, shown) : shown}</div>`
}

/** A resolved thread is closed, unless the visitor asks for something in it. */
function folded({ query }: Visit, { typed }: Shelf, thread: Thread, { resolver, resolved_at }: Resolution, shown: Html): Html {
  const { id, first, comments } = thread
  const asked = [typed?.form, query.get('edit'), query.get('delete')]
  const open = asked.includes(`thread-${id}`) || comments.some((one) => asked.includes(`discussion_r${one.id}`))
  return html`<details class="thread-fold"${open && html` open`}><summary>${icon('check-circle')} <span><strong>${resolver?.login ?? 'a deleted user'}</strong> resolved ${count(comments.length, 'comment')} on <code>${first.path}</code> ${moment(resolved_at)}</span><span class="space"></span>${icon('unfold')}</summary>${shown}</details>`
}

function resolveForm(visit: Visit, shelf: Shelf, { id, first, resolution }: Thread): Html | undefined {
  const { repo, pull, path } = shelf
  if (!mayResolve(repo, pull, visit.visitor, first)) return undefined
  const inputs = html`${pageField(shelf)}${button(resolution ? 'Unresolve conversation' : 'Resolve conversation', { size: 'small', name: 'resolved', value: resolution ? 'no' : 'yes' })}`
  return form(visit, `${path}/threads/${id}/resolution`, inputs, { class: 'thread-resolve', replace: true })
}

/** The id of the line on the page of files; of the file if the comment is about all of it. */
export const lineAnchor = ({ path, line, side }: ReviewComment) =>
  line === null ? anchorOf(path) : `${anchorOf(path)}${side === 'LEFT' ? 'L' : 'R'}${line}`

function describeLines({ line, start_line, side }: ReviewComment): string {
  if (line === null) return 'the whole file'
  const old = side === 'LEFT' ? ' before the change' : ''
  return start_line === null || start_line === line ? `line ${line}${old}` : `lines ${start_line} to ${line}${old}`
}

function showComment(visit: Visit, shelf: Shelf, comment: ReviewComment): Html {
  const { repo, path, page, talk, typed } = shelf
  const id = `discussion_r${comment.id}`
  const here = page === 'files' ? `${path}/files` : path
  const may = mayEdit(repo, visit.visitor, comment.author)
  const again = typed?.form === id ? typed : undefined
  const edits = may && (again !== undefined || visit.query.get('edit') === id)
  const tools = html`${comment.review_state === 'PENDING' && html`<span>${badge('Pending', 'attention')}</span>`}${
    may &&
    menu(
      icon('kebab-horizontal'),
      [
        { text: 'Edit', href: `${here}?edit=${id}#${id}`, icon: 'pencil' },
        { text: 'Delete', href: `${here}?delete=${id}#${id}`, icon: 'trash' },
      ],
      { label: 'More' },
    )
  }`
  const foot = edits
    ? editForm(visit, shelf, comment, here, again)
    : may && visit.query.get('delete') === id
      ? deleteForm(visit, shelf, comment, here)
      : undefined
  const edited_at = comment.updated_at > comment.created_at ? comment.updated_at : null
  return post({ ...comment, id, edited_at, tools, foot }, edits ? html`` : (talk.texts.get(comment) ?? html``))
}

const pageField = ({ page }: Shelf) => html`<input type="hidden" name="page" value="${page}">`

function editForm(visit: Visit, shelf: Shelf, comment: ReviewComment, here: string, typed: TypedReview | undefined): Html {
  const id = `discussion_r${comment.id}`
  const inputs = html`${alert(typed?.problem)}${pageField(shelf)}${composer(shelf.repo, { id: `${id}-body`, label: 'Text', unlabelled: true, value: typed?.body ?? comment.body, preview: typed?.preview })}
<div class="buttons">${button('Save', { kind: 'primary' })}${buttonLink('Cancel', `${here}#${id}`)}</div>`
  return form(visit, `${shelf.path}/review-comments/${comment.id}`, inputs, { class: 'form reply' })
}

function deleteForm(visit: Visit, shelf: Shelf, comment: ReviewComment, here: string): Html {
  const inputs = html`${pageField(shelf)}<p>Delete this comment? It cannot be restored.</p>
<div class="buttons">${button('Delete comment', { kind: 'danger', name: 'delete', value: 'yes' })}${buttonLink('Cancel', `${here}#discussion_r${comment.id}`)}</div>`
  return form(visit, `${shelf.path}/review-comments/${comment.id}`, inputs, { class: 'form reply post-question' })
}

function replyForm(visit: Visit, shelf: Shelf, { id }: Thread): Html {
  const { repo, path, typed } = shelf
  const again = typed?.form === `thread-${id}` ? typed : undefined
  const inputs = html`${alert(again?.problem)}${pageField(shelf)}${composer(repo, { id: `reply-${id}`, label: 'Reply', unlabelled: true, value: again?.body ?? '', required: true, rows: 3, preview: again?.preview, draft: `${path} thread ${id}` })}
<div class="buttons">${button('Reply', { kind: 'primary', size: 'small' })}</div>`
  return html`<details class="thread-reply"${again && html` open`}><summary>${icon('reply')} Reply</summary>${form(visit, `${path}/threads/${id}`, inputs, { class: 'form reply' })}</details>`
}
