import { RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import type { Queryable } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { listAttached } from './attached.ts'
import { AcceptedTransfer, acceptedJson, OfferedTransfer, offeredJson, RepositoryTransfer, transferJson } from './json.ts'
import {
  acceptTransfer,
  cancelTransfer,
  declineTransfer,
  findTransferOf,
  listOffered,
  loadOffered,
  transferRepository,
} from './transfers.ts'

const Name = Type.String({ minLength: 1, maxLength: 100 })
const scopes = ['public_repo', 'repo'] as const
/** The `repo` scope, because the caller receives a whole repository, which may be private. */
const receiving = { permission: 'classic', scopes: ['repo'] } as const

export const api = group('Repository transfers', [
  post(
    '/repos/{owner}/{repo}/transfer',
    {
      operation: 'repos/transfer',
      permission: 'administration:write',
      summary: 'Transfer a repository: at once to an account where the caller may create repositories, else when it is accepted',
      scopes,
      access: 'admin',
      body: Type.Object({ new_owner: Type.String(), new_name: Type.Optional(Name) }),
      answers: { 202: RepositorySchema },
    },
    async ({ db, caller, viewer, repo, body, wire }) =>
      repositoryJson(await transferRepository(db, caller, viewer, repo, body), wire, true),
  ),
  get(
    '/repos/{owner}/{repo}/transfer',
    {
      operation: 'repos/get-transfer',
      permission: 'administration:read',
      summary: 'Get the pending transfer of a repository',
      scopes,
      access: 'admin',
      answers: { 200: RepositoryTransfer },
    },
    async ({ db, repo, wire }) => {
      const transfer = await findTransferOf(db, repo)
      if (!transfer) throw missing()
      return transferJson(transfer, repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/transfer',
    {
      operation: 'repos/cancel-transfer',
      permission: 'administration:write',
      summary: 'Cancel a transfer that is not accepted yet',
      scopes,
      access: 'admin',
      answers: { 204: Nothing },
    },
    ({ db, repo }) => cancelTransfer(db, repo),
  ),
  get(
    '/user/repository_transfers',
    {
      ...receiving,
      operation: 'repos/list-transfers-for-authenticated-user',
      summary: 'List repositories that are offered to the caller, or to organizations the caller owns',
      ...listOf(RepositoryTransfer),
    },
    async ({ db, viewer, page, wire }) => {
      const transfers = await listOffered(db, viewer, page)
      const ids = transfers.rows.map(({ repo_id }) => repo_id)
      const repos = new Map((await readRepositories(db, viewer.id, ids)).map((repo) => [repo.id, repo]))
      return paged(transfers, (row) => {
        const repo = repos.get(row.repo_id)
        if (!repo) throw missing()
        return transferJson(row, repo, wire)
      })
    },
  ),
  get(
    '/user/repository_transfers/{transfer_id}',
    {
      ...receiving,
      operation: 'repos/get-transfer-for-authenticated-user',
      summary: 'Get an offered repository, with the webhooks, keys and collaborators that it would lose',
      answers: { 200: OfferedTransfer },
    },
    async ({ db, viewer, params, wire }) => {
      const transfer = await loadOffered(db, viewer, params.transfer_id)
      const repo = await readOne(db, viewer, transfer.repo_id)
      return offeredJson(transfer, repo, await listAttached(db, repo), wire)
    },
  ),
  patch(
    '/user/repository_transfers/{transfer_id}',
    {
      ...receiving,
      operation: 'repos/accept-transfer-for-authenticated-user',
      summary: 'Accept an offered repository; its webhooks, deploy keys and collaborators are dropped',
      body: Type.Partial(Type.Object({ new_name: Name, keep_former_owner: Type.Boolean(), keep_collaborators: Type.Boolean() })),
      answers: { 200: AcceptedTransfer },
    },
    async ({ db, viewer, params, body, wire }) => acceptedJson(await acceptTransfer(db, viewer, params.transfer_id, body), wire),
  ),
  del(
    '/user/repository_transfers/{transfer_id}',
    {
      ...receiving,
      operation: 'repos/decline-transfer-for-authenticated-user',
      summary: 'Decline an offered repository',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => declineTransfer(db, viewer, params.transfer_id),
  ),
])

async function readOne(db: Queryable, viewer: { id: number }, repo_id: number): Promise<Repository> {
  const [repo] = await readRepositories(db, viewer.id, [repo_id])
  if (!repo) throw missing()
  return repo
}
