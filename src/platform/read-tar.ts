const block = 512

export interface TarEntry {
  path: string
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
  for (;;) {
    const header = await reader.exactly(block)
    if (header.every((byte) => byte === 0)) return
    const entry = parseHeader(header)
    const content = reader.bytes(entry.size)
    yield { ...entry, content }
    for await (const _ of content);
    await reader.exactly((block - (entry.size % block)) % block)
  }
}

function parseHeader(header: Buffer) {
  const stored = readOctal(header, 148, 8)
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  if (stored !== sum) throw new DamagedArchive('a header has a wrong checksum')
  const prefix = readText(header, 345, 155)
  const name = readText(header, 0, 100)
  const large = (header[124] ?? 0) & 0x80
  const size = large ? Number(header.readBigUInt64BE(128)) : readOctal(header, 124, 12)
  return { path: prefix ? `${prefix}/${name}` : name, size, mode: readOctal(header, 100, 8) }
}

const readText = (header: Buffer, at: number, length: number) => header.toString('utf8', at, at + length).replace(/\0.*$/s, '')

const readOctal = (header: Buffer, at: number, length: number) => Number.parseInt(readText(header, at, length).trim() || '0', 8)

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
