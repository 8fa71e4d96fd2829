import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { certificateOf } from '#test/certificates.ts'
import { Worktree } from '#test/git.ts'
import { listen } from './http-server.ts'

export const username = 'ada'
export const password = 'pa ss%word'

export interface Asked {
  method: string
  path: string
  host: string | undefined
  authorization: string | undefined
}

/**
 * A git host with several kinds of repositories: `open` and `closed` use the smart protocol without and with a password, only for names
 * that end in `.git`; `dumb` serves files; `moved` redirects to `open` on the same host, `away` to another name of it; `app` answers 200 to
 * everything; `silent` never answers.
 */
export async function startGitServer({ certificate }: { certificate?: string } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-git-server-'))
  const asked: Asked[] = []
  /** The LFS objects by SHA-256. */
  const large = new Map<string, Buffer>()
  const state = { delay: Promise.resolve() }
  const answer: RequestListener = (request, response) => {
    const path = request.url ?? '/'
    asked.push({ method: request.method ?? '', path, host: request.headers.host, authorization: request.headers.authorization })
    serve(request, response).catch(() => response.destroy())
  }
  const server = certificate ? createSecureServer(certificateOf(certificate), answer) : createServer(answer)
  const listening = await listen(server)
  const { port } = listening
  const base = `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', base)
    const [, kind = '', rest = ''] = /^\/(\w+)(\/.*)?$/.exec(url.pathname) ?? []
    const page = { 'content-type': 'text/html; charset=utf-8' }
    if (kind === 'silent') return
    if (kind === 'app') return void response.writeHead(200, { ...page, dav: '1,2' }).end('<!doctype html><div id="root"></div>')
    if (kind === 'moved') return void response.writeHead(301, { location: `/open${rest}${url.search}` }).end()
    if (kind === 'away')
      return void response.writeHead(302, { location: `http://localhost:${port}/open${rest}${url.search}` }).end()
    if (kind === 'closed' && !isKnown(request))
      return void response.writeHead(401, { ...page, 'www-authenticate': 'Basic realm="git"' }).end('Who are you?')
    if (rest.endsWith('/info/lfs/objects/batch')) return giveLinks(request, response, kind)
    const object = large.get(/\/lfs\/([0-9a-f]{64})$/.exec(rest)?.[1] ?? '')
    if (object) return void response.writeHead(200).end(object)
    if (kind === 'dumb') return giveFile(response, join(folder, normalize(rest)))
    if (/^(open|closed)$/.test(kind) && /^\/[^/]+\.git\//.test(rest))
      return await backend(folder, request, response, rest, url.search.slice(1), state.delay)
    response.writeHead(404, page).end('Nothing here')
  }

  async function giveLinks(request: IncomingMessage, response: ServerResponse, kind: string) {
    const { objects } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const known = (objects as { oid: string; size: number }[]).map(({ oid, size }) =>
      large.has(oid)
        ? { oid, size, actions: { download: { href: `${base}/${kind}/lfs/${oid}` } } }
        : { oid, size, error: { code: 404, message: 'Not found' } },
    )
    response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' }).end(JSON.stringify({ objects: known }))
  }

  return {
    url: base,
    asked,
    /** The path of a bare repository that was made here. */
    pathOf: (name: string) => join(folder, `${name}.git`),
    /** Makes a bare repository, and a worktree that pushes to it. */
    async make(name: string) {
      const path = join(folder, `${name}.git`)
      await mkdir(join(folder, 'work', name), { recursive: true })
      const work = new Worktree(join(folder, 'work', name), 'ada')
      await work.git('init', '--quiet', '--bare', '--initial-branch=main', path)
      await work.git('init', '--quiet', '--initial-branch=main')
      await work.git('remote', 'add', 'origin', path)
      return { path, work, bare: (...args: string[]) => work.git('--git-dir', path, ...args) }
    },
    /** Stores an LFS object, and returns its pointer. */
    keep(contents: Buffer, serve = true) {
      const oid = createHash('sha256').update(contents).digest('hex')
      if (serve) large.set(oid, contents)
      return { oid, pointer: `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${contents.length}\n` }
    },
    spoil: (oid: string, contents: Buffer) => void large.set(oid, contents),
    /** Long answers pause in the middle until this resolves. */
    hold(until: Promise<void>) {
      state.delay = until
    },
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type GitServer = Awaited<ReturnType<typeof startGitServer>>

function isKnown({ headers }: IncomingMessage) {
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

async function giveFile(response: ServerResponse, path: string) {
  const contents = await readFile(path).catch(() => undefined)
  if (contents) response.writeHead(200, { 'content-type': 'text/plain' }).end(contents)
  else response.writeHead(404).end()
}

async function backend(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: string,
  delay: Promise<void>,
) {
  const env = {
    PATH: process.env.PATH,
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: path,
    QUERY_STRING: query,
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers['content-type'],
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
    GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  response.once('close', () => child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  request.pipe(child.stdin)
  let head = Buffer.alloc(0)
  let sent = 0
  for await (const chunk of child.stdout) {
    if (response.headersSent) {
      sent += chunk.length
      // Two packets of the protocol are sent completely by then.
      if (sent > 192 << 10) await delay
      if (!response.write(chunk)) await once(response, 'drain')
      continue
    }
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) continue
    const lines = head.subarray(0, end).toString().split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2) as [string, string]))
    response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers)
    response.write(head.subarray(end + 4))
  }
  response.end()
}
