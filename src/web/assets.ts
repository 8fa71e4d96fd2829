import { hash } from 'node:crypto'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** All styles are one file and every page loads all scripts, so that Turbo never has to add a style or a script between two pages. */
const styles = 'belfry.css'
const entry = 'belfry.js'

interface Asset {
  type: string
  etag: string
  text: string
  encoded: Map<string, Buffer>
}

let version = ''

/** The address of an asset. It contains the version, so browsers keep it for ever. */
export const assetAddress = (name: string) => `/assets/${version}/${name}`

/** Serves the files of the folders: shared ones, and those of each part. They are few and small, so they are kept in memory. */
export function mountAssets(app: FastifyInstance, folders: string[]) {
  const files = readFiles([join(import.meta.dirname, 'assets'), ...folders])
  version = hash('sha1', [...files.values()].join()).slice(0, 10)
  for (const [name, text] of files) {
    const asset: Asset = {
      type: types[extname(name)] ?? 'text/plain',
      etag: `"${hash('sha1', text)}"`,
      text,
      encoded: new Map(),
    }
    app.get(`/assets/:version/${name}`, (request, reply) => send(asset, request, reply, 'public, max-age=31536000, immutable'))
    app.get(`/assets/${name}`, (request, reply) => send(asset, request, reply, 'public, max-age=300'))
  }
}

function readFiles(folders: string[]): Map<string, string> {
  const paths = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  const read = (path: string) => readFileSync(path, 'utf8')
  const own = globSync(['styles/tokens.css', 'styles/base.css', 'styles/*.css', 'components/*.css'], { cwd: import.meta.dirname })
  const inOrder = [...new Set(['styles/tokens.css', 'styles/base.css', ...own.toSorted()])].map((path) =>
    join(import.meta.dirname, path),
  )
  const css = [...inOrder, ...paths.filter((path) => path.endsWith('.css'))]
  const others = paths.filter((path) => !path.endsWith('.css'))
  const scripts = others.filter((path) => path.endsWith('.js')).map((path) => basename(path))
  return new Map([
    [styles, css.map(read).join('')],
    [entry, scripts.map((name) => `import './${name}'\n`).join('')],
    ['turbo.js', read(createRequire(import.meta.url).resolve('@hotwired/turbo/dist/turbo.es2017-esm.js'))],
    ...others.map((path): [string, string] => [basename(path), read(path)]),
  ])
}

/** Compressed on first use. */
const encodings: Record<string, (text: string) => Buffer> = {
  br: (text) => brotliCompressSync(text),
  gzip: (text) => gzipSync(text),
}

function send({ type, etag, text, encoded }: Asset, request: FastifyRequest, reply: FastifyReply, caching: string) {
  reply.headers({ ETag: etag, 'Cache-Control': caching, 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding' })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const accepted = `${request.headers['accept-encoding'] ?? ''}`.split(',').map((word) => word.trim())
  const name = Object.keys(encodings).find((one) => accepted.includes(one))
  if (name === undefined) return reply.type(type).send(text)
  const bytes = encoded.get(name) ?? encodings[name]?.(text) ?? Buffer.from(text)
  encoded.set(name, bytes)
  return reply.header('Content-Encoding', name).type(type).send(bytes)
}
