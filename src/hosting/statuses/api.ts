import { findCommit } from '#hosting/refs/commits.ts'
import { Answer, created, get, group, listOf, paged, post } from '#http/endpoint.ts'
import { Type } from '#platform/schema.ts'
import { CombinedStatusSchema, combinedStatusJson, StatusSchema, statusJson } from './json.ts'
import { createStatus, listStatuses, loadCombinedStatus, type StatusState } from './statuses.ts'

const reading = {
  permission: 'statuses:read',
  viewer: 'optional',
  optional_scopes: ['repo', 'repo:status'],
  sees_private: 'repo:status',
  refuses: ['conflict'],
} as const

/** A text that may be null, at most so long. */
const Words = (maxLength: number) => Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }))

export const api = group('Commit statuses', [
  get(
    '/repos/{owner}/{repo}/commits/{ref+}/status',
    {
      ...reading,
      operation: 'repos/get-combined-status-for-ref',
      summary: 'Get the combined state of a commit: the last status of each context',
      list: true,
      answers: { 200: CombinedStatusSchema },
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const combined = await loadCombinedStatus(db, repo, await findCommit(storage, repo, params.ref), page)
      return new Answer(combinedStatusJson(combined, repo, wire), { total: combined.total_count })
    },
  ),
  get(
    '/repos/{owner}/{repo}/commits/{ref+}/statuses',
    {
      ...reading,
      operation: 'repos/list-commit-statuses-for-ref',
      summary: 'List the statuses of a commit, newest first',
      ...listOf(StatusSchema),
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const sha = await findCommit(storage, repo, params.ref)
      return paged(await listStatuses(db, repo, sha, page), (status) => statusJson(status, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/statuses/{ref+}',
    {
      ...reading,
      operation: 'repos/list-commit-statuses-by-old-name',
      summary: 'List the statuses of a commit, by an older address',
      ...listOf(StatusSchema),
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const sha = await findCommit(storage, repo, params.ref)
      return paged(await listStatuses(db, repo, sha, page), (status) => statusJson(status, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/statuses/{sha}',
    {
      operation: 'repos/create-commit-status',
      permission: 'statuses:write',
      scopes: ['public_repo', 'repo', 'repo:status'],
      sees_private: 'repo:status',
      access: 'push',
      writable: true,
      summary: 'Report the state of a commit in a context',
      body: Type.Object({
        state: Type.Unsafe<StatusState>({ type: 'string', enum: ['error', 'failure', 'pending', 'success'] }),
        target_url: Words(2000),
        description: Words(140),
        context: Words(255),
      }),
      own_transaction: true,
      answers: { 201: StatusSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const { state, description = null, target_url = null } = body
      const wanted = { state, description, target_url: target_url || null, context: body.context?.trim() || 'default' }
      return created(statusJson(await createStatus(db, storage, repo, viewer, params.sha, wanted), repo, wire))
    },
  ),
])
