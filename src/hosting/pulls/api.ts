import { writeCommits } from '#hosting/refs/commits.ts'
import { Commit } from '#hosting/refs/json.ts'
import { Answer, created, get, group, listOf, paged, patch, post, put } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Represented } from '#http/media.ts'
import { Nothing } from '#http/serialization.ts'
import { missing } from '#platform/errors.ts'
import type { Slice } from '#platform/listed.ts'
import { Type } from '#platform/schema.ts'
import { FileSchema, fileJson } from './comparisons/json.ts'
import { FullPullSchema, fullPullJson, PullSchema, pullJson } from './json.ts'
import { listPulls } from './lists.ts'
import { comparePull, openPullText, refreshMergeability } from './mergeability.ts'
import { type MergeMethod, mergePull } from './merging.ts'
import { createPull } from './opening.ts'
import { loadPull } from './pulls.ts'
import { updatePull } from './update.ts'
import { updateBranch } from './update-branch.ts'

const reading = { permission: 'pull_requests:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const scopes = ['public_repo', 'repo'] as const
const writing = { permission: 'pull_requests:write', scopes, writable: true, own_transaction: true } as const
const Title = Type.String({ maxLength: 256 })
const Body = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 65_536 })
const Words = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 65_536 })
const MergedSchema = Type.Object(
  { sha: Type.String(), merged: Type.Boolean(), message: Type.String() },
  { title: 'PullRequestMergeResult' },
)

const part = <Row>(rows: Row[], { offset, limit }: Slice) => ({ rows: rows.slice(offset, offset + limit), total: rows.length })

