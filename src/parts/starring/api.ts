import { del, get, group, paged, put } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { StargazerList, StarredList, stargazerJson, starredJson } from './json.ts'
import { hasStarred, listStargazers, listStarred, star, unstar } from './starring.ts'

const starred = {
  permission: 'starring:read',
  optional_scopes: ['repo'],
  query: { sort: choice('created', 'updated'), direction: choice('desc', 'asc') },
  list: true,
  answers: { 200: StarredList },
} as const
const writes = {
  permission: 'starring:write',
  scopes: ['public_repo', 'repo'],
  own_transaction: true,
  answers: { 204: Nothing },
} as const

export const api = group('Starring', [
  get(
    '/repos/{owner}/{repo}/stargazers',
    {
      operation: 'activity/list-stargazers-for-repo',
      permission: 'metadata:read',
      summary: 'List stargazers of a repository, oldest star first; the media type `star` adds the time',
      viewer: 'optional',
      replicated: true,
      optional_scopes: ['repo'],
      list: true,
      answers: { 200: StargazerList },
    },
    async ({ db, repo, page, wire, dialect }) =>
      paged(await listStargazers(db, repo, page), (row) => stargazerJson(row, wire, dialect.media.has('star'))),
  ),
  get(
    '/repos/{owner}/{repo}/stargazers/count',
    {
      operation: 'activity/get-stargazer-count-for-repo',
      permission: 'metadata:read',
      summary: 'Get the number of stargazers of a repository',
      viewer: 'optional',
      optional_scopes: ['repo'],
      answers: { 200: Type.Object({ count: Type.Integer() }) },
    },
    ({ repo }) => ({ count: repo.stargazers_count }),
  ),
  get(
    '/user/starred',
    {
      ...starred,
      operation: 'activity/list-repos-starred-by-authenticated-user',
      summary: 'List repositories starred by the caller; the media type `star` adds the time',
    },
    async ({ db, caller, viewer, query, page, wire, dialect }) =>
      paged(await listStarred(db, caller, viewer, query, page), (row) => starredJson(row, wire, dialect.media.has('star'))),
  ),
  get(
    '/users/{username}/starred',
    {
      ...starred,
      operation: 'activity/list-repos-starred-by-user',
      summary: 'List repositories starred by a user that the caller may see; the media type `star` adds the time',
      viewer: 'optional',
      replicated: true,
    },
    async ({ db, caller, user, query, page, wire, dialect }) =>
      paged(await listStarred(db, caller, user, query, page), (row) => starredJson(row, wire, dialect.media.has('star'))),
  ),
  get(
    '/user/starred/{owner}/{repo}',
    {
      operation: 'activity/check-repo-is-starred-by-authenticated-user',
      permission: 'starring:read',
      summary: 'Check whether the caller has starred a repository: 204 or 404',
      optional_scopes: ['repo'],
      answers: { 204: Nothing },
    },
    async ({ db, viewer, repo }) => {
      if (!(await hasStarred(db, viewer, repo))) throw missing()
    },
  ),
  put(
    '/user/starred/{owner}/{repo}',
    {
      ...writes,
      operation: 'activity/star-repo-for-authenticated-user',
      summary: 'Star a repository',
    },
    ({ db, viewer, repo }) => star(db, viewer, repo),
  ),
  del(
    '/user/starred/{owner}/{repo}',
    {
      ...writes,
      operation: 'activity/unstar-repo-for-authenticated-user',
      summary: 'Unstar a repository; 204 also without a star',
    },
    ({ db, viewer, repo }) => unstar(db, viewer, repo),
  ),
])
