import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { endedBySignal } from '#git/errors.ts'
import { endWhenIdle } from '#git/idle-clients.ts'
import { isHidden } from '#git/objects.ts'
import { type Head, readCommands } from '#git/push-commands.ts'
import type { ProtectedRef, PushChecks } from '#git/push-hooks.ts'
import { checkDistinct } from '#git/ref-names.ts'
import { delayReport, explainFailure, fatal, openService, type Service, type ServiceName } from '#git/smart-http.ts'
import { findPushRules, isCovered } from '#hosting/protection/push-rules.ts'
import { beginPush, type Command, catchUp, settlePushes } from '#hosting/pushes/pushes.ts'
import { enqueueErasure } from '#hosting/repositories/queue.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { streamBodies } from '#http/body-deadlines.ts'
import { explainDeletion } from '#http/deletion.ts'
import { handleError } from '#http/errors.ts'
import type { Caller } from '#identity/callers.ts'
import { isDeleted } from '#identity/deletion.ts'
import { forbidden, missing, Refusal } from '#platform/errors.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { openGate } from './gate.ts'

/** Limit of the body of a fetch, in bytes: a million wanted or known commits. */
const longestWants = 64 << 20

/** Git over HTTP (smart protocol): one request for the refs, and one to fetch or push. */
export function mountGit(listener: FastifyInstance, belfry: Belfry) {
  const { db, storage } = belfry
  const { admit, readmit } = openGate(belfry)

  listener.register(async (app) => {
    streamBodies(app)
    app.setErrorHandler(async (error, request, reply) => sendError(request, reply, await explainDeletion(db, request, error)))

    app.get('/:owner/:repo/info/refs', { exposeHeadRoute: false }, async (request, reply) => {
      const name = /^git-(upload-pack|receive-pack)$/.exec((request.query as { service?: string }).service ?? '')?.[1]
      if (!name) throw forbidden('Only the smart protocol is spoken here: use git 1.6.6 or later.')
      const { repo, caller } = await admit(request, name as ServiceName)
      const protocol = name === 'upload-pack' ? protocolOf(request) : undefined
      const place = { repo, caller, name: name as ServiceName }
      const service = await openFor(place, request, reply, { advertise: true, protocol })
      service.feed([], request.raw)
      if (!(await service.answers())) throw await failed(repo, request, service)
      // Responses of protocol version 2 have no service line.
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
      if (!(await service.answers())) throw await failed(repo, request, service)
      const output = explainFailure(service, async () => ((await isDeleted(db, { repo_ids: [repo.id] })) ? deleted : undefined))
      return sendService(reply, 'upload-pack', 'result', output)
    })

    app.post('/:owner/:repo/git-receive-pack', async (request, reply) => {
      const { repo, caller } = await admit(request, 'receive-pack')
      const body = bodyOf(request)
      const head = await readCommands(body)
      try {
        const { service, recorded } = await receive(repo, caller, head, request, reply)
        service.feed(head.read, body)
        if (!(await service.answers())) {
          await recorded
          throw await failed(repo, request, service)
        }
        // A client that has the response finds the push in the timeline, and no push is reported that was not recorded.
        return sendService(reply, 'receive-pack', 'result', delayReport(service.output, recorded))
      } catch (error) {
        const explained = await explainDeletion(db, request, error)
        if (!head.side_band || !isMissing(explained)) throw explained
        // The git client does not show the text of another status to a push.
        request.raw.unpipe().resume()
        return sendService(reply, 'receive-pack', 'result', Readable.from([fatal(deleted)]))
      }
    })
  })

  /** Writes the push to the database before git moves refs, and records it when git ends, even if the client has disconnected. */
  async function receive(repo: Repository, caller: Caller, head: Head, request: FastifyRequest, reply: FastifyReply) {
    const commands = head.commands.filter(({ ref }) => !isHidden(ref))
    const place = { repo, caller, name: 'receive-pack' as const }
    if (!commands.length || !caller.user) {
      return { service: await openFor(place, request, reply, {}), recorded: Promise.resolve() }
    }
    await checkDistinct(storage, repo.id, commands)
    const guarded = await findPushRules(db, repo, caller.user, commands)
    await catchUp(db, storage, repo, commands)
    const push_id = await beginPush(db, repo, caller.user, commands)
    const settle = async () => {
      if (await settlePushes(db, storage, repo.id, push_id)) return
      await db.transaction((transaction) => enqueueErasure(transaction, repo))
      throw new Refusal('missing', deleted)
    }
    let recorded = Promise.resolve()
    const confirm = () => confirmPush(repo, request, commands, guarded)
    const service = await openFor(place, request, reply, { checks: { guarded, confirm } }, (closed) => {
      recorded = closed.then(settle)
      return recorded
    }).catch(async (error) => {
      await settle()
      throw error
    })
    recorded.catch((error) => {
      if (isMissing(error)) request.log.info({ push_id }, deleted)
      else request.log.error({ err: error, push_id }, 'a push is not recorded yet')
    })
    return { service, recorded }
  }

  /** Why a push may not go on whose pack has arrived: until then, access can end and branches can become protected. */
  async function confirmPush(repo: Repository, request: FastifyRequest, commands: Command[], guarded: ProtectedRef[]) {
    try {
      const now = await readmit(request, repo)
      if (!now.caller.user) throw missing()
      const rules = await findPushRules(db, now.repo, now.caller.user, commands)
      return isCovered(rules, guarded) ? undefined : 'The protection of a branch changed while the push arrived. Push again.'
    } catch (error) {
      if (isMissing(error)) return notFound
      if (error instanceof Refusal || error instanceof DatabaseUnavailable) return error.message
      request.log.error({ err: error }, 'could not check a push again')
      return 'Your access could not be checked. Push again.'
    }
  }

  /**
   * Starts a git process that ends when the client disconnects or stalls. It waits for a slot, and releases it when `follows` has
   * resolved.
   */
  async function openFor(
    { repo, caller, name }: { repo: Repository; caller: Caller; name: ServiceName },
    request: FastifyRequest,
    reply: FastifyReply,
    options: { advertise?: boolean; protocol?: string | undefined; checks?: PushChecks },
    follows: (closed: Promise<number | null>) => Promise<unknown> = (closed) => closed,
  ): Promise<Service> {
    const slot = await storage.fetching.take({ user_id: caller.user?.id, ip: request.ip })
    try {
      const service = await openService(name, storage.pathOf(repo.id), { ...options, limits: storage.limits })
      if (reply.raw.destroyed) service.end()
      else reply.raw.once('close', () => service.end())
      // The listener watches requests that have a body.
      if (options.advertise) watch(request, reply)
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

  /** Git sends no response to a request that it cannot read. The log has its error message. */
  async function failed(repo: Repository, request: FastifyRequest, service: Service) {
    request.log.warn({ complaint: service.complaint() }, 'git gave no answer')
    if (await isDeleted(db, { repo_ids: [repo.id] })) return missing()
    if (await service.wasKilled()) return endedBySignal()
    return new Refusal('malformed', 'Git could not read this request.')
  }

  function watch(request: FastifyRequest, reply: FastifyReply) {
    endWhenIdle(request.raw, reply.raw, storage.limits.idle, () => {
      request.log.info('the client stalled: its connection is closed')
      request.raw.destroy()
    })
  }
}

/** The client's header becomes part of git's environment, so its format is checked. */
function protocolOf({ headers }: FastifyRequest) {
  const asked = headers['git-protocol']
  return typeof asked === 'string' && /^[a-z0-9=:._-]{1,100}$/i.test(asked) ? asked : undefined
}

function bodyOf({ raw, headers }: FastifyRequest): Readable {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return raw
  if (!/^(x-)?gzip$/i.test(encoding)) throw new Refusal('unacceptable', 'Bodies are read as they are, or by gzip.')
  const unpacked = createGunzip()
  // A request that breaks off must neither block nor look complete. One that cannot be decompressed is still read to its end.
  raw.once('close', () => raw.readableEnded || unpacked.destroy(new Refusal('malformed', 'The body was cut off.')))
  raw.on('error', () => {})
  // It may fail while nothing reads it, between the commands of a push and the rest.
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

const notFound = 'Repository not found.'

const deleted = 'The repository was deleted in the meantime.'

const isMissing = (error: unknown) => error instanceof Refusal && error.reason === 'missing'

/** Plain text, which the git client shows to its user. */
function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown) {
  // The rest of the body is read and dropped, so that the client can reuse the connection.
  request.raw.unpipe().resume()
  const refusal = isBadGzip(error) ? new Refusal('malformed', 'The body is not gzip.') : error
  const { status, message = 'That did not work. The fault is ours.' } = handleError(request, reply, refusal)
  if (status === 401) reply.header('WWW-Authenticate', 'Basic realm="Belfry", charset="UTF-8"')
  const text = status === 404 ? notFound : message
  return reply.headers(uncached).type('text/plain; charset=utf-8').send(`${text}\n`)
}

function isBadGzip(error: unknown) {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
