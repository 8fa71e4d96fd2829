import { type Changes, emptyTree, readChanges } from '#git/changes.ts'
import { readingOf } from '#git/compare.ts'
import { openCommit } from '#git/diff-text.ts'
import { type CommitObject, readCommit, resolveCommit } from '#git/objects.ts'
import { within } from '#git/run-git.ts'
import { summarizeChecks } from '#hosting/checks/summaries.ts'
import { splitMessage } from '#hosting/commits/views/history.ts'
import { changedSince, replaceAdvice, versionOf } from '#hosting/issues/views/post-tools.ts'
import { previewOf } from '#hosting/mentions/views/composer.ts'
import { renderTexts, written } from '#hosting/mentions/views/render-texts.ts'
import { diffView } from '#hosting/pulls/views/diff.ts'
import { findAuthors } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkWritable } from '#identity/access.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { banner } from '#web/components/toast.ts'
import { attempt } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, plainText, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import {
  type CommitComment,
  createCommitComment,
  deleteCommitComment,
  listCommitComments,
  loadCommitComment,
  updateCommitComment,
} from './commit-comments.ts'
import {
  commentForm,
  commentSection,
  findLine,
  type Line,
  placeComments,
  type ShownComment,
  showComment,
  type Typed,
} from './views/comments.ts'
import { commitHead } from './views/commit-head.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/commit/:sha', showCommit),
  submitOwn('/:owner/:repo/commit/:sha/comments', comment),
  submitOwn('/:owner/:repo/commit/:sha/edit', edit),
  submitOwn('/:owner/:repo/commit/:sha/delete', remove),
]

const patience = 30_000

interface Found {
  repo: Repository
  commit: CommitObject
  /** The suffix of the address. */
  medium: 'diff' | 'patch' | undefined
}

async function findCommit(visit: Visit): Promise<Found> {
  const repo = await loadVisibleRepository(visit)
  const { storage } = visit.belfry
  const [, name, medium] = /^([0-9a-f]{7,40})(?:\.(diff|patch))?$/i.exec(visit.params.sha ?? '') ?? []
  const sha = name && (await resolveCommit(storage, repo.id, name))
  if (!sha) throw missing()
  return { repo, commit: await readCommit(storage, repo.id, sha), medium: medium as Found['medium'] }
}

/** As a page, and with the suffix `.diff` or `.patch` as a text. */
async function showCommit(visit: Visit): Promise<Outcome> {
  const { repo, commit, medium } = await findCommit(visit)
  const { sha, parents } = commit
  if (medium) return plainText(await openCommit(visit.belfry.storage, repo.id, medium, sha, parents[0] ?? emptyTree))
  await markShown(visit, sql`s.repo_id = ${repo.id} and s.commit_id = ${sha}`)
  return commitPage(visit, repo, commit)
}

/** A commit's message, changes and comments. */
async function commitPage(visit: Visit, repo: Repository, commit: CommitObject, typed?: Typed): Promise<Outcome> {
  const { storage } = visit.belfry
  const { sha } = commit
  const parent = commit.parents[0]
  const path = pathOf(repo)
  const changes = await within(patience, (signal) =>
    readChanges(readingOf(storage, repo.id, repo.id, signal), parent ?? emptyTree, sha),
  )
  const checks = await summarizeChecks(visit.db, repo, [sha])
  const { comments, earlier } = await readComments(visit, repo, sha, typed)
  const begun = typed && !typed.form ? typed : beginAt(visit, changes)
  const at = begun?.at && { at: begun.at, form: commentForm(visit, repo, sha, begun) }
  const { lines, rest } = placeComments(comments, changes, at)
  const may_comment = visit.visitor !== null && !repo.archived
  const files = await diffView(visit, changes, {
    head: { repository: path, sha },
    base: parent === undefined ? undefined : { repository: path, sha: parent },
    comments: { ...lines, address: may_comment ? (anchor) => `${path}/commit/${sha}?comment=${anchor}#${anchor}` : undefined },
    address: `${path}/commit/${sha}`,
  })
  const section = commentSection(visit, repo, sha, { rest, earlier, typed: begun })
  return {
    title: `${splitMessage(commit.message).title} · ${sha.slice(0, 7)} · ${repo.owner_login}/${repo.name}`,
    body: html`<main>${banner(visit.flash.done)}${commitHead(repo, commit, await findAuthors(visit.db, commit), checks.get(sha))}${files}${section}</main>`,
    ...(typed?.problem && { status: typed.problem.status }),
    above: repositoryHeader(repo, 'code'),
  }
}

