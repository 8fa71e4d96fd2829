import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { MinimalRepository, minimalRepositoryJson, Permissions } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { NullableTimestamp, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { permissionsOf, roleOf } from '#identity/access.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Collaborator, Invitation } from './collaborators.ts'

export const CollaboratorSchema = Type.Object(
  { ...SimpleUser.properties, permissions: Permissions, role_name: Type.String() },
  { title: 'Collaborator' },
)

export function collaboratorJson(user: Collaborator, wire: Wire): Static<typeof CollaboratorSchema> {
  return { ...userJson(user, wire), permissions: permissionsOf(user.access), role_name: roleOf(user.access) }
}

export const CollaboratorPermission = Type.Object(
  { permission: Type.String(), role_name: Type.String(), user: CollaboratorSchema },
  { title: 'CollaboratorPermission' },
)

export const RepositoryInvitation = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    repository: MinimalRepository,
    invitee: SimpleUser,
    inviter: SimpleUser,
    permissions: Type.String(),
    created_at: Timestamp,
    accepted_at: NullableTimestamp,
    expired: Type.Boolean(),
    url: Type.String(),
    html_url: Type.String(),
  },
  { title: 'RepositoryInvitation' },
)

export function invitationJson(invitation: Invitation, repo: Repository, wire: Wire): Static<typeof RepositoryInvitation> {
  return {
    id: invitation.id,
    node_id: nodeId('RepositoryInvitation', invitation.id),
    repository: minimalRepositoryJson(repo, wire),
    invitee: userJson(invitation.invitee, wire),
    inviter: userJson(invitation.inviter, wire),
    permissions: roleOf(invitation.access),
    created_at: timestamp(invitation.created_at),
    accepted_at: invitation.accepted_at && timestamp(invitation.accepted_at),
    expired: false,
    url: `${wire.api}/user/repository_invitations/${invitation.id}`,
    html_url: `${wire.web}/${repo.owner_login}/${repo.name}/invitations`,
  }
}
