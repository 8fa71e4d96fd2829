import { Integration } from '#hosting/apps/json.ts'
import { SimpleUser } from '#hosting/people/json.ts'
import { type ActorNames, findActors } from '#hosting/protection/actors.ts'
import { actorsJson, Contexts, protectionUrl, RestrictionsSchema, restrictionsJson } from '#hosting/protection/json.ts'
import { changeProtection, loadProtection } from '#hosting/protection/protection.ts'
import { type Actors, checksOf, mustBeProtected, type RequiredCheck, restrictionsOf } from '#hosting/protection/rules.ts'
import { Names } from '#hosting/protection/settings.ts'
import { TeamSchema } from '#hosting/teams/json.ts'
import { del, type Endpoint, get, group, post, put } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'

const reading = { permission: 'administration:read', scopes: ['public_repo', 'repo'], access: 'admin' } as const
const writing = { permission: 'administration:write', scopes: ['public_repo', 'repo'], access: 'admin', writable: true } as const

/** Adds to a list, replaces it, or removes from it. */
const ways = {
  POST: <T>(present: T[], given: T[], key: (item: T) => unknown) => [
    ...present,
    ...given.filter((item) => !present.some((other) => key(other) === key(item))),
  ],
  PUT: <T>(_: T[], given: T[]) => given,
  DELETE: <T>(present: T[], given: T[], key: (item: T) => unknown) =>
    present.filter((item) => !given.some((other) => key(other) === key(item))),
}
const listed = [
  [post, 'POST', 'add', 'Add'],
  [put, 'PUT', 'set', 'Replace'],
  [del, 'DELETE', 'remove', 'Remove'],
] as const

const contextsOf = (checks: RequiredCheck[]) => checks.map(({ context }) => context)

const contexts: Endpoint[] = listed.map(([declare, method, verb, word]) =>
  declare(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_status_checks/contexts',
    {
      ...writing,
      operation: `repos/${verb}-status-check-contexts`,
      summary: `${word} required contexts; the body may be the list itself`,
      body: Type.Object({ contexts: Names }),
      array_field: 'contexts',
      answers: { 200: Contexts },
    },
    async ({ db, repo, viewer, params, body }) => {
      const given = body.contexts.map((context) => ({ context, app_id: null }))
      const protection = await changeProtection(db, viewer, repo, params.branch, (present) => {
        const { strict, checks } = checksOf(present)
        const next = ways[method](checks, given, ({ context }) => context)
        return { ...mustBeProtected(present), required_status_checks: { strict, checks: next } }
      })
      return contextsOf(checksOf(protection).checks)
    },
  ),
)

const items = { users: SimpleUser, teams: TeamSchema, apps: Integration }

/** The endpoints of the users, teams or apps that may push. */
const restricted = (kind: 'users' | 'teams' | 'apps', noun: string): Endpoint[] =>
  listed.map(([declare, method, verb, word]) =>
    declare(
      `/repos/{owner}/{repo}/branches/{branch+}/protection/restrictions/${kind}`,
      {
        ...writing,
        operation: `repos/${verb}-${noun}-access-restrictions`,
        summary: `${word} ${kind} that may push; the body may be the list itself`,
        body: Type.Object({ [kind]: Names }),
        array_field: kind,
        answers: { 200: Type.Array(items[kind]) },
      },
      async ({ db, repo, viewer, params, body, wire }) => {
        const given = (await findActors(db, repo, body as ActorNames))[kind]
        const protection = await changeProtection(db, viewer, repo, params.branch, (present) => {
          const restrictions = restrictionsOf(present)
          const next = ways[method](restrictions[kind] as { id: number }[], given as { id: number }[], ({ id }) => id)
          return { ...mustBeProtected(present), restrictions: { ...restrictions, [kind]: next } as Actors }
        })
        return actorsJson(restrictionsOf(protection), wire)[kind]
      },
    ),
  )

export const api = group('Branch protection lists', [
  get(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_status_checks/contexts',
    {
      ...reading,
      operation: 'repos/get-all-status-check-contexts',
      summary: 'List the required contexts',
      answers: { 200: Contexts },
    },
    async ({ db, storage, repo, params }) => contextsOf(checksOf(await loadProtection(db, storage, repo, params.branch)).checks),
  ),
  ...contexts,
  get(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/restrictions',
    {
      ...reading,
      operation: 'repos/get-access-restrictions',
      summary: 'Get who may push',
      answers: { 200: RestrictionsSchema },
    },
    async ({ db, storage, repo, params, wire }) => {
      const restrictions = restrictionsOf(await loadProtection(db, storage, repo, params.branch))
      return restrictionsJson(restrictions, protectionUrl(repo, params.branch, wire), wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/restrictions',
    {
      ...writing,
      operation: 'repos/delete-access-restrictions',
      summary: 'Let everyone with push access push',
      answers: { 204: Nothing },
    },
    async ({ db, repo, viewer, params }) => {
      await changeProtection(db, viewer, repo, params.branch, (present) => {
        restrictionsOf(present)
        return { ...mustBeProtected(present), restrictions: null }
      })
    },
  ),
  ...(['users', 'teams', 'apps'] as const).map((kind) =>
    get(
      `/repos/{owner}/{repo}/branches/{branch+}/protection/restrictions/${kind}`,
      {
        ...reading,
        operation: `repos/get-${kind}-with-access-to-protected-branch`,
        summary: `List the ${kind} that may push`,
        answers: { 200: Type.Array(items[kind]) },
      },
      async ({ db, storage, repo, params, wire }) => {
        const protection = await loadProtection(db, storage, repo, params.branch)
        return actorsJson(restrictionsOf(protection), wire)[kind]
      },
    ),
  ),
  ...restricted('users', 'user'),
  ...restricted('teams', 'team'),
  ...restricted('apps', 'app'),
])
