import { Answer, created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice, readSince, text } from '#http/input.ts'
import { afterId } from '#http/paging.ts'
import { checkResourceOwner } from '#http/permissions.ts'
import { Nothing, NullableString, type Wire } from '#http/serialization.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'
import { type Static, Type } from '#platform/schema.ts'
import { checkBranch, createOnDisk } from './contents.ts'
import { countNetworks, findTemplate, forkRepository, listForks, loadAncestors } from './forks.ts'
import {
  FullRepository,
  fullRepositoryJson,
  MinimalRepository,
  minimalRepositoryJson,
  RepositorySchema,
  repositoryJson,
} from './json.ts'
import { loadReceiver } from './receiver.ts'
import { listRepositories, listRepositoryNames, type Repository } from './repositories.ts'
import { deleteRepository, updateRepository } from './update.ts'

const Name = Type.String({ minLength: 1, maxLength: 100 })
const Template = Type.String({ maxLength: 100 })
const Visibility = Type.Unsafe<'public' | 'private'>({ type: 'string', enum: ['public', 'private'] })

const options = {
  description: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 350 }),
  homepage: NullableString,
  private: Type.Boolean(),
  visibility: Visibility,
  is_template: Type.Boolean(),
  has_issues: Type.Boolean(),
  has_projects: Type.Boolean(),
  has_wiki: Type.Boolean(),
  allow_rebase_merge: Type.Boolean(),
  allow_squash_merge: Type.Boolean(),
  allow_merge_commit: Type.Boolean(),
  allow_forking: Type.Boolean(),
}

const NewRepositoryBody = Type.Object({
  name: Name,
  ...Type.Partial(
    Type.Object({ ...options, auto_init: Type.Boolean(), license_template: Template, gitignore_template: Template }),
  ).properties,
})

const creating = {
  permission: 'administration:write',
  scopes: ['public_repo', 'repo'],
  body: NewRepositoryBody,
  own_transaction: true,
  answers: { 201: FullRepository },
} as const

export async function whole(db: Queryable, viewer: Viewer, repo: Repository, wire: Wire) {
  // One after the other, because a transaction runs one statement at a time. Most repositories need none of them.
  const counts = await countNetworks(db, viewer, [repo])
  const ancestors = await loadAncestors(db, viewer, repo)
  const template = await findTemplate(db, viewer, repo)
  return fullRepositoryJson(repo, { network_count: counts.get(repo.network_id) ?? 1, ancestors, template }, wire)
}

/** A token with `public_repo` only cannot create a private repository. */
export function checkScope(may: (scope: string) => boolean, wanted: { private?: boolean; visibility?: string }) {
  if ((wanted.private || wanted.visibility === 'private') && !may('repo')) throw forbidden("Missing the 'repo' scope.")
}

const asNew = ({ visibility, ...rest }: Static<typeof NewRepositoryBody>) =>
  visibility ? { ...rest, private: visibility === 'private' } : rest

const sorts: Record<string, Sql> = {
  full_name: sql`lower(o.login), lower(r.name)`,
  created: sql`r.created_at, r.id`,
  updated: sql`r.updated_at, r.id`,
  pushed: sql`r.pushed_at, r.id`,
}
const backwards: Record<string, Sql> = {
  full_name: sql`lower(o.login) desc, lower(r.name) desc`,
  created: sql`r.created_at desc, r.id desc`,
  updated: sql`r.updated_at desc, r.id desc`,
  pushed: sql`r.pushed_at desc nulls last, r.id desc`,
}
const sorting = { sort: choice('full_name', 'created', 'updated', 'pushed'), direction: choice('', 'asc', 'desc') }

/** Names ascend and dates descend by default. */
function orderOf({ sort, direction }: { sort: string; direction: string }): Sql {
  const down = direction === 'desc' || (direction === '' && sort !== 'full_name')
  return (down ? backwards : sorts)[sort] ?? sql`r.id`
}

