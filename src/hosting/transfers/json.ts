import { CollaboratorSchema, collaboratorJson } from '#hosting/collaborators/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { MinimalRepository, minimalRepositoryJson, RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Attached } from './attached.ts'
import type { Accepted, Transfer } from './transfers.ts'

export const RepositoryTransfer = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    repository: MinimalRepository,
    new_owner: SimpleUser,
    new_name: Type.String(),
    requester: SimpleUser,
    created_at: Timestamp,
    expires_at: Timestamp,
    url: Type.String(),
    html_url: Type.String(),
  },
  { title: 'RepositoryTransfer' },
)

export function transferJson(transfer: Transfer, repo: Repository, wire: Wire): Static<typeof RepositoryTransfer> {
  return {
    id: transfer.id,
    node_id: nodeId('RepositoryTransfer', transfer.id),
    repository: minimalRepositoryJson(repo, wire),
    new_owner: userJson(transfer.receiver, wire),
    new_name: transfer.new_name ?? repo.name,
    requester: userJson(transfer.requester, wire),
    created_at: timestamp(transfer.created_at),
    expires_at: timestamp(transfer.expires_at),
    url: `${wire.api}/user/repository_transfers/${transfer.id}`,
    html_url: `${wire.web}/${repo.owner_login}/${repo.name}/transfer`,
  }
}

const TransferAttachments = Type.Object(
  {
    webhooks: Type.Array(Type.Object({ id: Type.Integer(), host: Type.String() })),
    deploy_keys: Type.Array(Type.Object({ id: Type.Integer(), title: Type.String(), read_only: Type.Boolean() })),
    collaborators: Type.Array(CollaboratorSchema),
    invitations: Type.Array(CollaboratorSchema),
  },
  { title: 'TransferAttachments' },
)

function attachedJson(attached: Attached, wire: Wire): Static<typeof TransferAttachments> {
  const people = (list: Attached['collaborators']) => list.map((person) => collaboratorJson(person, wire))
  return { ...attached, collaborators: people(attached.collaborators), invitations: people(attached.invitations) }
}

/** For its receiver: with what the repository would lose. */
export const OfferedTransfer = Type.Object(
  { ...RepositoryTransfer.properties, attached: TransferAttachments },
  { title: 'OfferedRepositoryTransfer' },
)

export function offeredJson(transfer: Transfer, repo: Repository, attached: Attached, wire: Wire) {
  return { ...transferJson(transfer, repo, wire), attached: attachedJson(attached, wire) }
}

export const AcceptedTransfer = Type.Object(
  { repository: RepositorySchema, dropped: TransferAttachments },
  { title: 'AcceptedRepositoryTransfer' },
)

export function acceptedJson({ repo, dropped }: Accepted, wire: Wire): Static<typeof AcceptedTransfer> {
  return { repository: repositoryJson(repo, wire, true), dropped: attachedJson(dropped, wire) }
}
