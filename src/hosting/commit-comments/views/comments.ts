import type { Changes } from '#git/changes.ts'
import type { CommitComment } from '#hosting/commit-comments/commit-comments.ts'
import { post } from '#hosting/issues/views/conversation.ts'
import { composer } from '#hosting/mentions/views/composer.ts'
import type { DiffComments } from '#hosting/pulls/views/diff-table.ts'
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

/** A comment that was refused, or that its author wants to see first. */
export interface Typed {
  body: string
  problem?: Problem
  preview?: Html
}

const shown = ({ comment, text }: ShownComment) => post({ ...comment, id: `commitcomment-${comment.id}` }, text)

/** Comments on lines are shown at their lines; the others, and those whose line the changes do not have, are left. */
export function placeComments(comments: ShownComment[], { files }: Changes): { lines: DiffComments; rest: ShownComment[] } {
  const placed = new Map<string, ShownComment[]>()
  const rest = comments.filter((one) => {
    const key = lineOf(one.comment, files)
    if (key !== undefined) placed.set(key, [...(placed.get(key) ?? []), one])
    return key === undefined
  })
  const at = (path: string, side: Side, line: number) => placed.get(keyOf(path, side, line))?.map(shown)
  return {
    lines: {
      at: ({ filename }, side, line) => {
        const found = at(filename, side, line)
        return found && html`${found}`
      },
      above: () => undefined,
    },
    rest,
  }
}

const keyOf = (path: string, side: Side, line: number) => `${side} ${line} ${path}`

function lineOf({ path, line, position }: CommitComment, files: Changes['files']): string | undefined {
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
${commentForm(visit, repo, `${pathOf(repo)}/commit/${sha}`, typed)}</section>`
}

function commentForm(visit: Visit, repo: Repository, address: string, typed: Typed | undefined): Html | undefined {
  if (!visit.visitor) return html`<p>${buttonLink('Sign in to comment', signInAddress(visit.request))}</p>`
  if (repo.archived) return html`<p class="muted">This repository is archived, so nobody can comment.</p>`
  const body = html`${alert(typed?.problem)}${composer(repo, { id: 'body', label: 'Add a comment', value: typed?.body ?? '', required: true, draft: address, preview: typed?.preview })}${button('Comment', { kind: 'primary' })}`
  return form(visit, `${address}/comments`, body)
}
