import type { Changes } from '#git/changes.ts'
import type { CommitComment } from '#hosting/commit-comments/commit-comments.ts'
import { mayEdit } from '#hosting/issues/rights.ts'
import { post } from '#hosting/issues/views/conversation.ts'
import { deleteForm, editForm, postMenu, type Written } from '#hosting/issues/views/post-tools.ts'
import { composer } from '#hosting/mentions/views/composer.ts'
import { anchorOf, type DiffComments } from '#hosting/pulls/views/diff-table.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { readPatch, type Side } from '#hosting/reviews/diff-position.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { alert, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { signInAddress } from '#web/return-to.ts'

/** A comment as the visitor sees it: its post, with its text or the form in place of the text. */
export interface ShownComment {
  comment: CommitComment
  shown: Html
}

/** A line of the changes: the file, and the number of lines below its first `@@`. */
export interface Line {
  path: string
  position: number
}

/** A comment that is begun at a line, was refused, or that its author wants to see first. */
export interface Typed {
  /** The anchor of the comment that is edited; without it, the comment is a new one. */
  form?: string
  body: string
  at?: Line | undefined
  problem?: Problem
  preview?: Html
}

/** A comment with its tools, or with a form in place of its text. */
export function showComment(visit: Visit, repo: Repository, comment: CommitComment, text: Html, typed?: Typed): Html {
  const { commit_id, author, body, created_at, updated_at } = comment
  const id = `commitcomment-${comment.id}`
  const written: Written = { id, body, path: `${pathOf(repo)}/commit/${commit_id}`, window: '' }
  const edited_at = updated_at > created_at ? updated_at : null
  const may = mayEdit(repo, visit.visitor, author)
  const again = typed?.form === id ? typed : undefined
  if (may && (again || visit.query.get('edit') === id)) {
    const { preview, ...rest } = again ?? {}
    const foot = editForm(visit, repo, written, again && { ...rest, body: again.body, shown: preview })
    return post({ ...comment, id, edited_at, foot }, html``)
  }
  const foot = may && visit.query.get('delete') === id ? deleteForm(visit, written) : undefined
  const tools = visit.visitor ? postMenu(written, { quote: false, edit: may, remove: may }) : undefined
  return post({ ...comment, id, edited_at, tools, foot }, text)
}

/**
 * Comments on lines are shown at their lines, and so is the form of one that is begun there; the other comments, and those whose line the
 * changes do not have, are left.
 */
export function placeComments(
  comments: ShownComment[],
  { files }: Changes,
  begun: { at: Line; form: Html | undefined } | undefined,
): { lines: Pick<DiffComments, 'at' | 'above'>; rest: ShownComment[] } {
  const placed = new Map<string, Html[]>()
  const place = (key: string, said: Html) => placed.set(key, [...(placed.get(key) ?? []), said])
  const rest = comments.filter((one) => {
    const key = lineOf(one.comment, files)
    if (key !== undefined) place(key, one.shown)
    return key === undefined
  })
  const key = begun && lineOf({ ...begun.at, line: null }, files)
  if (key !== undefined && begun?.form) place(key, begun.form)
  const at: DiffComments['at'] = ({ filename }, side, line) => {
    const said = placed.get(keyOf(filename, side, line))
    return said && html`${said}`
  }
  return { lines: { at, above: () => undefined }, rest }
}

/** The line that an anchor of the page names. */
export function findLine(anchor: string, { files }: Changes): Line | undefined {
  const [, key, letter, line] = /^(d[0-9a-f]{10})([LR])(\d{1,7})$/.exec(anchor) ?? []
  const file = files.find(({ filename, patch }) => patch !== undefined && anchorOf(filename) === key)
  if (!file) return undefined
  const side: Side = letter === 'L' ? 'LEFT' : 'RIGHT'
  const position = readPatch(file.patch ?? '').findIndex((one) => one[side] === Number(line))
  return position < 0 ? undefined : { path: file.filename, position }
}

const keyOf = (path: string, side: Side, line: number) => `${side} ${line} ${path}`

function lineOf(
  { path, line, position }: Pick<CommitComment, 'path' | 'line' | 'position'>,
  files: Changes['files'],
): string | undefined {
  const patch = files.find(({ filename }) => filename === path)?.patch
  if (path === null || patch === undefined) return undefined
  const lines = readPatch(patch)
  const found = position === null ? lines.find(({ RIGHT }) => RIGHT === line) : lines[position]
  if (found?.RIGHT !== undefined) return keyOf(path, 'RIGHT', found.RIGHT)
  return found?.LEFT === undefined ? undefined : keyOf(path, 'LEFT', found.LEFT)
}

/** Comments on the commit as a whole, with a form for another one. */
export function commentSection(
  visit: Visit,
  repo: Repository,
  sha: string,
  { rest, earlier, typed }: { rest: ShownComment[]; earlier: number; typed?: Typed | undefined },
): Html {
  const posts = rest.map(({ comment: { path, line }, shown }) => {
    const about = path !== null && html`<p class="muted"><code>${path}${line !== null && `:${line}`}</code></p>`
    return html`${about}${shown}`
  })
  return html`<section class="commit-comments" id="comments" aria-labelledby="comments-title"><h2 id="comments-title">Comments</h2>
${earlier > 0 && html`<p class="muted">${earlier} earlier comments are not shown.</p>`}${posts.length > 0 ? posts : html`<p class="muted">Nobody has commented on this commit as a whole.</p>`}
${typed?.at ? undefined : commentForm(visit, repo, sha, typed)}</section>`
}

/** The form of a comment on the commit, or on a line of its changes. */
export function commentForm(visit: Visit, repo: Repository, sha: string, typed: Typed | undefined): Html | undefined {
  if (!visit.visitor) return html`<p>${buttonLink('Sign in to comment', signInAddress(visit.request))}</p>`
  if (repo.archived) return html`<p class="muted">This repository is archived, so nobody can comment.</p>`
  const address = `${pathOf(repo)}/commit/${sha}`
  const { at, body = '', preview, problem } = typed ?? {}
  const label = at ? 'Comment on this line' : 'Add a comment'
  const draft = at ? `${address} ${at.path} ${at.position}` : address
  const place =
    at && html`<input type="hidden" name="path" value="${at.path}"><input type="hidden" name="position" value="${at.position}">`
  const fields = html`${alert(problem)}${place}${composer(repo, { id: 'body', label, value: body, required: true, draft, preview })}
<div class="buttons">${button('Comment', { kind: 'primary' })}${at && buttonLink('Cancel', address, { kind: 'invisible' })}</div>`
  return form(visit, `${address}/comments`, fields)
}
