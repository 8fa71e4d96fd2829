import { listOrganizations } from '#hosting/organizations/organizations.ts'
import { listOwned } from '#hosting/repositories/owned.ts'
import { isNumbered } from '#http/endpoint.ts'
import { queryParameters } from '#http/openapi.ts'
import type { Account } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { exampleBody, schemaOf } from './examples.ts'
import { type Entry, pathNames } from './reference.ts'
import { fillPath, queryText, type Sample } from './snippets.ts'

/** What a visitor typed to try an operation. */
export interface Trial {
  names: Sample['names']
  query: Sample['query']
  /** JSON, as it was typed. */
  body: string
}

export const pathField = (name: string) => `path.${name}`
export const queryField = (name: string) => `query.${name}`

export function readTrial(entry: Entry, form: URLSearchParams): Trial {
  const query = queryParameters(entry.endpoint, entry.variant).map(({ name }): [string, string] => [
    name,
    form.get(queryField(name)) ?? '',
  ])
  return {
    names: pathNames(entry).map((name) => [name, form.get(pathField(name)) ?? '']),
    query: query.filter(([, value]) => value !== ''),
    body: entry.endpoint.body ? (form.get('body') ?? '').trim() : '',
  }
}

/** The address of the request on its listener. No value can lead to another route: each stays within its part of the path. */
export function urlOf({ endpoint, variant }: Entry, { names, query }: Trial): string {
  for (const [name, value] of names) {
    if (value === '') throw new Refusal('invalid', `Fill in ${name}.`)
    if (value.split('/').some((part) => part === '.' || part === '..'))
      throw new Refusal('invalid', `A part of ${name} cannot be “.” or “..”, because it would change the path.`)
  }
  const path = `${variant.prefix}${fillPath(endpoint.path, names)}`
  if (new URL(path, 'http://localhost').pathname !== path) throw new Refusal('invalid', 'A value changes the path.')
  return `${path}${queryText(query)}`
}

/** Why an operation cannot be tried on its page; undefined if it can. */
export function whyNot({ endpoint: { viewer, streamed, raw_body } }: Entry, visitor: Account): string | undefined {
  if (viewer === 'password') return 'This operation needs your password, which this page does not send.'
  if (viewer === 'client') return 'This operation needs the secret of an OAuth application, which this page does not know.'
  if (viewer === 'app') return 'This operation needs a key of an app, which this page does not know.'
  if (viewer === 'installation') return 'This operation needs the token of an installation of an app.'
  if (viewer === 'classic_token')
    return 'This operation needs a personal access token (classic), and you are here with a session.'
  if (viewer === 'site_admin' && !visitor.site_admin) return 'This operation is for site administrators only.'
  if (streamed) return 'The response of this operation is a stream without an end.'
  return raw_body ? 'This operation takes a file, which this page does not send.' : undefined
}

/** Values with which a visitor can start: their own login, and the repository that they pushed to last. */
export async function firstTrial(db: Queryable, visitor: Account, entry: Entry): Promise<Trial> {
  const wanted = pathNames(entry)
  const viewer = { viewer_id: visitor.id, sees_private: true }
  const one = { limit: 1, offset: 0 }
  const own = wanted.includes('repo')
    ? (await listOwned(db, viewer, visitor, { find: '', type: 'all', language: '', sort: 'updated' }, one)).rows[0]
    : undefined
  const org = wanted.includes('org') ? (await listOrganizations(db, visitor, one, false)).rows[0] : undefined
  const branch = own?.default_branch ?? 'main'
  const { login } = visitor
  const known: Record<string, string | undefined> = {
    owner: login,
    repo: own?.name,
    org: org?.login,
    username: login,
    assignee: login,
    branch,
    ref: branch,
    commit_sha: branch,
    tree_sha: branch,
    path: 'README.md',
    basehead: `${branch}...${branch}`,
  }
  const body = schemaOf(entry.endpoint.body)
  return {
    names: wanted.map((name) => [name, known[name] ?? (isNumbered(name) ? '1' : '')]),
    query: queryParameters(entry.endpoint, entry.variant).some(({ name }) => name === 'q') ? [['q', login]] : [],
    body: body ? JSON.stringify(exampleBody(body), null, 2) : '',
  }
}
