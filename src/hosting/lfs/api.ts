import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { openGate } from '#hosting/git/gate.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { streamBodies } from '#http/body-deadlines.ts'
import { explainDeletion } from '#http/deletion.ts'
import { handleError } from '#http/errors.ts'
import { isDiskFull } from '#platform/disk-full.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { type FileStore, isOid, mostBytes, type StoredObject } from '#platform/file-store/file-store.ts'
import { type Batch, readBatch, readLimited } from './batch.ts'
import { addObjects, findObjects } from './objects.ts'
import { readRange } from './range.ts'

const json = 'application/vnd.git-lfs+json; charset=utf-8'

/** Git LFS: one batch request for many objects, then a request for each object. */
export function mountLfs(listener: FastifyInstance, belfry: Belfry) {
  const { db, files } = belfry
  const { admit, readmit } = openGate(belfry)

  listener.register(
    async (app) => {
      streamBodies(app)
      app.setErrorHandler(async (error, request, reply) =>
        sendError(belfry, request, reply, await explainDeletion(db, request, error)),
      )
      // A client may have sent a whole body before we see its end. A listener that closes in between would keep the connection.
      app.addHook('onResponse', async ({ socket }) => {
        if (!listener.server.listening) socket.end()
      })

      app.post('/objects/batch', async (request, reply) => {
        const batch = readBatch(await readLimited(request.raw))
        const { repo } = await admit(request, batch.operation === 'upload' ? 'receive-pack' : 'upload-pack')
        const known = await findObjects(
          db,
          repo.id,
          batch.objects.map(({ oid }) => oid),
        )
        return reply.type(json).send(JSON.stringify(await answerBatch(batch, known, placeOf(repo), files)))
      })

      app.get('/objects/:oid', { exposeHeadRoute: false }, async (request, reply) => {
        const { repo } = await admit(request, 'upload-pack')
        const { oid } = request.params as { oid: string }
        const [object] = isOid(oid) ? await findObjects(db, repo.id, [oid]) : []
        if (!object) throw missing()
        return sendObject(request, reply, files, object)
      })

      app.put('/objects/:oid', async (request, reply) => {
        const { repo } = await admit(request, 'receive-pack')
        const { oid } = request.params as { oid: string }
        if (!isOid(oid)) throw missing()
        const stored = await files.store(oid, sizeOfBody(request), request.raw.iterator({ destroyOnReturn: false }))
        // An upload may take hours.
        await readmit(request, repo)
        await db.transaction((transaction) => addObjects(transaction, files, repo.id, [stored]))
        return reply.code(200).send()
      })

      // This response keeps the client from asking again.
      app.all('/locks', refuseLocks)
      app.all('/locks/*', refuseLocks)
    },
    { prefix: '/:owner/:repo/info/lfs' },
  )

  const placeOf = ({ owner_login, name }: Repository) => `${belfry.addresses.web}/${owner_login}/${name}.git/info/lfs/objects`
}

/** The action for each object; none if the repository has it. */
async function answerBatch({ operation, objects }: Batch, known: StoredObject[], place: string, files: FileStore) {
  const sizes = new Map(known.map(({ oid, size }) => [oid, size]))
  const answer = async ({ oid, size }: StoredObject) => {
    const object = { oid, size }
    const stored = sizes.get(oid)
    const failed = (code: number, message: string) => ({ ...object, error: { code, message } })
    if (!isOid(oid)) return failed(422, 'The name of an object is its SHA-256 in 64 lower-case hexadecimal digits.')
    if (stored !== undefined && stored !== size) return failed(422, `The object has ${stored} bytes.`)
    if (operation === 'download') {
      if (stored === undefined) return failed(404, 'Object does not exist')
      const signed = await files.signedUrl(oid)
      // The client must not send our credentials to the storage, which refuses a signed link with them.
      return { ...object, ...(signed && { authenticated: true }), actions: { download: signed ?? { href: `${place}/${oid}` } } }
    }
    if (size > mostBytes) return failed(422, `An object may have ${mostBytes} bytes at most.`)
    return stored === undefined ? { ...object, actions: { upload: { href: `${place}/${oid}` } } } : object
  }
  return { transfer: 'basic', objects: await Promise.all(objects.map(answer)), hash_algo: 'sha256' }
}

async function sendObject({ headers }: FastifyRequest, reply: FastifyReply, files: FileStore, { oid, size }: StoredObject) {
  const tag = `"${oid}"`
  const asked = headers['if-range'] === undefined || headers['if-range'] === tag ? headers.range : undefined
  const range = readRange(asked, size)
  reply.headers({ ETag: tag, 'Accept-Ranges': 'bytes', 'Cache-Control': 'private, no-cache' })
  if (range === 'beyond') {
    reply.header('Content-Range', `bytes */${size}`)
    return reply
      .code(416)
      .type(json)
      .send(JSON.stringify({ message: `The object has ${size} bytes.` }))
  }
  const contents = await files.open(oid, range)
  if (!contents) throw new Error(`the store of large files has lost ${oid}`)
  if (range) reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
  reply.header('Content-Length', range ? range.end - range.start + 1 : size)
  // Any user may upload contents, so browsers must not show them as our pages.
  reply.headers({
    'Content-Disposition': 'attachment',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': 'sandbox',
  })
  return reply.type('application/octet-stream').send(contents)
}

function sizeOfBody({ headers }: FastifyRequest) {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Refusal('unacceptable', 'Contents are taken as they are.')
  const length = headers['content-length']
  const size = length === undefined ? null : Number(length)
  if (size !== null && size > mostBytes) throw new Refusal('too_large', `An object may have ${mostBytes} bytes at most.`)
  return size
}

function refuseLocks(request: FastifyRequest, reply: FastifyReply) {
  request.raw.resume()
  return reply
    .code(501)
    .type(json)
    .send(JSON.stringify({ message: 'Files cannot be locked here.' }))
}

function sendError({ addresses }: Belfry, request: FastifyRequest, reply: FastifyReply, error: unknown) {
  // The rest of the body is read and dropped, so that the client can reuse the connection.
  request.raw.resume()
  const failure = handleError(request, reply, error)
  // What Git LFS documents.
  const status = isDiskFull(error) ? 507 : failure.status
  if (status === 401) {
    const scheme = 'Basic realm="Belfry", charset="UTF-8"'
    reply.headers({ 'LFS-Authenticate': scheme, 'WWW-Authenticate': scheme })
  }
  const { message = 'That did not work. The fault is ours.' } = failure
  return reply
    .code(status)
    .type(json)
    .send(JSON.stringify({ message, documentation_url: `${addresses.web}/docs`, request_id: request.id }))
}
