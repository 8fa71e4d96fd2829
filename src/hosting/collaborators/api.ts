import { readRepositories } from '#hosting/repositories/repositories.ts'
import { Answer, created, del, get, group, listOf, paged, patch, put } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { accessNames, checkAccess, levelOf, permissionOf, roleOf } from '#identity/access.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import {
  acceptInvitation,
  accessOfUser,
  addCollaborator,
  declineInvitation,
  isCollaborator,
  listCollaborators,
  listInvitations,
  loadInvitation,
  removeCollaborator,
  updateInvitation,
  withdrawInvitation,
} from './collaborators.ts'
import { CollaboratorPermission, CollaboratorSchema, collaboratorJson, invitationJson, RepositoryInvitation } from './json.ts'

const scopes = ['public_repo', 'repo'] as const
const reading = { permission: 'metadata:read', scopes, access: 'push' } as const
const administering = { permission: 'administration:write', scopes, access: 'admin' } as const
const readingOwn = { permission: 'invitations:read', scopes: ['repo', 'repo:invite'] } as const
const answering = { permission: 'invitations:write', scopes: ['public_repo', 'repo', 'repo:invite'] } as const
const Permission = Type.String({ enum: accessNames })

export const api = group('Collaborators', [
  get(
    '/repos/{owner}/{repo}/collaborators',
    {
      ...reading,
      operation: 'repos/list-collaborators',
      summary: 'List the users with access by name; needs push access',
      query: { permission: choice('', 'pull', 'triage', 'push', 'maintain', 'admin') },
      ...listOf(CollaboratorSchema),
    },
    async ({ db, repo, query, page, wire }) =>
      paged(await listCollaborators(db, repo, levelOf(query.permission), page), (row) => collaboratorJson(row, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/collaborators/{username}',
    {
      ...reading,
      operation: 'repos/check-collaborator',
      summary: 'Check whether a user is a collaborator: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, repo, user }) => {
      if (!(await isCollaborator(db, repo, user))) throw missing()
    },
  ),
  put(
    '/repos/{owner}/{repo}/collaborators/{username}',
    {
      ...administering,
      operation: 'repos/add-collaborator',
      summary: 'Invite a collaborator (201), or change the access of one (204)',
      body: Type.Object({ permission: Type.Optional(Permission) }),
      answers: { 201: RepositoryInvitation, 204: Nothing },
    },
    async ({ db, repo, viewer, user, body, wire }) => {
      const invitation = await addCollaborator(db, repo, viewer, user, levelOf(body.permission ?? 'push'))
      if (!invitation) return new Answer(undefined, { status: 204 })
      return created(invitationJson(invitation, repo, wire))
    },
  ),
  del(
    '/repos/{owner}/{repo}/collaborators/{username}',
    {
      operation: 'repos/remove-collaborator',
      permission: 'administration:write',
      summary: "Remove a collaborator, or the caller's own access",
      scopes,
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, user }) => {
      if (user.id !== viewer.id) checkAccess(repo.access, 'admin')
      return removeCollaborator(db, repo, viewer, user)
    },
  ),
  get(
    '/repos/{owner}/{repo}/collaborators/{username}/permission',
    {
      ...reading,
      operation: 'repos/get-collaborator-permission-level',
      summary: 'Get the access of a user to a repository',
      answers: { 200: CollaboratorPermission },
    },
    async ({ db, repo, user, wire }) => {
      const access = await accessOfUser(db, repo, user)
      return { permission: permissionOf(access), role_name: roleOf(access), user: collaboratorJson({ ...user, access }, wire) }
    },
  ),
  get(
    '/repos/{owner}/{repo}/invitations',
    {
      operation: 'repos/list-invitations',
      permission: 'administration:read',
      summary: 'List the open invitations of a repository',
      scopes,
      access: 'admin',
      ...listOf(RepositoryInvitation),
    },
    async ({ db, repo, page, wire }) =>
      paged(await listInvitations(db, { repo_id: repo.id }, page), (row) => invitationJson(row, repo, wire)),
  ),
  patch(
    '/repos/{owner}/{repo}/invitations/{invitation_id}',
    {
      ...administering,
      operation: 'repos/update-invitation',
      summary: 'Change the access that an invitation offers',
      body: Type.Object({ permissions: Permission }, { additionalProperties: false }),
      answers: { 200: RepositoryInvitation },
    },
    async ({ db, repo, params, body, wire }) =>
      invitationJson(await updateInvitation(db, repo, params.invitation_id, levelOf(body.permissions)), repo, wire),
  ),
  del(
    '/repos/{owner}/{repo}/invitations/{invitation_id}',
    {
      ...administering,
      operation: 'repos/delete-invitation',
      summary: 'Cancel an invitation',
      answers: { 204: Nothing },
    },
    ({ db, repo, params }) => withdrawInvitation(db, repo, params.invitation_id),
  ),
  get(
    '/user/repository_invitations',
    {
      ...readingOwn,
      operation: 'repos/list-invitations-for-authenticated-user',
      summary: "List the caller's open invitations",
      ...listOf(RepositoryInvitation),
    },
    async ({ db, viewer, page, wire }) => {
      const invitations = await listInvitations(db, { invitee_id: viewer.id }, page)
      const repos = await readRepositories(
        db,
        viewer.id,
        invitations.rows.map((row) => row.repo_id),
      )
      const byId = new Map(repos.map((repo) => [repo.id, repo]))
      return paged(invitations, (row) => {
        const repo = byId.get(row.repo_id)
        if (!repo) throw missing()
        return invitationJson(row, repo, wire)
      })
    },
  ),
  get(
    '/user/repository_invitations/{invitation_id}',
    {
      ...readingOwn,
      operation: 'repos/get-invitation-for-authenticated-user',
      summary: 'Get an invitation of the caller, open or accepted',
      answers: { 200: RepositoryInvitation },
    },
    async ({ db, caller, viewer, params, wire }) => {
      // Like the list of open invitations, this shows a private repository to a token with the scope for invitations.
      const invitation = await loadInvitation(db, { ...caller, sees_private: true }, viewer, params.invitation_id)
      const [repo] = await readRepositories(db, viewer.id, [invitation.repo_id])
      if (!repo) throw missing()
      return invitationJson(invitation, repo, wire)
    },
  ),
  patch(
    '/user/repository_invitations/{invitation_id}',
    {
      ...answering,
      operation: 'repos/accept-invitation-for-authenticated-user',
      summary: 'Accept an invitation',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => acceptInvitation(db, viewer, params.invitation_id),
  ),
  del(
    '/user/repository_invitations/{invitation_id}',
    {
      ...answering,
      operation: 'repos/decline-invitation-for-authenticated-user',
      summary: 'Decline an invitation',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => declineInvitation(db, viewer, params.invitation_id),
  ),
])
