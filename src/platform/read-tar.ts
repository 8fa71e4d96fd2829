import { tarTypes } from './tar.ts'

const block = 512
/** Bytes of a name that does not fit into a header. */
const longestName = 1 << 16

export interface TarEntry {
  path: string
  /** The bytes of the path, which need not be text. */
  name: Buffer
  /** One of `tarTypes`, or of another program. */
  type: string
  size: number
  mode: number
  /** Must be read before the next entry; what is left is skipped. */
  content: AsyncGenerator<Buffer, void, void>
}

/** Thrown when an archive breaks off, or is none. */
export class DamagedArchive extends Error {}

/** Reads a tar archive as tar.ts writes it, in bounded memory. */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void, void> {
  const reader = new Reader(chunks)
  let long: Buffer | undefined
  for (;;) {
    const header = await reader.exactly(block)
    if (header.every((byte) => byte === 0)) return
    const entry = parseHeader(header)
    const padding = (block - (entry.size % block)) % block
    if (entry.type === tarTypes.longName) {
      if (entry.size > longestName) throw new DamagedArchive('a name is too long')
      long = upToZero(await reader.exactly(entry.size))
    } else {
      const name = long ?? entry.name
      long = undefined
      const content = reader.bytes(entry.size)
      yield { ...entry, name, path: name.toString(), content }
      for await (const _ of content);
    }
    await reader.exactly(padding)
  }
}

function parseHeader(header: Buffer) {
  const stored = readOctal(header, 148, 8)
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  if (stored !== sum) throw new DamagedArchive('a header has a wrong checksum')
  const prefix = upToZero(header.subarray(345, 345 + 155))
  const name = upToZero(header.subarray(0, 100))
  const large = (header[124] ?? 0) & 0x80
  const size = large ? Number(header.readBigUInt64BE(128)) : readOctal(header, 124, 12)
  return {
    name: prefix.length ? Buffer.concat([prefix, Buffer.from('/'), name]) : name,
    type: upToZero(header.subarray(156, 157)).toString() || tarTypes.file,
    size,
    mode: readOctal(header, 100, 8),
  }
}

/** Copied, because the bytes of a chunk are not kept. */
function upToZero(bytes: Buffer): Buffer {
  const zero = bytes.indexOf(0)
  return Buffer.from(zero < 0 ? bytes : bytes.subarray(0, zero))
}

const readOctal = (header: Buffer, at: number, length: number) =>
  Number.parseInt(
    upToZero(header.subarray(at, at + length))
      .toString()
      .trim() || '0',
    8,
  )

/** Cuts a stream of chunks into pieces of known lengths. */
class Reader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async exactly(length: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.bytes(length)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async *bytes(length: number): AsyncGenerator<Buffer, void, void> {
    for (let left = length; left > 0; ) {
      if (!this.#rest.length) {
        const { done, value } = await this.#chunks.next()
        if (done) throw new DamagedArchive('the archive ends early')
        this.#rest = value
      }
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
}
