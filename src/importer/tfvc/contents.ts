import { createHash, type Hash } from 'node:crypto'
import { createReadStream, mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'
import type { Item } from './changesets.ts'
import type { Client, Query } from './client.ts'
import { Refused, TransientError } from './responses.ts'

/** In bytes. Larger contents are stored in a file. */
export const largestHeld = 4 << 20
/** The number of remembered blob ids. */
const maxKnown = 200_000

export type Content =
  /** Git has the content, or will have it after earlier writes. */
  | { known: Known }
  | { known: Known | undefined; size: number; chunks: Buffer[] }
  | { known: Known | undefined; size: number; file: string }
  /** The server no longer has it. */
  | 'gone'

/** The id is undefined while the content is being fetched, or if that failed. */
interface Known {
  id: string | undefined
}

export function openContents(client: Client, folder: string) {
  const spool = join(folder, 'contents')
  rmSync(spool, { recursive: true, force: true })
  mkdirSync(spool, { recursive: true, mode: 0o700 })
  const known = new Map<string, Known>()
  let files = 0

  function recall(item: Item): { known: Known | undefined; again: boolean } {
    if (item.hash === undefined || item.size === undefined) return { known: undefined, again: false }
    const key = `${item.hash}${item.size}`
    const before = known.get(key)
    const one = before ?? { id: undefined }
    known.delete(key)
    known.set(key, one)
    for (const [oldest] of known) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    return { known: one, again: before !== undefined }
  }

  async function fetch(item: Item, version: number, known: Known | undefined): Promise<Content> {
    const file = join(spool, String(++files))
    try {
      const { id, ...text } = await client.ask(...download(item.path, version), (answer) => receive(answer, item, version, file))
      if (known) known.id = id
      return { known, ...text }
    } catch (error) {
      if (error instanceof Refused && [404, 410].includes(error.status)) return 'gone'
      throw error
    }
  }

  return {
    async load(item: Item, version: number) {
      const { known, again } = recall(item)
      return known && again ? { known } : fetch(item, version, known)
    },
    /** Fetches the content even if it is known. */
    reload: (item: Item, version: number) => fetch(item, version, undefined),
    [Symbol.dispose]() {
      rmSync(spool, { recursive: true, force: true })
    },
  }
}

/** Fetches file contents, each distinct one once, and checks size and MD5. */
export type Contents = ReturnType<typeof openContents>

/** The request for the content of a file in a changeset. */
export function download(path: string, version: number): [path: string, query: Query, accept: string] {
  return ['_apis/tfvc/items', { path, ...at(version), download: true }, 'application/octet-stream']
}

/** Older servers use the short names, newer ones document the long ones. */
export function at(version: number): Query {
  return {
    versionType: 'Changeset',
    version,
    'versionDescriptor.versionType': 'Changeset',
    'versionDescriptor.version': version,
  }
}

async function receive({ body }: OutboundAnswer, item: Item, version: number, file: string) {
  const differing = (how: string) => new TransientError(`${item.path} in changeset ${version} ${how}`, { attempts: 3 })
  const md5 = createHash('md5')
  const named = item.size === undefined ? undefined : blobHash(item.size)
  const chunks: Buffer[] = []
  let size = 0
  let handle: FileHandle | undefined
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (item.size !== undefined && size > item.size) throw differing('is longer than the server announced')
      md5.update(chunk)
      named?.update(chunk)
      chunks.push(chunk)
      if (size <= largestHeld) continue
      handle ??= await open(file, 'w', 0o600)
      for (const each of chunks.splice(0)) await handle.write(each)
    }
  } catch (error) {
    await handle?.close()
    rmSync(file, { force: true })
    throw error
  }
  await handle?.close()
  if (item.size !== undefined && size !== item.size) throw differing(`has ${size} bytes, but the server announced ${item.size}`)
  if (item.hash !== undefined && md5.digest('base64') !== item.hash) throw differing('does not match its MD5')
  if (handle) return { id: named?.digest('hex'), size, file }
  return { id: named?.digest('hex'), size, chunks }
}

function blobHash(size: number): Hash {
  return createHash('sha1').update(`blob ${size}\0`)
}

/** The fetched bytes. The file is deleted afterwards. */
export async function* take(content: { chunks: Buffer[] } | { file: string }): AsyncGenerator<Buffer> {
  if ('chunks' in content) return yield* content.chunks
  try {
    yield* createReadStream(content.file, { highWaterMark: 128 << 10 })
  } finally {
    rmSync(content.file, { force: true })
  }
}
