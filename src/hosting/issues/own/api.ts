import { filters } from '#hosting/issues/api.ts'
import { type Issue, listOwnIssues, type OwnIssueFilter } from '#hosting/issues/issues.ts'
import { IssueSchema, issueJson } from '#hosting/issues/json.ts'
import { RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import { Answer, type BaseContext, get, group, listOf } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { type Database, empty, type Sql, sql } from '#platform/database.ts'
import { Type } from '#platform/schema.ts'

const IssueAnywhere = Type.Object({ ...IssueSchema.properties, repository: RepositorySchema }, { title: 'IssueAnywhere' })

const listing = {
  permission: 'issues:read',
  scopes: ['public_repo', 'repo'],
  query: { filter: choice('assigned', 'created', 'mentioned', 'subscribed', 'all'), ...filters },
  ...listOf(IssueAnywhere),
} as const

type Context = BaseContext & { db: Database; viewer: { id: number }; query: OwnIssueFilter }

async function list({ db, caller, viewer, query, page, wire }: Context, among?: Sql) {
  const { rows, total } = await listOwnIssues(db, { ...caller, viewer_id: viewer.id }, query, page, among)
  const repos = await readRepositories(db, viewer.id, [...new Set(rows.map(({ repo_id }) => repo_id))])
  const write = (issue: Issue) =>
    repos
      .filter(({ id }) => id === issue.repo_id)
      .map((repo) => ({ ...issueJson(issue, repo, wire), repository: repositoryJson(repo, wire, true) }))
  return new Answer(rows.flatMap(write), { total })
}

const flag = () => choice('', 'true', 'false')
const places = { owned: flag(), orgs: flag(), collab: flag() }

/** The repositories that are asked for: the caller's own, those of organizations, and those that the caller is a collaborator of. */
function inPlaces(viewer: { id: number }, query: Record<keyof typeof places | 'pulls', string>): Sql {
  const conditions = {
    owned: sql`r.owner_id = ${viewer.id}`,
    orgs: sql`r.owner_id in (select a.id from accounts a where a.type = 'Organization')`,
    collab: sql`r.id in (select c.repo_id from collaborators c where c.user_id = ${viewer.id})`,
  }
  const wanted = (Object.keys(conditions) as (keyof typeof places)[]).filter((name) => query[name] === 'true')
  const either = wanted.map((name) => conditions[name]).reduce((one, other) => sql`${one} or ${other}`, sql`false`)
  return sql`${wanted.length ? sql`and (${either})` : empty} ${query.pulls === 'true' ? sql`and p.id is not null` : empty}`
}

export const api = group('Your issues', [
  get(
    '/issues',
    {
      ...listing,
      operation: 'issues/list',
      summary:
        'List issues that the caller is assigned to, opened, is mentioned in or subscribed to, in all visible repositories',
      query: { ...listing.query, ...places, pulls: flag() },
    },
    (context) => list(context, inPlaces(context.viewer, context.query)),
  ),
  get(
    '/user/issues',
    {
      ...listing,
      operation: 'issues/list-for-authenticated-user',
      summary: 'List the same issues of repositories that the caller owns or has access to by name',
    },
    (context) => list(context, sql`and ${hasAccessByName({ ...context.caller, viewer_id: context.viewer.id })}`),
  ),
  get(
    '/orgs/{org}/issues',
    { ...listing, operation: 'issues/list-for-org', summary: 'List the same issues of repositories of an organization' },
    (context) => list(context, sql`and r.owner_id = ${context.org.id}`),
  ),
])
