import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Answer, get, group } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { type Contributor, countLanguages, listContributors } from './statistics.ts'

const reads = { permission: 'metadata:read', viewer: 'optional', optional_scopes: ['repo'] } as const

const ContributorSchema = Type.Object(
  {
    ...Type.Partial(SimpleUser).properties,
    type: Type.String(),
    contributions: Type.Integer(),
    name: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
  },
  { title: 'Contributor' },
)

const Languages = Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: { type: 'integer' } })

const contributorJson = (contributor: Contributor, wire: Wire) =>
  'person' in contributor
    ? { ...userJson(contributor.person, wire), contributions: contributor.contributions }
    : { type: 'Anonymous', ...contributor }

export const api = group('Statistics', [
  get(
    '/repos/{owner}/{repo}/languages',
    {
      ...reads,
      operation: 'repos/list-languages',
      summary: 'The bytes of each language in the default branch',
      answers: { 200: Languages },
    },
    ({ storage, repo }) => countLanguages(storage, repo),
  ),
  get(
    '/repos/{owner}/{repo}/contributors',
    {
      ...reads,
      operation: 'repos/list-contributors',
      summary: 'List the authors of the default branch by their commits; with `anon`, also those without an account',
      query: { anon: text() },
      list: true,
      answers: { 200: Type.Array(ContributorSchema), 204: Nothing },
    },
    async ({ db, storage, repo, query, page, wire }) => {
      const all = await listContributors(db, storage, repo, /^(1|true)$/.test(query.anon))
      if (!all) return new Answer<never>(undefined as never, { status: 204 })
      const shown = all.slice(page.offset, page.offset + page.limit)
      return new Answer(
        shown.map((contributor) => contributorJson(contributor, wire)),
        { total: all.length },
      )
    },
  ),
])
