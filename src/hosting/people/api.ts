import { Answer, del, get, group, listOf, paged, patch, put } from '#http/endpoint.ts'
import { readSince, text } from '#http/input.ts'
import { afterId } from '#http/paging.ts'
import { Nothing, NullableBoolean, NullableString } from '#http/serialization.ts'
import { loadUser } from '#identity/accounts.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { AuthenticatedUser, ownUserJson, PublicUser, publicUserJson, SimpleUser, userJson } from './json.ts'
import {
  countStanding,
  follow,
  isFollowing,
  listAccounts,
  listFollowers,
  listFollowing,
  unfollow,
  updateProfile,
} from './people.ts'

const following = { permission: 'followers:write', scopes: ['user:follow'] } as const

const Profile = Type.Partial(
  Type.Object({
    name: NullableString,
    email: NullableString,
    blog: NullableString,
    company: NullableString,
    location: NullableString,
    bio: NullableString,
    twitter_username: NullableString,
    hireable: NullableBoolean,
  }),
)

const publicly = { permission: 'any', viewer: 'optional' } as const
export const api = group('People', [
  get(
    '/user',
    {
      operation: 'users/get-authenticated',
      permission: 'any',
      summary: 'Get the caller; with the user scope, private fields too',
      optional_scopes: ['read:user', 'user'],
      kept: true,
      answers: { 200: AuthenticatedUser },
    },
    async ({ db, viewer, caller, wire, cached }) => {
      const counts = await cached(`standing ${viewer.id}`, () => countStanding(db, viewer))
      return caller.may('read:user') ? ownUserJson(viewer, counts, wire) : publicUserJson(viewer, counts, wire)
    },
  ),
  patch(
    '/user',
    {
      operation: 'users/update-authenticated',
      permission: 'profile:write',
      summary: "Change the caller's profile",
      scopes: ['user'],
      body: Profile,
      answers: { 200: AuthenticatedUser },
    },
    async ({ db, viewer, body, wire }) => {
      const user = await updateProfile(db, viewer, body)
      return ownUserJson(user, await countStanding(db, user), wire)
    },
  ),
  get(
    '/users',
    {
      ...publicly,
      operation: 'users/list',
      summary: 'List users and organizations in the order of their ids',
      query: { since: text() },
      list: 'by cursor',
      answers: { 200: Type.Array(SimpleUser) },
    },
    async ({ db, query, page, wire }) => {
      const rows = await listAccounts(db, readSince(query.since), page.size + 1)
      return new Answer(
        rows.slice(0, page.size).map((row) => userJson(row, wire)),
        { cursors: afterId(rows, page) },
      )
    },
  ),
  get(
    '/users/{username}',
    {
      ...publicly,
      operation: 'users/get-by-username',
      summary: 'Get a user or an organization',
      answers: { 200: PublicUser },
    },
    async ({ db, user, wire }) => publicUserJson(user, await countStanding(db, user), wire),
  ),
  get(
    '/users/{username}/followers',
    {
      ...publicly,
      operation: 'users/list-followers-for-user',
      summary: 'List the followers of a user',
      ...listOf(SimpleUser),
    },
    async ({ db, user, page, wire }) => paged(await listFollowers(db, user, page), (row) => userJson(row, wire)),
  ),
  get(
    '/users/{username}/following',
    {
      ...publicly,
      operation: 'users/list-following-for-user',
      summary: 'List the users whom a user follows',
      ...listOf(SimpleUser),
    },
    async ({ db, user, page, wire }) => paged(await listFollowing(db, user, page), (row) => userJson(row, wire)),
  ),
  get(
    '/users/{username}/following/{target_user}',
    {
      ...publicly,
      operation: 'users/check-following-for-user',
      summary: 'Check whether a user follows another: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, user, params }) => {
      if (!(await isFollowing(db, user, await loadUser(db, params.target_user)))) throw missing()
    },
  ),
  get(
    '/user/followers',
    {
      operation: 'users/list-followers-for-authenticated-user',
      permission: 'followers:read',
      summary: 'List the followers of the caller',
      ...listOf(SimpleUser),
    },
    async ({ db, viewer, page, wire }) => paged(await listFollowers(db, viewer, page), (row) => userJson(row, wire)),
  ),
  get(
    '/user/following',
    {
      operation: 'users/list-followed-by-authenticated-user',
      permission: 'followers:read',
      summary: 'List the users whom the caller follows',
      ...listOf(SimpleUser),
    },
    async ({ db, viewer, page, wire }) => paged(await listFollowing(db, viewer, page), (row) => userJson(row, wire)),
  ),
  get(
    '/user/following/{username}',
    {
      operation: 'users/check-person-is-followed-by-authenticated',
      permission: 'followers:read',
      summary: 'Check whether the caller follows a user: 204 or 404',
      answers: { 204: Nothing },
    },
    async ({ db, viewer, user }) => {
      if (!(await isFollowing(db, viewer, user))) throw missing()
    },
  ),
  put(
    '/user/following/{username}',
    {
      ...following,
      operation: 'users/follow',
      summary: 'Follow a user',
      answers: { 204: Nothing },
    },
    ({ db, viewer, user }) => follow(db, viewer, user),
  ),
  del(
    '/user/following/{username}',
    {
      ...following,
      operation: 'users/unfollow',
      summary: 'Unfollow a user',
      answers: { 204: Nothing },
    },
    ({ db, viewer, user }) => unfollow(db, viewer, user),
  ),
])
