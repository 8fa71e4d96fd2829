import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { deflateSync } from 'node:zlib'
import { runGit } from '#git/run-git.ts'

const kinds = { commit: 1, tree: 2, blob: 3, tag: 4 } as const

/** In bytes. Two packs are in memory: one is filled while git reads the other. */
const capacity = 16 << 20

/** In bytes. Longer objects are compressed. */
const longestStored = 4096

/** Writes packs through `git index-pack`, one process per 16 MB of objects. */
export function openPackWriter(repository: string, signal: AbortSignal) {
  let pack = openPack(capacity)
  let waiting = 0
  let indexed = Promise.resolve()

  function send() {
    if (!pack.count) return
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

  return {
    /** Returns the object's id. */
    add(type: keyof typeof kinds, data: Buffer) {
      const id = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex')
      if (pack.ids.has(id)) return id
      const packed = data.length > longestStored ? deflateSync(data, { level: 1 }) : undefined
      const needed = headSize + (packed?.length ?? data.length + storedSize)
      if (pack.length + needed + trailerSize > pack.bytes.length) {
        send()
        if (needed + headSize + trailerSize > capacity) pack = openPack(needed + headSize + trailerSize)
      }
      pack.ids.add(id)
      pack.count++
      pack.length = writeHead(pack.bytes, pack.length, kinds[type], data.length)
      pack.length += packed ? packed.copy(pack.bytes, pack.length) : writeStored(pack.bytes, pack.length, data)
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

/** The sizes of a pack header, or the largest object header, and of the checksum. */
const headSize = 12
const trailerSize = 20

const openPack = (size: number) => ({ bytes: Buffer.allocUnsafe(size), length: headSize, count: 0, ids: new Set<string>() })

function finish({ bytes, length, count }: ReturnType<typeof openPack>) {
  bytes.write('PACK')
  bytes.writeUInt32BE(2, 4)
  bytes.writeUInt32BE(count, 8)
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
