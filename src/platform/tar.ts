const block = 512

/** An entry of a tar archive (ustar): a header and the content, padded to whole blocks. The content is in memory, so it must be bounded. */
export function tarEntry(path: string, content: Buffer, at: Date): Buffer {
  return Buffer.concat([tarHeader(path, content.length, at), content, tarPadding(content.length)])
}

/** What follows the content of an entry, up to a whole block. */
export const tarPadding = (size: number) => Buffer.alloc((block - (size % block)) % block)

/** Two empty blocks end an archive. */
export const tarEnd = Buffer.alloc(2 * block)

const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`

/** Sizes from 8 GB on do not fit into the octal digits: GNU's form has the highest bit set, and the number in binary. */
function sizeField(size: number): Buffer {
  if (size < 8 ** 11) return Buffer.from(octal(size, 12))
  const field = Buffer.alloc(12)
  field.writeBigUInt64BE(BigInt(size), 4)
  field[0] = 0x80
  return field
}

/** The kinds of entries, as ustar has them. */
export const tarTypes = { file: '0', folder: '5', longName: 'L' } as const

/** Begins an entry of any name. A long one is in an entry before, which is GNU's form. */
export function tarLongHeader(path: Buffer, size: number, mode: number, type: string, at: Date): Buffer {
  if (path.length <= longestName) return tarHeader(path, size, at, mode, type)
  const name = Buffer.concat([path, Buffer.alloc(1)])
  const before = tarHeader('././@LongLink', name.length, at, 0, tarTypes.longName)
  return Buffer.concat([before, name, tarPadding(name.length), tarHeader('long', size, at, mode, type)])
}

const longestName = 100

/** Begins an entry whose content follows. The name of the file has at most 100 bytes, and its folder 155. */
export function tarHeader(path: string | Buffer, size: number, at: Date, mode = 0o644, type: string = tarTypes.file): Buffer {
  const name = Buffer.from(path)
  const slash = name.lastIndexOf('/')
  const fields: [at: number, text: string | Buffer, longest: number][] = [
    [0, name.subarray(slash + 1), longestName],
    [100, octal(mode, 8), 8],
    [108, octal(0, 8), 8],
    [116, octal(0, 8), 8],
    [136, octal(Math.floor(at.getTime() / 1000), 12), 12],
    // The checksum counts its own field as spaces.
    [148, ' '.repeat(8), 8],
    [156, type, 1],
    [257, 'ustar\x0000', 8],
    [345, name.subarray(0, Math.max(slash, 0)), 155],
  ]
  const bytes = Buffer.alloc(block)
  for (const [offset, text, longest] of fields) {
    const field = Buffer.from(text)
    if (field.length > longest) throw new RangeError(`too long for an archive: ${path}`)
    field.copy(bytes, offset)
  }
  sizeField(size).copy(bytes, 124)
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return bytes
}
