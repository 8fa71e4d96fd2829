import { hash } from 'node:crypto'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bundleAssets, encodings } from './bundle.ts'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
}

interface Asset {
  type: string
  etag: string
  /** Returns the file, or its compressed copy. */
  read(ending: string): Buffer
}

let version = ''

/** The address of an asset. It contains the version, so browsers keep it for ever. */
export const assetAddress = (name: string) => `/assets/${version}/${name}`

/** Serves the files of the folders: shared ones, and those of each part. */
export async function mountAssets(app: FastifyInstance, folders: string[]) {
  const bundle = await bundleAssets(folders)
  version = bundle.version
  for (const name of bundle.names) {
    const asset: Asset = {
      type: types[extname(name)] ?? 'text/plain',
      etag: `"${hash('sha1', `${version} ${name}`)}"`,
      read: once((ending) => bundle.read(name, ending)),
    }
    app.get(`/assets/:version/${name}`, (request, reply) => send(asset, request, reply, 'public, max-age=31536000, immutable'))
    app.get(`/assets/${name}`, (request, reply) => send(asset, request, reply, 'public, max-age=300'))
  }
}

function send({ type, etag, read }: Asset, request: FastifyRequest, reply: FastifyReply, caching: string) {
  reply.headers({ ETag: etag, 'Cache-Control': caching, 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding' })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const encoding = acceptedEncoding(request, Object.keys(encodings))
  const ending = encoding === undefined ? '' : (encodings[encoding] ?? '')
  if (encoding !== undefined) reply.header('Content-Encoding', encoding)
  return reply.type(type).send(read(ending))
}

/** The files are few and small, so they stay in memory. */
function once(read: (ending: string) => Buffer) {
  const kept = new Map<string, Buffer>()
  return (ending: string) => {
    const bytes = kept.get(ending) ?? read(ending)
    kept.set(ending, bytes)
    return bytes
  }
}

/** The first of these encodings that the client accepts. */
export function acceptedEncoding(request: FastifyRequest, offered: string[]) {
  const accepted = `${request.headers['accept-encoding'] ?? ''}`.split(',').map((word) => word.trim())
  return offered.find((encoding) => accepted.includes(encoding))
}
