import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { endedBySignal } from '#git/errors.ts'
import { endWhenIdle } from '#git/idle-clients.ts'
import { isHidden } from '#git/objects.ts'
import { type Head, readCommands } from '#git/push-commands.ts'
import { holdLast, openService, type Service, type ServiceName } from '#git/smart-http.ts'
import { beginPush, catchUp, settlePushes } from '#hosting/pushes/pushes.ts'
import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { handleError } from '#http/errors.ts'
import { Moved } from '#http/moved.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { Authenticator, anonymous, type Caller, CodeRequired } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import { forbidden, missing, Refusal } from '#platform/errors.ts'

/** Bytes that a fetch may send: a million of commits that are wanted or known. */
const longestWants = 64 << 20

interface Place {
  owner: string
  repo: string
}

/** Git over HTTP, as the git client speaks it: one request for what is there, and one to fetch or to push. */
export function mountGit(listener: FastifyInstance, belfry: Belfry) {
  const { db, storage } = belfry
  const admit = openGate(belfry)

  listener.register(async (app) => {
    app.removeAllContentTypeParsers()
    // Packs have any size: they are passed on as they come.
    app.addContentTypeParser('*', (_, body, done) => done(null, body))
    app.setErrorHandler((error, request, reply) => sendError(request, reply, error))

    app.get('/:owner/:repo/info/refs', { exposeHeadRoute: false }, async (request, reply) => {
      const name = /^git-(upload-pack|receive-pack)$/.exec((request.query as { service?: string }).service ?? '')?.[1]
      if (!name) throw forbidden('Only the smart protocol is spoken here: use git 1.6.6 or later.')
      const { repo, caller } = await admit(request, name as ServiceName)
      const protocol = name === 'upload-pack' ? protocolOf(request) : undefined
      const place = { repo, caller, name: name as ServiceName }
      const service = await openFor(place, request, reply, { advertise: true, protocol })
      service.feed([], request.raw)
      if (!(await service.answers())) throw await failed(request, service)
      // From the second version on, the answer says by itself what it is.
      if (/(^|:)version=2(:|$)/.test(protocol ?? '')) return sendService(reply, name, 'advertisement', service.output)
      const title = `# service=git-${name}\n`
      service.output.unshift(Buffer.from(`${(title.length + 4).toString(16).padStart(4, '0')}${title}0000`))
      return sendService(reply, name, 'advertisement', service.output)
    })

    app.post('/:owner/:repo/git-upload-pack', async (request, reply) => {
      const { repo, caller } = await admit(request, 'upload-pack')
      const body = bodyOf(request)
      const place = { repo, caller, name: 'upload-pack' as const }
      const service = await openFor(place, request, reply, { protocol: protocolOf(request) })
      service.feed([], body, longestWants)
      if (!(await service.answers())) throw await failed(request, service)
      return sendService(reply, 'upload-pack', 'result', service.output)
    })

    app.post('/:owner/:repo/git-receive-pack', async (request, reply) => {
      const { repo, caller } = await admit(request, 'receive-pack')
      const body = bodyOf(request)
      watch(request, reply)
      const head = await readCommands(body)
      const { service, recorded } = await receive(repo, caller, head, request, reply)
      service.feed(head.read, body)
      if (!(await service.answers())) {
        await recorded
        throw await failed(request, service)
      }
      // Whoever has the answer finds the push in the timeline; and nobody is told of one that is not there.
      return sendService(reply, 'receive-pack', 'result', holdLast(service.output, recorded))
    })
  })

  /** Noted before git moves anything, and recorded when it is over, whether the client is still there or not. */
  async function receive(repo: Repository, caller: Caller, head: Head, request: FastifyRequest, reply: FastifyReply) {
    const commands = head.commands.filter(({ ref }) => !isHidden(ref))
    const place = { repo, caller, name: 'receive-pack' as const }
    if (!commands.length || !caller.user) {
      return { service: await openFor(place, request, reply, {}), recorded: Promise.resolve() }
    }
    await catchUp(db, storage, repo, commands)
    const push_id = await beginPush(db, repo, caller.user, commands)
    const settle = () => settlePushes(db, storage, repo.id, push_id)
    let recorded = Promise.resolve()
    const service = await openFor(place, request, reply, {}, (closed) => {
      recorded = closed.then(settle)
      return recorded
    }).catch(async (error) => {
      await settle()
      throw error
    })
    recorded.catch((error) => request.log.error({ err: error, push_id }, 'a push is not recorded yet'))
    return { service, recorded }
  }

  /**
   * A git process that ends when the client disconnects or stalls. It waits for a slot when many are served, and releases the slot when what
   * `follows` its end is done too.
   */
  async function openFor(
    { repo, caller, name }: { repo: Repository; caller: Caller; name: ServiceName },
    request: FastifyRequest,
    reply: FastifyReply,
    options: { advertise?: boolean; protocol?: string | undefined },
    follows: (closed: Promise<number | null>) => Promise<unknown> = (closed) => closed,
  ): Promise<Service> {
    const slot = await storage.fetching.take(caller.user ? `user ${caller.user.id}` : `address ${request.ip}`)
    try {
      const service = await openService(name, storage.pathOf(repo.id), { ...options, limits: storage.limits })
      if (reply.raw.destroyed) service.end()
      else reply.raw.once('close', () => service.end())
      if (name === 'upload-pack' || options.advertise) watch(request, reply)
      void service.closed.then((status) => {
        if (status !== 0) request.log.info({ status, complaint: service.complaint() }, `git ${name} ended early`)
      })
      const leave = () => slot[Symbol.dispose]()
      follows(service.closed).then(leave, leave)
      return service
    } catch (error) {
      slot[Symbol.dispose]()
      throw error
    }
  }

  function watch(request: FastifyRequest, reply: FastifyReply) {
    endWhenIdle(request.raw, reply.raw, storage.limits.idle, () => {
      request.log.info('the client stalled: its connection is closed')
      request.raw.destroy()
    })
  }
}

