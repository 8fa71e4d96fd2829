import type { Changes } from '#git/changes.ts'
import type { CommitComment } from '#hosting/commit-comments/commit-comments.ts'
import { post } from '#hosting/issues/views/conversation.ts'
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

/** A comment with its text, as a reader sees it. */
export interface ShownComment {
  comment: CommitComment
  text: Html
}

/** A line of the changes: the file, and the number of lines below its first `@@`. */
export interface Line {
  path: string
  position: number
}

/** A comment that is begun at a line, was refused, or that its author wants to see first. */
export interface Typed {
  body: string
  at?: Line | undefined
  problem?: Problem
  preview?: Html
}

const shown = ({ comment, text }: ShownComment) => post({ ...comment, id: `commitcomment-${comment.id}` }, text)

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
    if (key !== undefined) place(key, shown(one))
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
  const posts = rest.map(({ comment, text }) => {
    const { path, line } = comment
    const about = path !== null && html`<p class="muted"><code>${path}${line !== null && `:${line}`}</code></p>`
    return shown({ comment, text: html`${about}${text}` })
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