export const api = group('Repositories', [
  get(
    '/repositories',
    {
      operation: 'repos/list-public',
      permission: 'any',
      viewer: 'optional',
      replicated: true,
      summary: 'List all public repositories in the order of their ids',
      query: { since: text() },
      list: 'by cursor',
      answers: { 200: Type.Array(MinimalRepository) },
    },
    async ({ db, query, page, wire }) => {
      const everyone = { viewer_id: null, sees_private: false }
      const slice = { limit: page.size + 1, offset: 0 }
      const after = sql`r.id > ${readSince(query.since)}`
      const { rows } = await listRepositoryNames(db, everyone, after, sql`r.id`, slice)
      return new Answer(
        rows.slice(0, page.size).map((row) => minimalRepositoryJson(row, wire)),
        { cursors: afterId(rows, page) },
      )
    },
  ),
  get(
    '/repos/{owner}/{repo}',
    {
      operation: 'repos/get',
      permission: 'metadata:read',
      summary: 'Get a repository',
      viewer: 'optional',
      optional_scopes: ['repo'],
      answers: { 200: FullRepository },
    },
    ({ db, caller, repo, wire }) => whole(db, caller, repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}',
    {
      operation: 'repos/update',
      permission: 'administration:write',
      summary: 'Change a repository; a former name redirects to it',
      scopes: ['public_repo', 'repo'],
      access: 'admin',
      body: Type.Partial(
        Type.Object({
          name: Name,
          ...options,
          archived: Type.Boolean(),
          default_branch: Type.String({ minLength: 1, maxLength: 255 }),
        }),
      ),
      own_transaction: true,
      answers: { 200: FullRepository },
    },
    async ({ db, storage, caller, viewer, repo, body, wire }) => {
      checkScope(caller.may, body)
      const { default_branch = repo.default_branch } = body
      if (default_branch !== repo.default_branch) await checkBranch(storage, repo, default_branch)
      const changed = await db.transaction((transaction) => updateRepository(transaction, caller, viewer, repo, body))
      return whole(db, caller, changed, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}',
    {
      operation: 'repos/delete',
      permission: 'administration:write',
      summary: 'Delete a repository; its public forks remain',
      scopes: ['delete_repo'],
      access: 'admin',
      answers: { 204: Nothing },
    },
    ({ db, viewer, repo }) => deleteRepository(db, viewer, repo),
  ),
  get(
    '/repos/{owner}/{repo}/forks',
    {
      operation: 'repos/list-forks',
      permission: 'metadata:read',
      summary: 'List the forks of a repository',
      viewer: 'optional',
      replicated: true,
      query: { sort: choice('newest', 'oldest', 'stargazers', 'watchers') },
      ...listOf(RepositorySchema),
    },
    async ({ db, caller, repo, query, page, wire }) =>
      paged(await listForks(db, caller, repo, query.sort, page), (row) => repositoryJson(row, wire, true)),
  ),
  post(
    '/repos/{owner}/{repo}/forks',
    {
      operation: 'repos/create-fork',
      permission: 'administration:write',
      summary: 'Fork a repository; a background job copies its contents',
      scopes: ['public_repo', 'repo'],
      body: Type.Partial(Type.Object({ organization: Type.String(), name: Name, default_branch_only: Type.Boolean() })),
      answers: { 202: FullRepository },
    },
    async ({ db, caller, viewer, repo, body, wire }) => {
      const owner = body.organization === undefined ? viewer : await loadReceiver(db, viewer, body.organization)
      checkResourceOwner(caller, owner)
      const fork = await forkRepository(db, caller, repo, viewer, owner, body)
      return whole(db, caller, fork, wire)
    },
  ),
  get(
    '/user/repos',
    {
      operation: 'repos/list-for-authenticated-user',
      permission: 'metadata:read',
      summary: 'List the repositories to which the caller has access by name',
      optional_scopes: ['repo'],
      query: {
        ...sorting,
        visibility: choice('all', 'public', 'private'),
        type: choice('all', 'owner', 'public', 'private', 'member'),
      },
      ...listOf(RepositorySchema),
    },
    async ({ db, caller, viewer, query, page, wire }) => {
      const shown = query.type === 'public' || query.type === 'private' ? query.type : query.visibility
      const mine = sql`
        ((r.owner_id = ${viewer.id} and ${query.type !== 'member'}::boolean)
          or (${query.type !== 'owner'}::boolean and (
            r.owner_id in (select org_id from memberships where user_id = ${viewer.id})
            or r.id in (select repo_id from collaborators where user_id = ${viewer.id}))))
        and (${shown} = 'all' or r.private = (${shown} = 'private'))`
      return paged(await listRepositories(db, caller, mine, orderOf(query), page), (row) => repositoryJson(row, wire, true))
    },
  ),
  post(
    '/user/repos',
    {
      ...creating,
      operation: 'repos/create-for-authenticated-user',
      summary: 'Create a repository for the caller',
    },
    async ({ db, storage, caller, viewer, body, wire }) => {
      checkScope(caller.may, body)
      const repo = await createOnDisk(db, storage, caller, viewer, viewer, asNew(body))
      return created(await whole(db, caller, repo, wire))
    },
  ),
  get(
    '/users/{username}/repos',
    {
      operation: 'repos/list-for-user',
      permission: 'any',
      summary: 'List the repositories of a user that the caller can see',
      viewer: 'optional',
      replicated: true,
      query: sorting,
      ...listOf(RepositorySchema),
    },
    async ({ db, caller, user, query, page, wire }) =>
      paged(await listRepositories(db, caller, sql`r.owner_id = ${user.id}`, orderOf(query), page), (row) =>
        repositoryJson(row, wire, true),
      ),
  ),
  get(
    '/orgs/{org}/repos',
    {
      operation: 'repos/list-for-org',
      permission: 'metadata:read',
      summary: 'List the repositories of an organization that the caller can see',
      viewer: 'optional',
      replicated: true,
      query: { sort: choice('created', 'updated', 'pushed', 'full_name'), direction: choice('', 'asc', 'desc') },
      ...listOf(RepositorySchema),
    },
    async ({ db, caller, org, query, page, wire }) =>
      paged(await listRepositories(db, caller, sql`r.owner_id = ${org.id}`, orderOf(query), page), (row) =>
        repositoryJson(row, wire, true),
      ),
  ),
  post(
    '/orgs/{org}/repos',
    {
      ...creating,
      operation: 'repos/create-in-org',
      summary: 'Create a repository in an organization, as a member',
      org_role: 'member',
    },
    async ({ db, storage, caller, org, viewer, body, wire }) => {
      checkScope(caller.may, body)
      const repo = await createOnDisk(db, storage, caller, org, viewer, asNew(body))
      return created(await whole(db, caller, repo, wire))
    },
  ),
])
