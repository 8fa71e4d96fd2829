import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { checkMember, checkOwner, loadOrganization } from '#hosting/organizations/organizations.ts'
import { loadAccount } from '#hosting/people/people.ts'
import { checkAccess } from '#hosting/repositories/access.ts'
import { loadRepository, loadRepositoryById, Moved } from '#hosting/repositories/repositories.ts'
import { loadTeam } from '#hosting/teams/teams.ts'
import { CodeRequired } from '#parts/authentication/authentication.ts'
import { missing } from '#platform/errors.ts'
import { Memory } from '#platform/memory.ts'
import type { Variant } from '#variants.ts'
import { type Call, openCalls } from './call.ts'
import { compileLazily } from './compile.ts'
import { etagOf, isFresh, lastModifiedOf } from './conditional.ts'
import { Answer, type BaseContext, type Endpoint, type Group, isNumbered, type Revalidate } from './endpoint.ts'
import { errorBody, refusalFor, statusOf } from './errors.ts'
import { branded } from './headers.ts'
import { parseBody, readQuery } from './input.ts'
import { describeApi } from './openapi.ts'
import { linkHeader, readPage } from './paging.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

/** Puts every endpoint of a variant on a listener, under the variant's prefix. */
export async function mountApi(listener: FastifyInstance, belfry: Belfry, variant: Variant, groups: Group[]) {
  await listener.register(
    async (app) => {
      openCalls(app, belfry, variant)
      compileLazily(app)
      const memory = new Memory<unknown>(belfry.db)
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'string' }, async (_: FastifyRequest, text: string) => parseBody(text))
      app.setErrorHandler((error, request, reply) => sendError(request, reply, error))
      app.setNotFoundHandler((request, reply) => sendError(request, reply, missing()))
      for (const { endpoints } of groups) for (const endpoint of endpoints) mount(app, belfry, memory, endpoint, variant)
      app.get('/openapi.json', (_, reply) =>
        reply.type('application/json; charset=utf-8').send(JSON.stringify(describeApi(belfry, groups, variant))),
      )
    },
    { prefix: variant.prefix },
  )
}

function mount(app: FastifyInstance, belfry: Belfry, memory: Memory<unknown>, endpoint: Endpoint, variant: Variant) {
  if (endpoint.served && !endpoint.served(variant)) return
  const { method, path, body, answers } = endpoint
  const paths = [path]
  // A repository is also found by its id: where redirects lead to, and what never changes.
  if (path.startsWith('/repos/{owner}/{repo}')) paths.push(path.replace('/repos/{owner}/{repo}', '/repositories/{repository_id}'))
  for (const each of paths) {
    app.route({
      method,
      url: each.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { endpoint },
      schema: { ...(body && { body }), response: answers },
      preValidation: async (request) => {
        if (body) request.body ??= {}
      },
      handler: (request, reply) => serve(belfry, memory, endpoint, request, reply),
    })
  }
}

async function serve(
  { db, storage }: Belfry,
  memory: Memory<unknown>,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { call } = request
  const query = searchOf(request.url)
  const search = query === '' ? nothingAsked : new URLSearchParams(query)
  const things = await loadThings(db, endpoint, call, request.params as Record<string, string>)
  const page = query === '' ? firstPage : readPage(search)
  const context = {
    ...(call satisfies Omit<BaseContext, 'page' | 'storage' | 'revalidate' | 'recall'>),
    revalidate: revalidator(request, reply),
    recall: <T>(key: string, load: () => Promise<T>) => memory.recall(key, load) as Promise<T>,
    storage,
    ...things,
    db,
    viewer: call.caller.user,
    page,
    body: request.body,
    query: endpoint.query ? readQuery(endpoint.query, search) : {},
  }
  const handler = endpoint.handler as (context: object) => unknown
  const writes = endpoint.method !== 'GET' && !endpoint.own_transaction
  const result = writes
    ? await db.transaction(async (transaction) => handler({ ...context, db: transaction }))
    : await handler(context)
  const answer = result instanceof Answer ? result : new Answer(result, {})
  if (answer.total !== undefined) {
    const link = linkHeader(
      `${call.wire.api}${request.url.slice(call.variant.prefix.length).split('?')[0]}`,
      search,
      page,
      answer.total,
    )
    if (link) reply.header('Link', link)
  }
  if (answer.changed_at) reply.header('Last-Modified', lastModifiedOf(answer.changed_at, db.now))
  return reply
    .headers(answer.headers)
    .code(answer.status ?? Number(Object.keys(endpoint.answers)[0]))
    .send(answer.body)
}