export const api = group('Pull requests', [
  get(
    '/repos/{owner}/{repo}/pulls',
    {
      ...reading,
      operation: 'pulls/list',
      summary: 'List the pull requests of a repository, newest first by default',
      query: {
        state: choice('open', 'closed', 'all'),
        head: text(),
        base: text(),
        sort: choice('created', 'updated', 'popularity', 'long-running'),
        direction: choice('', 'asc', 'desc'),
      },
      ...listOf(PullSchema),
    },
    async ({ db, caller, repo, query, page, wire }) =>
      paged(await listPulls(db, caller, repo, query, page), (pull) => pullJson(pull, repo, wire, true)),
  ),
  post(
    '/repos/{owner}/{repo}/pulls',
    {
      ...writing,
      operation: 'pulls/create',
      summary: 'Open a pull request from a branch of the repository or of a fork',
      body: Type.Object({
        head: Type.String({ maxLength: 500 }),
        base: Type.String({ maxLength: 500 }),
        title: Type.Optional(Title),
        issue: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999 })),
        body: Type.Optional(Body),
        head_repo: Type.Optional(Type.String({ maxLength: 200 })),
        draft: Type.Optional(Type.Boolean()),
        maintainer_can_modify: Type.Optional(Type.Boolean()),
      }),
      answers: { 201: FullPullSchema },
    },
    async ({ db, storage, caller, repo, viewer, body, wire }) => {
      const pull = await createPull(db, storage, caller, repo, viewer, body)
      return created(fullPullJson(await refreshMergeability(db, storage, pull), repo, wire, true))
    },
  ),
  get(
    '/repos/{owner}/{repo}/pulls/{pull_number}',
    {
      ...reading,
      operation: 'pulls/get',
      summary: 'Get a pull request, and whether it can be merged',
      media: ['diff', 'patch'],
      answers: { 200: FullPullSchema },
    },
    async ({ db, storage, caller, repo, params, wire, medium }) => {
      const pull = await loadPull(db, repo, params.pull_number, caller)
      if (medium) return new Represented(medium, await openPullText(storage, pull, medium))
      return fullPullJson(await refreshMergeability(db, storage, pull), repo, wire, true)
    },
  ),
  patch(
    '/repos/{owner}/{repo}/pulls/{pull_number}',
    {
      ...writing,
      operation: 'pulls/update',
      summary: 'Change, close or reopen a pull request, as its author or with triage access',
      body: Type.Partial(
        Type.Object({
          title: Title,
          body: Body,
          state: Type.Unsafe<'open' | 'closed'>({ type: 'string', enum: ['open', 'closed'] }),
          base: Type.String({ maxLength: 500 }),
          draft: Type.Boolean(),
          maintainer_can_modify: Type.Boolean(),
        }),
      ),
      answers: { 200: FullPullSchema },
    },
    async ({ db, storage, caller, repo, viewer, params, body, wire }) => {
      const { title, body: said, state, base, draft, maintainer_can_modify } = body
      const changes = {
        ...(title !== undefined && { title }),
        ...(said !== undefined && { body: said }),
        ...(state !== undefined && { state }),
        ...(base !== undefined && { base }),
        ...(draft !== undefined && { draft }),
        ...(maintainer_can_modify !== undefined && { maintainer_can_modify }),
      }
      const pull = await updatePull(db, storage, caller, repo, viewer, params.pull_number, changes)
      return fullPullJson(await refreshMergeability(db, storage, pull), repo, wire, true)
    },
  ),
  get(
    '/repos/{owner}/{repo}/pulls/{pull_number}/commits',
    {
      ...reading,
      operation: 'pulls/list-commits',
      summary: 'List the commits of a pull request, oldest first, the last 250',
      ...listOf(Commit),
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const { commits } = await comparePull(storage, await loadPull(db, repo, params.pull_number))
      const { rows, total } = part(commits, page)
      return new Answer(await writeCommits(db, rows, repo, wire), { total })
    },
  ),
  get(
    '/repos/{owner}/{repo}/pulls/{pull_number}/files',
    {
      ...reading,
      operation: 'pulls/list-files',
      summary: 'List the files that a pull request changes, the first 300',
      ...listOf(FileSchema),
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const comparison = await comparePull(storage, await loadPull(db, repo, params.pull_number))
      return paged(part(comparison.files, page), (file) => fileJson(file, comparison, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/pulls/{pull_number}/merge',
    {
      ...reading,
      operation: 'pulls/check-if-merged',
      summary: 'Check whether a pull request was merged: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, repo, params }) => {
      if (!(await loadPull(db, repo, params.pull_number)).merged_at) throw missing()
    },
  ),
  put(
    '/repos/{owner}/{repo}/pulls/{pull_number}/merge',
    {
      ...writing,
      permission: 'contents:write',
      operation: 'pulls/merge',
      refuses: ['not_allowed', 'conflict'],
      summary: 'Merge a pull request by merge, squash or rebase',
      access: 'push',
      body: Type.Partial(
        Type.Object({
          commit_title: Words,
          commit_message: Words,
          sha: Type.String(),
          merge_method: Type.Unsafe<MergeMethod>({ type: 'string', enum: ['merge', 'squash', 'rebase'] }),
        }),
      ),
      answers: { 200: MergedSchema },
    },
    async ({ db, storage, repo, viewer, params, body }) => {
      const { commit_title, commit_message, sha, merge_method } = body
      const asked = {
        ...(commit_title && { commit_title }),
        ...(commit_message != null && { commit_message }),
        ...(sha !== undefined && { sha }),
        ...(merge_method && { merge_method }),
      }
      const merged = await mergePull(db, storage, repo, viewer, params.pull_number, asked)
      return { sha: merged.sha, merged: true, message: 'Pull Request successfully merged' }
    },
  ),
  put(
    '/repos/{owner}/{repo}/pulls/{pull_number}/update-branch',
    {
      ...writing,
      operation: 'pulls/update-branch',
      refuses: ['conflict'],
      summary: 'Merge new commits of the base into the branch of a pull request',
      body: Type.Partial(Type.Object({ expected_head_sha: Type.String() })),
      answers: { 202: Type.Object({ message: Type.String(), url: Type.String() }, { title: 'BranchUpdate' }) },
    },
    async ({ db, storage, caller, repo, viewer, params, body, wire }) => {
      await updateBranch(db, storage, caller, repo, viewer, params.pull_number, body.expected_head_sha)
      const url = `${wire.api}/repos/${repo.owner_login}/${repo.name}/pulls/${params.pull_number}`
      return { message: 'Updating pull request branch.', url }
    },
  ),
])
