import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { MinimalRepository, minimalRepositoryJson } from '#hosting/repositories/json.ts'
import { del, get, group, paged, put } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { RepositorySubscription, subscriptionJson } from './json.ts'
import { endSubscription, findSubscription, listWatched, listWatchers, setSubscription } from './watching.ts'

const scopes = ['notifications', 'repo'] as const

export const api = group('Watching', [
  get(
    '/repos/{owner}/{repo}/subscribers',
    {
      operation: 'activity/list-watchers-for-repo',
      permission: 'metadata:read',
      summary: 'List watchers of a repository',
      viewer: 'optional',
      replicated: true,
      optional_scopes: ['repo'],
      list: true,
      answers: { 200: Type.Array(SimpleUser) },
    },
    async ({ db, repo, page, wire }) => paged(await listWatchers(db, repo, page), (row) => userJson(row, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/subscription',
    {
      operation: 'activity/get-repo-subscription',
      permission: 'watching:read',
      summary: 'Get the subscription of the caller to a repository; 404 if there is none',
      scopes,
      answers: { 200: RepositorySubscription },
    },
    async ({ db, viewer, repo, wire }) => {
      const subscription = await findSubscription(db, viewer, repo)
      if (!subscription) throw missing()
      return subscriptionJson(subscription, repo, wire)
    },
  ),
  put(
    '/repos/{owner}/{repo}/subscription',
    {
      operation: 'activity/set-repo-subscription',
      permission: 'watching:write',
      summary: 'Watch or ignore a repository',
      scopes,
      body: Type.Partial(Type.Object({ subscribed: Type.Boolean(), ignored: Type.Boolean() })),
      answers: { 200: RepositorySubscription },
    },
    async ({ db, viewer, repo, body, wire }) => subscriptionJson(await setSubscription(db, viewer, repo, body), repo, wire),
  ),
  del(
    '/repos/{owner}/{repo}/subscription',
    {
      operation: 'activity/delete-repo-subscription',
      permission: 'watching:write',
      summary: 'End the subscription to a repository',
      scopes,
      answers: { 204: Nothing },
    },
    ({ db, viewer, repo }) => endSubscription(db, viewer, repo),
  ),
  get(
    '/user/subscriptions',
    {
      operation: 'activity/list-watched-repos-for-authenticated-user',
      permission: 'watching:read',
      summary: 'List repositories watched by the caller',
      optional_scopes: ['repo'],
      list: true,
      answers: { 200: Type.Array(MinimalRepository) },
    },
    async ({ db, caller, viewer, page, wire }) =>
      paged(await listWatched(db, caller, viewer, page), (row) => minimalRepositoryJson(row, wire)),
  ),
  get(
    '/user/subscriptions/{owner}/{repo}',
    {
      operation: 'activity/check-repo-is-watched-legacy',
      permission: 'watching:read',
      summary: 'Check whether the caller watches a repository: 204 or 404',
      scopes,
      answers: { 204: Nothing },
    },
    async ({ db, viewer, repo }) => {
      if (!(await findSubscription(db, viewer, repo))?.subscribed) throw missing()
    },
  ),
  put(
    '/user/subscriptions/{owner}/{repo}',
    {
      operation: 'activity/watch-repo-legacy',
      permission: 'watching:write',
      summary: 'Watch a repository',
      scopes,
      answers: { 204: Nothing },
    },
    async ({ db, viewer, repo }) => {
      await setSubscription(db, viewer, repo, {})
    },
  ),
  del(
    '/user/subscriptions/{owner}/{repo}',
    {
      operation: 'activity/stop-watching-repo-legacy',
      permission: 'watching:write',
      summary: 'Stop watching a repository',
      scopes,
      answers: { 204: Nothing },
    },
    ({ db, viewer, repo }) => endSubscription(db, viewer, repo),
  ),
  get(
    '/users/{username}/subscriptions',
    {
      operation: 'activity/list-repos-watched-by-user',
      permission: 'watching:read',
      summary: 'List repositories watched by a user that the caller may see',
      viewer: 'optional',
      replicated: true,
      optional_scopes: ['repo'],
      list: true,
      answers: { 200: Type.Array(MinimalRepository) },
    },
    async ({ db, caller, user, page, wire }) =>
      paged(await listWatched(db, caller, user, page), (row) => minimalRepositoryJson(row, wire)),
  ),
])
