import type { Belfry } from '#belfry.ts'
import { Address, slimVersion, type Wire } from '#http/serialization.ts'
import type { Caller } from '#identity/callers.ts'
import { type Static, Type } from '#platform/schema.ts'
import { standardRateLimit } from '#variants.ts'
import { changed, type Group, get, group } from './endpoint.ts'
import { text } from './input.ts'
import { Represented } from './media.ts'
import type { Allowance } from './rate-limit.ts'

const url = Address
const Root = Type.Object(
  {
    current_user_url: url,
    current_user_authorizations_html_url: url,
    authorizations_url: Type.Optional(url),
    code_search_url: url,
    commit_search_url: url,
    emails_url: url,
    emojis_url: url,
    events_url: url,
    feeds_url: url,
    followers_url: url,
    following_url: url,
    gists_url: url,
    issue_search_url: url,
    issues_url: url,
    keys_url: url,
    label_search_url: url,
    notifications_url: url,
    organization_url: url,
    organization_repositories_url: url,
    organization_teams_url: url,
    public_gists_url: url,
    rate_limit_url: url,
    repository_url: url,
    repository_search_url: url,
    current_user_repositories_url: url,
    starred_url: url,
    starred_gists_url: url,
    topic_search_url: url,
    user_url: url,
    user_organizations_url: url,
    user_repositories_url: url,
    user_search_url: url,
  },
  { title: 'Root' },
)

function rootJson({ api, web, version }: Wire): Static<typeof Root> {
  return {
    current_user_url: `${api}/user`,
    current_user_authorizations_html_url: `${web}/settings/connections/applications{/client_id}`,
    ...(version < slimVersion && { authorizations_url: `${api}/authorizations` }),
    code_search_url: `${api}/search/code?q={query}{&page,per_page,sort,order}`,
    commit_search_url: `${api}/search/commits?q={query}{&page,per_page,sort,order}`,
    emails_url: `${api}/user/emails`,
    emojis_url: `${api}/emojis`,
    events_url: `${api}/events`,
    feeds_url: `${api}/feeds`,
    followers_url: `${api}/user/followers`,
    following_url: `${api}/user/following{/target}`,
    gists_url: `${api}/gists{/gist_id}`,
    issue_search_url: `${api}/search/issues?q={query}{&page,per_page,sort,order}`,
    issues_url: `${api}/issues`,
    keys_url: `${api}/user/keys`,
    label_search_url: `${api}/search/labels?q={query}&repository_id={repository_id}{&page,per_page}`,
    notifications_url: `${api}/notifications`,
    organization_url: `${api}/orgs/{org}`,
    organization_repositories_url: `${api}/orgs/{org}/repos{?type,page,per_page,sort}`,
    organization_teams_url: `${api}/orgs/{org}/teams`,
    public_gists_url: `${api}/gists/public`,
    rate_limit_url: `${api}/rate_limit`,
    repository_url: `${api}/repos/{owner}/{repo}`,
    repository_search_url: `${api}/search/repositories?q={query}{&page,per_page,sort,order}`,
    current_user_repositories_url: `${api}/user/repos{?type,page,per_page,sort}`,
    starred_url: `${api}/user/starred{/owner}{/repo}`,
    starred_gists_url: `${api}/gists/starred`,
    topic_search_url: `${api}/search/topics?q={query}{&page,per_page}`,
    user_url: `${api}/users/{user}`,
    user_organizations_url: `${api}/user/orgs`,
    user_repositories_url: `${api}/users/{user}/repos{?type,page,per_page,sort}`,
    user_search_url: `${api}/search/users?q={query}{&page,per_page,sort,order}`,
  }
}

const Rate = Type.Object({ limit: Type.Integer(), remaining: Type.Integer(), reset: Type.Integer(), used: Type.Integer() })
const RateLimits = Type.Object(
  {
    resources: Type.Object({
      core: Rate,
      search: Rate,
      graphql: Rate,
      integration_manifest: Rate,
      source_import: Rate,
      code_search: Rate,
    }),
    rate: Type.Optional(Rate),
  },
  { title: 'RateLimits' },
)

