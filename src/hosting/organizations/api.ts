import { endInvitations, findPendingMembership, listMemberships } from '#hosting/organization-invitations/invitations.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { countStanding, updateProfile } from '#hosting/people/people.ts'
import { Answer, del, get, group, listOf, paged, patch, put } from '#http/endpoint.ts'
import { choice, readSince, text } from '#http/input.ts'
import { afterId } from '#http/paging.ts'
import { Nothing, NullableString } from '#http/serialization.ts'
import { levelOf } from '#identity/access.ts'
import { forbidden, missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import {
  FullOrganization,
  membershipJson,
  OrganizationMembership,
  organizationJson,
  SimpleOrganization,
  simpleOrganizationJson,
} from './json.ts'
import {
  asSeenBy,
  checkMember,
  checkOwner,
  findMembership,
  listAllOrganizations,
  listMembers,
  listOrganizations,
  removeMembership,
  setMemberAccess,
  setMembership,
  setMembershipPublic,
  setPrivateForking,
} from './organizations.ts'

const owning = { permission: 'members:write', scopes: ['admin:org'], org_role: 'owner' } as const
const publicly = { permission: 'any', viewer: 'optional' } as const
const own = { permission: 'members:read', scopes: ['read:org', 'user'] } as const

export const api = group('Organizations', [
  get(
    '/organizations',
    {
      ...publicly,
      operation: 'orgs/list',
      summary: 'List all organizations in the order of their ids',
      query: { since: text() },
      list: 'by cursor',
      answers: { 200: Type.Array(SimpleOrganization) },
    },
    async ({ db, query, page, wire }) => {
      const rows = await listAllOrganizations(db, readSince(query.since), page.size + 1)
      return new Answer(
        rows.slice(0, page.size).map((row) => simpleOrganizationJson(row, wire)),
        { cursors: afterId(rows, page) },
      )
    },
  ),
  get(
    '/orgs/{org}',
    {
      ...publicly,
      operation: 'orgs/get',
      summary: 'Get an organization; its members see more fields',
      optional_scopes: ['read:org'],
      answers: { 200: FullOrganization },
    },
    async ({ db, caller, org, wire }) => organizationJson(asSeenBy(caller, org), await countStanding(db, org), wire),
  ),
  patch(
    '/orgs/{org}',
    {
      operation: 'orgs/update',
      permission: 'organization_administration:write',
      summary: "Change an organization's profile",
      scopes: ['admin:org'],
      org_role: 'owner',
      body: Type.Partial(
        Type.Object({
          name: NullableString,
          description: NullableString,
          company: NullableString,
          blog: NullableString,
          location: NullableString,
          email: NullableString,
          twitter_username: NullableString,
          default_repository_permission: Type.String({ enum: ['none', 'read', 'write', 'admin'] }),
          members_can_fork_private_repositories: Type.Boolean(),
        }),
      ),
      answers: { 200: FullOrganization },
    },
    async ({ db, org, viewer, body, wire }) => {
      const {
        description,
        default_repository_permission: everyones,
        members_can_fork_private_repositories: forks,
        ...profile
      } = body
      if (everyones !== undefined) await setMemberAccess(db, viewer, org, levelOf(everyones))
      if (forks !== undefined) await setPrivateForking(db, viewer, org, forks)
      const changed = await updateProfile(db, org, { ...profile, ...(description !== undefined && { bio: description }) })
      return organizationJson({ ...changed, role: org.role }, await countStanding(db, org), wire)
    },
  ),
  get(
    '/user/orgs',
    {
      operation: 'orgs/list-for-authenticated-user',
      permission: 'any',
      summary: 'List the organizations of the caller',
      scopes: ['read:org', 'user'],
      ...listOf(SimpleOrganization),
    },
    async ({ db, viewer, page, wire }) =>
      paged(await listOrganizations(db, viewer, page, false), (row) => simpleOrganizationJson(row, wire)),
  ),
  get(
    '/users/{username}/orgs',
    {
      ...publicly,
      operation: 'orgs/list-for-user',
      summary: 'List the public organizations of a user',
      ...listOf(SimpleOrganization),
    },
    async ({ db, user, page, wire }) =>
      paged(await listOrganizations(db, user, page, true), (row) => simpleOrganizationJson(row, wire)),
  ),
  get(
    '/orgs/{org}/members',
    {
      operation: 'orgs/list-members',
      permission: 'members:read',
      summary: 'List members; non-members see public members only',
      viewer: 'optional',
      optional_scopes: ['read:org'],
      query: { role: choice('all', 'admin', 'member') },
      ...listOf(SimpleUser),
    },
    async ({ db, caller, org, query, page, wire }) =>
      paged(await listMembers(db, asSeenBy(caller, org), query.role, page), (row) => userJson(row, wire)),
  ),
  get(
    '/orgs/{org}/members/{username}',
    {
      operation: 'orgs/check-membership-for-user',
      permission: 'members:read',
      summary: 'Check whether a user is a member: 204 or 404',
      optional_scopes: ['read:org'],
      org_role: 'member',
      answers: { 204: Nothing },
    },
    async ({ db, caller, org, user }) => {
      checkMember(asSeenBy(caller, org))
      if (!(await findMembership(db, org, user))) throw missing()
    },
  ),
  del(
    '/orgs/{org}/members/{username}',
    {
      ...owning,
      operation: 'orgs/remove-member',
      summary: 'Remove a member',
      answers: { 204: Nothing },
    },
    ({ db, org, user, viewer }) => removeMembership(db, viewer, org, user),
  ),
  get(
    '/orgs/{org}/public_members',
    {
      ...publicly,
      operation: 'orgs/list-public-members',
      summary: 'List public members',
      ...listOf(SimpleUser),
    },
    async ({ db, org, page, wire }) =>
      paged(await listMembers(db, { ...org, role: null }, 'all', page), (row) => userJson(row, wire)),
  ),
  put(
    '/orgs/{org}/public_members/{username}',
    {
      operation: 'orgs/set-public-membership-for-authenticated-user',
      permission: 'members:write',
      summary: "Make the caller's membership public",
      scopes: ['write:org'],
      answers: { 204: Nothing },
    },
    ({ db, org, user, viewer }) => {
      if (user.id !== viewer.id) throw forbidden("Only the user can show or hide the user's membership.")
      return setMembershipPublic(db, org, user, true)
    },
  ),
  del(
    '/orgs/{org}/public_members/{username}',
    {
      operation: 'orgs/remove-public-membership-for-authenticated-user',
      permission: 'members:write',
      summary: "Make the caller's membership private",
      scopes: ['write:org'],
      answers: { 204: Nothing },
    },
    ({ db, org, user, viewer }) => {
      if (user.id !== viewer.id) throw forbidden("Only the user can show or hide the user's membership.")
      return setMembershipPublic(db, org, user, false)
    },
  ),
  get(
    '/orgs/{org}/memberships/{username}',
    {
      operation: 'orgs/get-membership-for-user',
      permission: 'members:read',
      summary: "Get a user's membership, for members",
      scopes: ['read:org'],
      org_role: 'member',
      answers: { 200: OrganizationMembership },
    },
    async ({ db, org, user, wire }) => {
      const membership =
        (await findMembership(db, org, user)) ??
        (org.role === 'admin' ? await findPendingMembership(db, org, user, false) : undefined)
      if (!membership) throw missing()
      return membershipJson(membership, wire)
    },
  ),
  put(
    '/orgs/{org}/memberships/{username}',
    {
      ...owning,
      operation: 'orgs/set-membership-for-user',
      summary: 'Add a member without an invitation, or change their role',
      body: Type.Object({ role: Type.Optional(Type.Unsafe<'admin' | 'member'>({ type: 'string', enum: ['admin', 'member'] })) }),
      answers: { 200: OrganizationMembership },
    },
    async ({ db, org, user, viewer, body, wire }) =>
      membershipJson(await setMembership(db, viewer, org, user, body.role ?? 'member'), wire),
  ),
  del(
    '/orgs/{org}/memberships/{username}',
    {
      operation: 'orgs/remove-membership-for-user',
      permission: 'members:write',
      summary: 'Remove a member or cancel an invitation; or leave, or decline',
      scopes: ['admin:org', 'write:org'],
      answers: { 204: Nothing },
    },
    async ({ db, org, user, viewer }) => {
      if (user.id !== viewer.id) checkOwner(org)
      if (await findMembership(db, org, user)) await removeMembership(db, viewer, org, user)
      else if (!(await endInvitations(db, org, user))) throw missing()
    },
  ),
  get(
    '/user/memberships/orgs',
    {
      ...own,
      operation: 'orgs/list-memberships-for-authenticated-user',
      summary: "List the caller's memberships, also those that the caller is invited to",
      query: { state: choice('all', 'active', 'pending') },
      ...listOf(OrganizationMembership),
    },
    async ({ db, viewer, query, page, wire }) =>
      paged(await listMemberships(db, viewer, query.state, page), (row) => membershipJson(row, wire)),
  ),
  get(
    '/user/memberships/orgs/{org}',
    {
      ...own,
      operation: 'orgs/get-membership-for-authenticated-user',
      summary: "Get the caller's membership",
      answers: { 200: OrganizationMembership },
    },
    async ({ db, org, viewer, wire }) => {
      const membership = org.role ? { org, user: viewer, role: org.role } : await findPendingMembership(db, org, viewer, true)
      if (!membership) throw missing()
      return membershipJson(membership, wire)
    },
  ),
])