/** Lets in who may fetch from a repository or push to it; else says no more than they may know. */
export function openGate(belfry: Belfry) {
  const { db, storage } = belfry
  const authenticator = new Authenticator(belfry)

  return async (request: FastifyRequest, name: ServiceName): Promise<{ repo: Repository; caller: Caller }> => {
    const { owner, repo: named } = request.params as Place
    const { authorization } = request.headers
    const caller = authorization === undefined ? anonymous : await identify(request, authorization)
    // Git asks for a name and a password when it is told that it needs them, and only then.
    if (name === 'receive-pack' && !caller.user) throw unauthenticated()
    const repo = await find(caller, owner, named.replace(/\.git$/i, '')).catch((error) => {
      throw error instanceof Refusal && error.reason === 'missing' && !caller.user ? unauthenticated() : error
    })
    if (name === 'receive-pack') checkPush(caller, repo)
    else checkFetch(caller, repo)
    if (!storage.has(repo.id)) {
      throw new Refusal('unavailable', 'The contents of this repository are still being copied. Try again in a moment.')
    }
    return { repo, caller }
  }

  function identify({ ip: address }: FastifyRequest, authorization: string) {
    return authenticator.authenticate({ authorization, address, code: undefined }).catch((error) => {
      if (error instanceof CodeRequired)
        throw new Refusal('unauthenticated', 'This account has a second factor: use a personal access token as the password.')
      throw error
    })
  }

  async function find(caller: Caller, owner: string, name: string) {
    if (!/^[\w.-]+$/.test(owner) || !/^[\w.-]+$/.test(name)) throw missing()
    return loadRepository(db, caller, owner, name)
  }
}

const unauthenticated = () => new Refusal('unauthenticated', 'Sign in with a personal access token as the password.')

const notForToken = () => forbidden('Resource not accessible by personal access token')

/** What is public is for every token, as it is for nobody. */
function checkFetch({ token }: Caller, repo: Repository) {
  if (repo.private && token?.kind === 'fine_grained' && !allows(token.permissions, 'contents:read')) throw notForToken()
}

function checkPush({ token, may }: Caller, repo: Repository) {
  if (token?.kind === 'fine_grained') {
    if (!allows(token.permissions, 'contents:write')) throw notForToken()
  } else if (!may('repo') && (repo.private || !may('public_repo'))) {
    throw forbidden(`Missing the '${repo.private ? 'repo' : 'public_repo'}' scope.`)
  }
  checkAccess(repo.access, 'push')
  checkWritable(repo)
}

/** What the client says of versions goes into git's environment, if it is of the form that it must have. */
function protocolOf({ headers }: FastifyRequest) {
  const asked = headers['git-protocol']
  return typeof asked === 'string' && /^[a-z0-9=:._-]{1,100}$/i.test(asked) ? asked : undefined
}

function bodyOf({ raw, headers }: FastifyRequest): Readable {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return raw
  if (!/^(x-)?gzip$/i.test(encoding)) throw new Refusal('unacceptable', 'Bodies are read as they are, or by gzip.')
  const unpacked = createGunzip()
  // A request that is cut off must not be waited for, nor look complete; one that cannot be unpacked is still read to its end.
  raw.once('close', () => raw.readableEnded || unpacked.destroy(new Refusal('malformed', 'The body was cut off.')))
  raw.on('error', () => {})
  // It may fail while nothing reads it: between the head of a push and the rest.
  unpacked.on('error', () => {})
  unpacked.once('close', () => raw.unpipe(unpacked).resume())
  return raw.pipe(unpacked)
}

function sendService(reply: FastifyReply, name: string, kind: 'advertisement' | 'result', output: Readable) {
  return reply.headers(uncached).type(`application/x-git-${name}-${kind}`).send(output)
}

const uncached = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Pragma: 'no-cache',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
}

/** Git says nothing when it could not read what it was sent; what else there was is in the log. */
async function failed(request: FastifyRequest, service: Service) {
  request.log.warn({ complaint: service.complaint() }, 'git gave no answer')
  if (await service.wasKilled()) return endedBySignal()
  return new Refusal('malformed', 'Git could not read this request.')
}

/** In plain text, which the git client shows to whoever runs it. */
function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown) {
  // What is left of the body is read and dropped: the connection is the client's for its next request.
  request.raw.unpipe().resume()
  if (error instanceof Moved) {
    const { owner, name } = error.to
    const rest = request.url.replace(/^\/[^/]+\/[^/]+/, '')
    return reply.headers(uncached).header('Location', `/${owner}/${name}.git${rest}`).code(301).send()
  }
  const refusal = isBadGzip(error) ? new Refusal('malformed', 'The body is not gzip.') : error
  const { status, message = 'That did not work. The fault is ours.' } = handleError(request, reply, refusal)
  if (status === 401) reply.header('WWW-Authenticate', 'Basic realm="Belfry", charset="UTF-8"')
  const text = status === 404 ? 'Repository not found.' : message
  return reply.headers(uncached).type('text/plain; charset=utf-8').send(`${text}\n`)
}

function isBadGzip(error: unknown) {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
