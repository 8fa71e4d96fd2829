import { ImportFailure } from '#importer/source.ts'

export interface DumpRecord {
  headers: Map<string, string>
  properties: Properties | undefined
}

/** Null if the property was deleted. */
export type Properties = Map<string, Buffer | null>

/** The dump ended early. */
export class CutOff extends ImportFailure {
  constructor() {
    super('The Subversion server closed the connection before everything was read. Restart the import to resume.')
  }
}

const longestHeaders = 1 << 20
const longestProperties = 64 << 20

export function readDump(stream: AsyncIterable<Buffer>) {
  const input = stream[Symbol.asyncIterator]()
  let here: Buffer = Buffer.alloc(0)
  let text = 0

  async function more(): Promise<boolean> {
    const { done, value } = await input.next()
    if (done) return false
    here = here.length > 0 ? Buffer.concat([here, value]) : value
    return true
  }

  async function take(length: number): Promise<Buffer> {
    if (here.length < length) await gather(length)
    const taken = here.subarray(0, length)
    here = here.subarray(length)
    return taken
  }

  /** Copies each chunk once. */
  async function gather(length: number) {
    const chunks = [here]
    for (let size = here.length; size < length; ) {
      const { done, value } = await input.next()
      if (done) throw new CutOff()
      chunks.push(value)
      size += value.length
    }
    here = Buffer.concat(chunks)
  }

  async function headers(): Promise<Map<string, string> | undefined> {
    while (here.length === 0 || here[0] === 10) {
      if (here.length > 0) here = here.subarray(1)
      else if (!(await more())) return
    }
    let end = here.indexOf('\n\n')
    while (end < 0) {
      const searched = Math.max(here.length - 1, 0)
      if (searched > longestHeaders) throw new ImportFailure('The Subversion server sent something that is not a dump.')
      if (!(await more())) throw new CutOff()
      end = here.indexOf('\n\n', searched)
    }
    const lines = here.toString('utf8', 0, end).split('\n')
    here = here.subarray(end + 2)
    return new Map(
      lines.map((line) => {
        const colon = line.indexOf(': ')
        return [line.slice(0, colon), line.slice(colon + 2)]
      }),
    )
  }

  async function next(): Promise<DumpRecord | undefined> {
    while (text > 0) await some()
    const found = await headers()
    if (!found) return
    const length = Number(found.get('Prop-content-length') ?? 0)
    if (length > longestProperties)
      throw new ImportFailure('A revision has properties of more than 64 MB, which is not supported.')
    const properties = found.has('Prop-content-length') ? readProperties(await take(length)) : undefined
    text = Number(found.get('Text-content-length') ?? 0)
    return { headers: found, properties }
  }

  /** This many bytes of the text, valid until the next call. */
  async function bytes(length: number) {
    text -= length
    return take(length)
  }

  /** The next chunk of the text. */
  async function some() {
    if (here.length === 0 && !(await more())) throw new CutOff()
    return bytes(Math.min(text, here.length))
  }

  return { next, bytes, some, left: () => text }
}

/**
 * Reads the output of `svnrdump dump` (format 3): the headers and properties of each record. The caller may read the text that follows, or
 * skip it.
 */
export type Dump = ReturnType<typeof readDump>

/** `K` and a length, the name, `V` and a length, the value; or `D` for a deleted property; until `PROPS-END`. */
function readProperties(block: Buffer): Properties {
  const properties: Properties = new Map()
  for (let at = 0; at < block.length; ) {
    const [kind, length, name] = readItem(block, at)
    if (kind !== 'K' && kind !== 'D') break
    at = name + length + 1
    const key = block.toString('utf8', name, name + length)
    if (kind === 'D') {
      properties.set(key, null)
      continue
    }
    const [, size, value] = readItem(block, at)
    properties.set(key, Buffer.from(block.subarray(value, value + size)))
    at = value + size + 1
  }
  return properties
}

function readItem(block: Buffer, at: number): [kind: string, length: number, start: number] {
  const end = block.indexOf(10, at)
  const [kind = '', length] = block.toString('latin1', at, end < 0 ? block.length : end).split(' ', 2)
  return [kind, Number(length), end + 1]
}
