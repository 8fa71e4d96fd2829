import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'

/** What all pages share. A part has a folder of its own. */
const shared = join(import.meta.dirname, 'assets')
const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Serves the files of the folders as /assets/NAME. They are few and small, so they are kept in memory. */
export function mountAssets(app: FastifyInstance, folders: string[]) {
  for (const folder of [shared, ...folders]) for (const name of readdirSync(folder)) mountAsset(app, folder, name)
}

function mountAsset(app: FastifyInstance, folder: string, name: string) {
  const text = readFileSync(join(folder, name), 'utf8')
  const etag = `"${hash('sha1', text)}"`
  app.get(`/assets/${name}`, (request, reply) => {
    reply.headers({ ETag: etag, 'Cache-Control': 'public, max-age=300', 'X-Content-Type-Options': 'nosniff' })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type(types[extname(name)] ?? 'text/plain').send(text)
  })
}