/** Some clients fail if one of these is missing. Nothing is counted against them. */
const uncounted = { search: 30, graphql: 5000, integration_manifest: 5000, source_import: 100, code_search: 10 }

function rateLimitsJson({ limit, used, reset }: Allowance) {
  const rate = (most: number, counted = 0) => ({
    limit: most,
    remaining: Math.max(0, most - counted),
    reset,
    used: Math.min(counted, most),
  })
  const others = Object.entries(uncounted).map(([name, most]) => [name, rate(most)])
  return { core: rate(limit, used), ...(Object.fromEntries(others) as Record<keyof typeof uncounted, Static<typeof Rate>>) }
}

/** Where requests are not limited, clients still get numbers to plan with. */
const unlimited = (caller: Caller, now: Date): Allowance => ({
  limit: standardRateLimit[caller.user ? 'user' : 'anonymous'],
  used: 0,
  reset: Math.ceil(now.getTime() / 1000) + 3600,
})

const Overview = Type.Object(
  {
    verifiable_password_authentication: Type.Boolean(),
    installed_version: Type.Optional(Type.String()),
    domains: Type.Object({ website: Type.Array(Type.String()) }),
  },
  { title: 'ApiOverview' },
)

const maxims = [
  'One act, published once, is seen everywhere.',
  'A list without an end needs a page.',
  'Measure before you mend.',
  'What nobody may see is not there.',
  'A retry is a promise kept late.',
]

/** A bell with a line below it. */
const bell = (line: string) => `
        _
       ( )
      /   \\
     /     \\
    /       \\
   /_________\\
       (_)

  ${line}
`

export function metaApi({ started_at }: Belfry): Group {
  return group('Meta', [
    get(
      '/',
      {
        operation: 'meta/root',
        permission: 'any',
        summary: 'Get the addresses of the API',
        viewer: 'optional',
        kept: 'for good',
        answers: { 200: Root },
      },
      ({ wire }) => changed(rootJson(wire), started_at),
    ),
    get(
      '/meta',
      {
        operation: 'meta/get',
        permission: 'any',
        summary: 'Get facts about this server',
        viewer: 'optional',
        answers: { 200: Overview },
      },
      ({ wire, variant }) => ({
        verifiable_password_authentication: true,
        ...(variant.documented_as && { installed_version: variant.documented_as }),
        domains: { website: [new URL(wire.web).host] },
      }),
    ),
    get(
      '/zen',
      {
        operation: 'meta/get-zen',
        permission: 'any',
        summary: 'Get a maxim',
        viewer: 'optional',
        media: ['text/plain'],
        answers: { 200: Type.String() },
      },
      ({ db }) => new Represented('text/plain', maxims[db.now.getSeconds() % maxims.length] ?? ''),
    ),
    get(
      '/octocat',
      {
        operation: 'meta/get-octocat',
        permission: 'any',
        summary: 'Get a picture in characters, with a line of your own',
        viewer: 'optional',
        query: { s: text() },
        media: ['text/plain'],
        answers: { 200: Type.String() },
      },
      ({ query }) => new Represented('text/plain', bell(query.s.slice(0, 200) || (maxims[0] ?? ''))),
    ),
    get(
      '/versions',
      {
        operation: 'meta/get-all-versions',
        permission: 'any',
        summary: 'List the API versions',
        viewer: 'optional',
        served: (variant) => variant.api_versions.length > 0,
        answers: { 200: Type.Array(Type.String()) },
      },
      ({ variant }) => [...variant.api_versions],
    ),
    get(
      '/rate_limit',
      {
        operation: 'rate-limit/get',
        permission: 'any',
        summary: "Get the caller's rate limit; this request does not count",
        viewer: 'optional',
        answers: { 200: RateLimits },
      },
      ({ db, allowance, caller, wire }) => {
        const resources = rateLimitsJson(allowance ?? unlimited(caller, db.now))
        return { resources, ...(wire.version < slimVersion && { rate: resources.core }) }
      },
    ),
  ])
}
