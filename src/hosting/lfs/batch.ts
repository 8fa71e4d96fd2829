import type { Readable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'
import type { StoredObject } from '#platform/file-store/file-store.ts'
import { parseJson } from '#platform/json.ts'

export interface Batch {
  operation: 'upload' | 'download'
  objects: StoredObject[]
}

/** Clients request a hundred objects at a time. */
const mostObjects = 1000
const mostBody = 1 << 20

export async function readLimited(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    size += chunk.length
    if (size > mostBody) throw new Refusal('too_large', 'The body is too large.')
  }
  return Buffer.concat(chunks).toString()
}

export function readBatch(text: string): Batch {
  const { operation, objects, transfers, hash_algo } = parse(text)
  if (operation !== 'upload' && operation !== 'download') throw unreadable('operation must be upload or download')
  if (!isList(objects) || !objects.every(isObject)) throw unreadable('objects must be a list, each with oid and size')
  if (objects.length > mostObjects) throw new Refusal('too_large', `No more than ${mostObjects} objects at a time.`)
  if (transfers !== undefined && transfers !== null && !(isList(transfers) && (!transfers.length || transfers.includes('basic'))))
    throw unreadable('the only transfer is basic')
  if (hash_algo !== undefined && hash_algo !== 'sha256') throw new Refusal('conflict', 'The only hash algorithm is sha256.')
  return { operation, objects: objects.map(({ oid, size }) => ({ oid, size })) }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseJson(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // The same response as for a missing object.
  }
  throw new Refusal('malformed', 'Problems parsing JSON')
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

function isObject(value: unknown): value is StoredObject {
  const { oid, size } = (value ?? {}) as Record<string, unknown>
  return typeof oid === 'string' && !oid.includes('\0') && oid.isWellFormed() && Number.isSafeInteger(size) && Number(size) >= 0
}

const unreadable = (message: string) => new Refusal('invalid', `This is not a request for a batch: ${message}.`)