const nothingAsked = new URLSearchParams()
const firstPage = readPage(nothingAsked)

/** A key's ETag goes out with the answer; whoever sent it back needs no body. */
function revalidator({ headers }: FastifyRequest, reply: FastifyReply): Revalidate {
  return (key, make) => {
    const etag = etagOf(key)
    reply.header('ETag', etag)
    return isFresh(headers, etag, undefined) ? new Answer<never>(undefined as never, { status: 304 }) : make()
  }
}

/** Finds what the path names, as the caller may see it, in the order of the path. */
async function loadThings(db: Belfry['db'], endpoint: Endpoint, { caller }: Call, params: Record<string, string>) {
  const { repository_id, owner, repo, org, team_slug, username, ...rest } = params
  if (Object.values(params).some((value) => value.includes('\0'))) throw missing()
  const things: Record<string, unknown> = { params: readParams(rest) }
  if (org !== undefined) {
    const found = await loadOrganization(db, caller.viewer_id, org)
    if (endpoint.org_role) (endpoint.org_role === 'owner' ? checkOwner : checkMember)(found)
    things.org = found
    if (team_slug !== undefined) things.team = await loadTeam(db, caller.viewer_id, found, team_slug)
  }
  if (repository_id !== undefined || (owner !== undefined && repo !== undefined)) {
    const found =
      repository_id !== undefined
        ? await loadRepositoryById(db, caller, readId(repository_id))
        : await loadRepository(db, caller, owner ?? '', repo ?? '')
    if (endpoint.access) checkAccess(found.access, endpoint.access)
    things.repo = found
  }
  if (username !== undefined) things.user = await loadAccount(db, username)
  return things
}

function readParams(params: Record<string, string>) {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, isNumbered(name) ? readId(value) : value]))
}

/** What is no number names nothing, and neither does one beyond any id. */
function readId(text: string) {
  if (!/^\d{1,15}$/.test(text)) throw missing()
  return Number(text)
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown) {
  if (error instanceof Moved) return sendMoved(request, reply, error)
  const documentation_url = `${request.call.wire.web}/docs`
  if (error instanceof CodeRequired) reply.header(branded(request.call.dialect.brand, 'OTP'), `required; ${error.delivery}`)
  const refusal = refusalFor(error, request.body)
  if (!refusal) request.log.error({ err: error }, 'request failed')
  const status = refusal ? statusOf[refusal.reason] : 500
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(errorBody(status, refusal?.message ?? 'Server Error', documentation_url, refusal?.faults))
}

/** A repository's own endpoints go on under its id, which no rename changes; others get its present name. */
function sendMoved(request: FastifyRequest, reply: FastifyReply, { to, message }: Moved) {
  const { wire } = request.call
  const params = { ...(request.params as Record<string, string>), owner: to.owner, repo: to.name } as Record<string, string>
  const path = (request.routeOptions.config.endpoint?.path ?? '')
    .replace(/^\/repos\/\{owner\}\/\{repo\}/, `/repositories/${to.id}`)
    .replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const url = `${wire.api}${path}${searchOf(request.url)}`
  return reply
    .code(request.method === 'GET' || request.method === 'HEAD' ? 301 : 307)
    .header('Location', url)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ message, url, documentation_url: `${wire.web}/docs` }))
}

function searchOf(url: string) {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark)
}
