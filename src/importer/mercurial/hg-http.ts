import { pipeline, Readable } from 'node:stream'
import { createInflate, createZstdDecompress } from 'node:zlib'
import { authorization, discard, headerOf, readBody } from '#importer/probe-http.ts'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'
import { openByteReader } from './byte-reader.ts'

/** Mercurial's HTTP protocol, version 1. */
export interface Remote {
  capabilities: Map<string, string>
  /** The whole answer of a command. */
  call(command: string, values?: Record<string, string>): Promise<Buffer>
  /** The decompressed answer of a command as a stream. */
  open(command: string, values?: Record<string, string>): Promise<AsyncIterable<Buffer>>
}

export const media = /^application\/mercurial-0\.[12]\b/

const maxCallSize = 16 << 20
const tooLarge = 'The server sent more than expected for this command.'
// In milliseconds. A server may take minutes before it sends the first byte of a large bundle.
const callTimeout = 60_000
const bundleTimeout = 600_000

export async function connect(origin: Origin, network: Network): Promise<Remote> {
  const remote: Remote = {
    capabilities: new Map(),
    async call(command, values = {}) {
      const answer = await send(origin, network, remote.capabilities, command, values, callTimeout)
      return readBody(answer, maxCallSize, tooLarge)
    },
    async open(command, values = {}) {
      const answer = await send(origin, network, remote.capabilities, command, values, bundleTimeout)
      return decompressed(answer)
    },
  }
  remote.capabilities = parseCapabilities((await remote.call('capabilities')).toString('latin1'))
  return remote
}

export function parseCapabilities(text: string): Map<string, string> {
  const pairs = text.trim().split(/\s+/)
  return new Map(pairs.map((pair) => [pair.split('=', 1)[0] ?? '', pair.includes('=') ? pair.slice(pair.indexOf('=') + 1) : '']))
}

async function send(
  origin: Origin,
  network: Network,
  capabilities: Map<string, string>,
  command: string,
  values: Record<string, string>,
  patience: number,
): Promise<OutboundAnswer> {
  const url = new URL(origin.url)
  url.searchParams.set('cmd', command)
  const headers: Record<string, string> = {
    ...authorization(origin),
    accept: 'application/mercurial-0.1',
    'accept-encoding': 'identity',
    'x-hgproto-1': '0.1 0.2 comp=zstd,zlib,none',
  }
  const room = Number(capabilities.get('httpheader') ?? 0)
  if (room > 100) {
    const encoded = new URLSearchParams(values).toString()
    // The name of the header and the colon count too.
    const size = Math.min(room, 1024) - 20
    for (let at = 0; at < encoded.length; at += size) headers[`x-hgarg-${at / size + 1}`] = encoded.slice(at, at + size)
  } else for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value)
  const answer = await reach(url, network, headers, patience)
  if (answer.status === 200 && media.test(headerOf(answer, 'content-type'))) return answer
  throw await explain(url, answer)
}

async function reach(url: URL, { egress, signal }: Network, headers: Record<string, string>, patience: number) {
  try {
    return await egress.request(url.href, { headers, signal, patience })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && 'code' in error && error.code === 'FORBIDDEN_ADDRESS') {
      throw new ImportFailure(`This server may not connect there: ${error.message}.`)
    }
    throw new ImportFailure(`${url.host} does not answer: ${error instanceof Error ? error.message : error}.`)
  }
}

async function explain({ host }: URL, answer: OutboundAnswer): Promise<ImportFailure> {
  const { status } = answer
  if (status === 401 || status === 403) {
    discard(answer)
    return new ImportFailure(`${host} does not accept the user name and password.`, 'auth')
  }
  const type = headerOf(answer, 'content-type')
  if (type.startsWith('application/hg-error'))
    return new ImportFailure(`${host} reported: ${quote(await readBody(answer, 4096, tooLarge))}`)
  if (status >= 500) {
    const text = quote(await readBody(answer, 4096, tooLarge).catch(() => ''))
    return new ImportFailure(`${host} failed with status ${status}${text && `: "${text}"`}. ${advice}`)
  }
  discard(answer)
  if (status >= 300 && status < 400) {
    return new ImportFailure(`${host} reports that the repository has moved. Start an import from its new address.`)
  }
  if (status === 200) return new ImportFailure(`What ${host} answered is not a Mercurial repository.`)
  return new ImportFailure(`${host} answered with status ${status} where a Mercurial repository was expected.`)
}

const advice = 'If it fails again, run `hg verify` on the source repository.'

/** A source that the server itself cannot read to its end. `words` is what the server said. */
export function damaged(what: string, words = ''): ImportFailure {
  const said = words && `, and the server said: "${words}"`
  return new ImportFailure(
    `The source is damaged: ${what}${said}. Run \`hg verify\` on the source repository, then restart the import.`,
  )
}

/** Makes text of a server safe to show. */
export function quote(text: Buffer | string): string {
  return text
    .toString()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500)
}

async function decompressed(answer: OutboundAnswer): Promise<AsyncIterable<Buffer>> {
  if (headerOf(answer, 'content-type').startsWith('application/mercurial-0.1')) return through(answer.body, 'zlib')
  const reader = openByteReader(answer.body)
  const [length = 0] = await reader.take(1)
  const engine = (await reader.take(length)).toString('latin1')
  return through(reader.rest(), engine)
}

/** In bytes. */
const keptEnd = 512

/** When `hg serve` fails in the middle of an answer, it appends a plain text to it and ends it as if it were complete. */
function keepEnd(stream: AsyncIterable<Buffer>) {
  let end: Buffer = Buffer.alloc(0)
  async function* pass() {
    for await (const chunk of stream) {
      end = Buffer.concat([end, chunk.subarray(-keptEnd)]).subarray(-keptEnd)
      yield chunk
    }
  }
  return {
    body: Readable.from(pass(), { objectMode: false }),
    lastWords: () => {
      const words =
        end
          .toString('latin1')
          .split(/[^\x20-\x7e\s]/)
          .at(-1) ?? ''
      return quote(words.length < 8 ? '' : words)
    },
  }
}

async function* through(compressed: AsyncIterable<Buffer>, engine: string): AsyncGenerator<Buffer> {
  if (engine === 'none') return yield* compressed
  if (engine !== 'zlib' && engine !== 'zstd')
    throw new ImportFailure(`The server compresses with ${quote(engine)}, which is not supported.`)
  const decompress = engine === 'zlib' ? createInflate({ chunkSize: 128 << 10 }) : createZstdDecompress({ chunkSize: 128 << 10 })
  const { body, lastWords } = keepEnd(compressed)
  let lost = false
  body.once('error', () => {
    lost = true
  })
  try {
    // Errors reach the reader of the stream.
    yield* pipeline(body, decompress, () => {})
  } catch (error) {
    if (lost || !isUndecodable(error)) throw error
    throw damaged('its data cannot be decompressed', lastWords())
  }
}

/** The codes of zlib and zstd. */
const isUndecodable = (error: unknown) =>
  error instanceof Error && 'code' in error && /^(Z_|ZSTD_|ERR_Z)/.test(String(error.code))
