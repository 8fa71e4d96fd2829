import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createInterface } from 'node:readline'
import { needs } from '#test/needs.ts'
import { hgEnvironment } from './hg.ts'
import { listen } from './http-server.ts'

needs({ hg: 'mercurial' })

export interface HgServer extends AsyncDisposable {
  url: string
}

/** `settings` in the syntax of `hg --config`. */
export async function startHgServer(repository: string, settings: string[] = []): Promise<HgServer> {
  const config = ['web.allow-archive=', ...settings].flatMap((setting) => ['--config', setting])
  const child = spawn('hg', ['-R', repository, 'serve', '-a', '127.0.0.1', '-p', '0', '-A', '/dev/null', ...config], {
    env: hgEnvironment,
    // It logs every client that disconnects early.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /:(\d+)\//.exec(line) ?? []
    if (!port) continue
    return {
      url: `http://127.0.0.1:${port}/`,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      },
    }
  }
  throw new Error('hg serve did not start')
}

export interface Asked extends HgServer {
  /** The requests in order. */
  asked: string[]
}

export interface Gate extends Asked {
  /** The bytes of all answers. */
  readonly received: number
}

/** Mercurial's own server has no passwords; a proxy asks for `user:password`. It can cut a bundle after so many bytes. */
export async function startGate(
  server: HgServer,
  { password, cut_after = Infinity }: { password?: string; cut_after?: number },
): Promise<Gate> {
  const asked: string[] = []
  let received = 0
  const expected = password && `Basic ${Buffer.from(password).toString('base64')}`
  const gate = createServer((incoming, answer) => {
    asked.push(incoming.url ?? '')
    if (expected && incoming.headers.authorization !== expected) {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="hg"' }).end('no')
      return
    }
    const { authorization: _, ...headers } = incoming.headers
    const forward = request(new URL(incoming.url ?? '/', server.url), { headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers)
      let left = incoming.url?.includes('getbundle') ? cut_after : Infinity
      reply.on('data', (chunk: Buffer) => {
        const cut = chunk.length > left
        received += chunk.length
        if (left > 0) answer.write(chunk.subarray(0, left), () => cut && answer.destroy())
        left -= chunk.length
      })
      reply.on('end', () => left >= 0 && answer.end())
    })
    forward.on('error', () => answer.destroy())
    forward.end()
  })
  const listening = await listen(gate)
  return {
    ...listening,
    asked,
    url: `${listening.url}/`,
    get received() {
      return received
    },
  }
}

/** A server with arbitrary answers. */
export async function startFakeHg(
  getbundle: Buffer,
  { type = 'application/mercurial-0.2', capabilities = 'getbundle bundle2=x httpheader=1024' } = {},
): Promise<Asked> {
  const asked: string[] = []
  const fake = createServer((incoming, answer) => {
    asked.push(incoming.url ?? '')
    const command = new URL(incoming.url ?? '', 'http://x').searchParams.get('cmd')
    const small = command === 'capabilities' ? capabilities : ''
    answer.writeHead(200, { 'content-type': command === 'getbundle' ? type : 'application/mercurial-0.1' })
    answer.end(command === 'getbundle' ? getbundle : small)
  })
  const listening = await listen(fake)
  return { ...listening, asked, url: `${listening.url}/` }
}

interface FakePart {
  type: string
  parameters?: Record<string, string>
  /** An interrupting part goes before the chunk that follows it. */
  payload?: (Buffer | FakePart)[]
}

/** The answer to `getbundle`, uncompressed. */
export function bundle2(...parts: FakePart[]): Buffer {
  return Buffer.concat([Buffer.from('\x04noneHG20'), number(0, 4), ...parts.map(describePart), number(0, 4)])
}

function describePart({ type, parameters = {}, payload = [] }: FakePart): Buffer {
  const pairs = Object.entries(parameters)
  const header = Buffer.concat([
    Buffer.from([type.length]),
    Buffer.from(type),
    number(0, 4),
    Buffer.from([pairs.length, 0, ...pairs.flatMap(([name, value]) => [name.length, value.length])]),
    Buffer.from(pairs.flat().join('')),
  ])
  const pieces = payload.map((piece) =>
    Buffer.isBuffer(piece)
      ? Buffer.concat([number(piece.length, 4), piece])
      : Buffer.concat([number(2 ** 32 - 1, 4), describePart(piece)]),
  )
  return Buffer.concat([number(header.length, 4), header, ...pieces, number(0, 4)])
}

function number(value: number, width: number): Buffer {
  const bytes = Buffer.alloc(width)
  bytes.writeUIntBE(value, 0, width)
  return bytes
}
