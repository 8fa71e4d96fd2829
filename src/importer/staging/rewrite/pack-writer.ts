import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { deflateSync } from 'node:zlib'
import { runGit } from '#git/run-git.ts'

const kinds = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
const offsetDelta = 6

/** In bytes. Two packs are in memory: one is filled while git reads the other. */
const capacity = 16 << 20

/** In bytes. Longer objects are compressed. */
const longestStored = 4096

/** Of git's own packs. A reader applies this many deltas at most. */
const maxDepth = 50

/** An object as a delta in git's format. */
export interface Delta {
  /** The id of the object that the delta applies to. */
  base: string
  bytes: Buffer
}

/**
 * Writes packs through `git index-pack`, one process per 16 MB of objects. With `dense`, all whole objects are compressed well, so
 * that the packs are fit to be published.
 */
export function openPackWriter(repository: string, signal: AbortSignal, { dense = false } = {}) {
  let pack = openPack(capacity)
  let waiting = 0
  let indexed = Promise.resolve()

  function send() {
    if (!pack.objects.size) return
    const input = finish(pack)
    pack = openPack(capacity)
    waiting++
    indexed = indexed.then(async () => {
      await runGit(repository, ['index-pack', '--stdin'], { signal, input: Readable.from([input]), detached: false })
      waiting--
    })
    // Reported by the next `room` or `end`.
    indexed.catch(() => {})
  }

  function compress(data: Buffer) {
    if (dense) return deflate(data)
    return data.length > longestStored ? deflate(data, 1) : undefined
  }

  return {
    /** Returns the object's id. The delta is used if its base is in the same pack. */
    add(type: keyof typeof kinds, data: Buffer, delta?: Delta) {
      const id = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex')
      if (pack.objects.has(id)) return id
      const base = delta && pack.objects.get(delta.base)
      if (base && base.depth < maxDepth && delta.bytes.length < data.length / 2) {
        // Deltas of trees consist of ids, which are random.
        const packed = delta.bytes.length > longestStored ? deflate(delta.bytes) : undefined
        if (hasRoom(pack, delta.bytes, packed)) {
          const at = pack.length
          pack.length = writeHead(pack.bytes, at, offsetDelta, delta.bytes.length)
          pack.length = writeDistance(pack.bytes, pack.length, at - base.at)
          writeData(pack, delta.bytes, packed)
          pack.objects.set(id, { at, depth: base.depth + 1 })
          return id
        }
      }
      const packed = compress(data)
      if (!hasRoom(pack, data, packed)) {
        send()
        if (!hasRoom(pack, data, packed)) pack = openPack(headSize + neededFor(data, packed) + trailerSize)
      }
      pack.objects.set(id, { at: pack.length, depth: 0 })
      pack.length = writeHead(pack.bytes, pack.length, kinds[type], data.length)
      writeData(pack, data, packed)
      return id
    },
    /** Waits while git is behind. */
    async room() {
      if (waiting > 1) await indexed
    },
    async end() {
      send()
      await indexed
    },
  }
}

/** Writes new objects. They are on disk when `end` resolves. */
export type PackWriter = ReturnType<typeof openPackWriter>

/** In bytes. For so few, the compressor needs 8 KB of memory instead of 270 KB, which would keep the garbage collector busy. */
const fewBytes = 1024

/** The room for the result is allocated at once. */
function deflate(data: Buffer, level = -1) {
  const small = data.length <= fewBytes && { windowBits: 10, memLevel: 3 }
  return deflateSync(data, { level, chunkSize: data.length + 64, ...small })
}

/** The sizes of a pack header, of the largest object header, and of the checksum. */
const headSize = 12
const objectHeadSize = 20
const trailerSize = 20

/** `objects` has the position of each object, and the number of deltas to apply for it. */
function openPack(size: number) {
  const objects = new Map<string, { at: number; depth: number }>()
  return { bytes: Buffer.allocUnsafeSlow(size), length: headSize, objects }
}

type Pack = ReturnType<typeof openPack>

const neededFor = (data: Buffer, packed: Buffer | undefined) => objectHeadSize + (packed?.length ?? data.length + storedSize)

const hasRoom = ({ bytes, length }: Pack, data: Buffer, packed: Buffer | undefined) =>
  length + neededFor(data, packed) + trailerSize <= bytes.length

function writeData(pack: Pack, data: Buffer, packed: Buffer | undefined) {
  pack.length += packed ? packed.copy(pack.bytes, pack.length) : writeStored(pack.bytes, pack.length, data)
}

function finish({ bytes, length, objects }: Pack) {
  bytes.write('PACK')
  bytes.writeUInt32BE(2, 4)
  bytes.writeUInt32BE(objects.size, 8)
  createHash('sha1').update(bytes.subarray(0, length)).digest().copy(bytes, length)
  return bytes.subarray(0, length + trailerSize)
}

/** The type and four bits of the size, then seven bits in each byte. */
function writeHead(bytes: Buffer, start: number, kind: number, size: number) {
  let at = start
  let byte = (kind << 4) | (size & 15)
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    bytes[at++] = byte | 0x80
    byte = left & 0x7f
  }
  bytes[at++] = byte
  return at
}

/** How far back the base of a delta is: seven bits in each byte, the highest first, and one is subtracted from all but the last. */
function writeDistance(bytes: Buffer, at: number, distance: number) {
  const parts = [distance & 0x7f]
  for (let left = Math.floor(distance / 128); left > 0; left = Math.floor(left / 128)) {
    left--
    parts.unshift(0x80 | (left & 0x7f))
  }
  bytes.set(parts, at)
  return at + parts.length
}

/** Seven bytes before the data and a checksum after it. */
const storedSize = 11

/** A zlib stream with one uncompressed block. */
function writeStored(bytes: Buffer, at: number, data: Buffer) {
  bytes[at] = 0x78
  bytes[at + 1] = 0x01
  bytes[at + 2] = 1
  bytes.writeUInt16LE(data.length, at + 3)
  bytes.writeUInt16LE(~data.length & 0xffff, at + 5)
  data.copy(bytes, at + 7)
  bytes.writeUInt32BE(adler32(data), at + 7 + data.length)
  return data.length + storedSize
}

/** Without a division per byte: for 4096 bytes, no sum exceeds 2^53. */
function adler32(data: Buffer) {
  let low = 1
  let high = 0
  for (const byte of data) {
    low += byte
    high += low
  }
  return (high % 65521) * 65536 + (low % 65521)
}