/** A comment on the line whose number the visitor followed. */
function beginAt({ visitor, query }: Visit, changes: Changes): Typed | undefined {
  const at = visitor ? findLine(query.get('comment') ?? '', changes) : undefined
  return at && { body: '', at }
}

const mostComments = 100

/** The newest comments, oldest first. */
async function readComments(
  visit: Visit,
  repo: Repository,
  sha: string,
  typed: Typed | undefined,
): Promise<{ comments: ShownComment[]; earlier: number }> {
  const { rows, total } = await listCommitComments(visit.db, repo, { limit: mostComments, offset: 0 }, sha)
  const earlier = Math.max(0, total - mostComments)
  const newest = earlier ? (await listCommitComments(visit.db, repo, { limit: mostComments, offset: earlier }, sha)).rows : rows
  const texts = await renderTexts(
    visit,
    repo,
    newest.map(({ body }) => body),
  )
  const shownOf = (comment: CommitComment, index: number) => showComment(visit, repo, comment, texts[index] ?? html``, typed)
  return { comments: newest.map((comment, index) => ({ comment, shown: shownOf(comment, index) })), earlier }
}

async function comment(visit: SignedIn): Promise<Outcome> {
  const { repo, commit } = await findCommit(visit)
  const { db, belfry, visitor, form } = visit
  const typed = { body: form.get('body') ?? '', at: lineIn(form) }
  if (form.has('preview')) return commitPage(visit, repo, commit, { ...typed, preview: await previewOf(visit, repo, typed.body) })
  return attempt(
    async () => {
      checkWritable(repo)
      const made = await createCommitComment(db, belfry.storage, repo, visitor, commit.sha, {
        body: written(form, 'body'),
        ...typed.at,
      })
      return { to: `${pathOf(repo)}/commit/${commit.sha}#commitcomment-${made.id}` }
    },
    (problem) => commitPage(visit, repo, commit, { ...typed, problem }),
  )
}

/** A comment on this commit, by the anchor that the form names. */
async function loadOwnComment({ db, form }: SignedIn, { repo, commit }: Found): Promise<CommitComment> {
  const [, id] = /^commitcomment-(\d{1,15})$/.exec(form.get('post') ?? '') ?? []
  if (!id) throw missing()
  const comment = await loadCommitComment(db, repo, Number(id))
  if (comment.commit_id !== commit.sha) throw missing()
  return comment
}

/** If the text was changed meanwhile, the form is shown again, and saving it then replaces that change. */
async function edit(visit: SignedIn): Promise<Outcome> {
  const found = await findCommit(visit)
  const { repo, commit } = found
  const { db, belfry, visitor, form } = visit
  const comment = await loadOwnComment(visit, found)
  const anchor = `commitcomment-${comment.id}`
  const typed = { form: anchor, body: form.get('body') ?? '' }
  if (form.has('preview')) return commitPage(visit, repo, commit, { ...typed, preview: await previewOf(visit, repo, typed.body) })
  return attempt(
    async () => {
      checkWritable(repo)
      if (form.get('version') !== versionOf(comment.body)) throw changedSince(replaceAdvice)
      await updateCommitComment(db, belfry.storage, repo, visitor, comment.id, written(form, 'body'))
      return { to: `${pathOf(repo)}/commit/${commit.sha}#${anchor}` }
    },
    (problem) => commitPage(visit, repo, commit, { ...typed, problem }),
  )
}

async function remove(visit: SignedIn): Promise<Outcome> {
  const found = await findCommit(visit)
  const { repo, commit } = found
  const { id } = await loadOwnComment(visit, found)
  checkWritable(repo)
  await visit.db.transaction((db) => deleteCommitComment(db, repo, visit.visitor, id))
  return { to: `${pathOf(repo)}/commit/${commit.sha}`, flash: { done: 'The comment is deleted.' } }
}

/** The longest path that git has on Linux. */
const longestPath = 4096

function lineIn(form: URLSearchParams): Line | undefined {
  const path = (form.get('path') ?? '').replaceAll('\0', '')
  const position = /^\d{1,7}$/.exec(form.get('position') ?? '')?.[0]
  return path && path.length <= longestPath && position ? { path, position: Number(position) } : undefined
}
