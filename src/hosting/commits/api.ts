import { emptyTree, readChanges } from '#git/changes.ts'
import { readingOf } from '#git/compare.ts'
import { branchesAt } from '#git/containing.ts'
import { openCommit } from '#git/diff-text.ts'
import { within } from '#git/run-git.ts'
import { findProtections } from '#hosting/protection/protection.ts'
import { PullSchema, pullJson } from '#hosting/pulls/json.ts'
import { loadCommit, writeCommit, writeCommits } from '#hosting/refs/commits.ts'
import { Commit, ShortBranch, shortBranchJson, shortName } from '#hosting/refs/json.ts'
import { Answer, get, group, listOf, paged } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Represented } from '#http/media.ts'
import { Type } from '#platform/schema.ts'
import { FullCommit, fullCommitJson } from './json.ts'
import { listCommits } from './list-commits.ts'
import { listPullsWith } from './pulls.ts'

const reads = { permission: 'contents:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const patience = 30_000
/** The documented limits of a commit's files: of one page, and of all pages. */
const filesOfPage = 300
const mostFiles = 3000

export const api = group('Commits', [
  get(
    '/repos/{owner}/{repo}/commits',
    {
      ...reads,
      operation: 'repos/list-commits',
      refuses: ['conflict'],
      summary: 'List commits from a branch, a tag or a commit back, newest first',
      query: { sha: text(), path: text(), author: text(), committer: text(), since: text(), until: text() },
      ...listOf(Commit),
    },
    async ({ db, storage, repo, query, page, wire }) => {
      const { rows, total } = await listCommits(db, storage, repo, query, page)
      return new Answer(await writeCommits(db, rows, repo, wire), { total })
    },
  ),
  get(
    '/repos/{owner}/{repo}/commits/{ref+}',
    {
      ...reads,
      operation: 'repos/get-commit',
      refuses: ['conflict'],
      summary: 'Get a commit and its changes, by a branch, a tag or its own name',
      list: () => ({ size: filesOfPage, largest: filesOfPage }),
      media: ['diff', 'patch', 'sha'],
      answers: { 200: FullCommit },
    },
    async ({ db, storage, repo, params, page, wire, medium, revalidate }) => {
      const commit = await loadCommit(storage, repo, params.ref)
      const { sha, parents } = commit
      // Clients send the id of a commit as the validator of this representation.
      if (medium === 'sha') return new Answer(new Represented(medium, sha), { headers: { ETag: `"${sha}"` } })
      const from = parents[0] ?? emptyTree
      if (medium) {
        const open = async () => new Represented(medium, await openCommit(storage, repo.id, medium, sha, from))
        return revalidate(`${medium} ${sha}`, open)
      }
      const offset = Math.min(page.offset, mostFiles)
      const slice = { offset, limit: Math.min(page.limit, mostFiles - offset) }
      const changes = await within(patience, (signal) =>
        readChanges(readingOf(storage, repo.id, repo.id, signal), from, sha, slice),
      )
      const body = fullCommitJson(await writeCommit(db, commit, repo, wire), changes, repo, wire)
      return new Answer(body, { total: Math.min(mostFiles, changes.changed_files) })
    },
  ),
  get(
    '/repos/{owner}/{repo}/commits/{commit_sha+}/branches-where-head',
    {
      ...reads,
      operation: 'repos/list-branches-for-head-commit',
      refuses: ['conflict', 'invalid'],
      summary: 'List the branches whose last commit this is',
      answers: { 200: Type.Array(ShortBranch) },
    },
    async ({ db, storage, repo, params, wire }) => {
      const { sha } = await loadCommit(storage, repo, params.commit_sha)
      const names = await within(patience, (signal) => branchesAt(readingOf(storage, repo.id, repo.id, signal), sha))
      const branches = names.map((name) => ({ name, sha, type: 'commit' }))
      const protections = await findProtections(db, repo, branches.map(shortName))
      return branches.map((branch) => shortBranchJson(branch, protections.get(shortName(branch)), repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/commits/{commit_sha+}/pulls',
    {
      ...reads,
      permission: 'pull_requests:read',
      operation: 'repos/list-pull-requests-associated-with-commit',
      refuses: ['conflict'],
      summary: 'List the pull request that brought a commit, and open ones that contain it',
      ...listOf(PullSchema),
    },
    async ({ db, storage, caller, repo, params, page, wire }) => {
      const { sha } = await loadCommit(storage, repo, params.commit_sha)
      return paged(await listPullsWith(db, storage, caller, repo, sha, page), (pull) => pullJson(pull, repo, wire, true))
    },
  ),
])
