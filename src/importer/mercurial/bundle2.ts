import { ImportFailure } from '#importer/source.ts'
import type { ByteReader } from './byte-reader.ts'
import { damaged, quote } from './hg-http.ts'

interface Part {
  type: string
  parameters: Map<string, string>
  /** Must be read to its end before the next part. */
  payload: AsyncGenerator<Buffer>
}

/** The parts of a bundle after its magic. Throws the errors that the server reports inside. */
export async function* readParts(reader: ByteReader): AsyncGenerator<Part> {
  const settings = (await reader.take(await readLength(reader))).toString('latin1')
  if (/(^| )Compression=(?!UN\b)/.test(settings)) throw new ImportFailure('The server sent a bundle that is compressed twice.')
  for (let part = await readPart(reader); part; part = await readPart(reader)) {
    if (part.type.startsWith('error:')) throw await explain(part)
    yield part
  }
}

async function readPart(reader: ByteReader): Promise<Part | undefined> {
  const length = await readLength(reader)
  if (length === 0) return
  const header = await reader.take(length)
  let at = 0
  const number = () => header.readUInt8(at++)
  const text = (size: number) => {
    at += size
    return header.toString('latin1', at - size, at)
  }
  const type = text(number()).toLowerCase()
  at += 4
  const count = number() + number()
  const sizes = Array.from({ length: count }, () => [number(), number()] as const)
  return { type, parameters: new Map(sizes.map(([name, value]) => [text(name), text(value)])), payload: readPayload(reader) }
}

async function* readPayload(reader: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const length = await readLength(reader)
    if (length === 0) return
    if (length > 0) {
      yield* reader.pass(length)
      continue
    }
    // An interrupting part: an error of the server, or text to print.
    const between = length === -1 ? await readPart(reader) : undefined
    if (length !== -1) throw new ImportFailure('The server sent a bundle that cannot be read.')
    if (between?.type.startsWith('error:')) throw await explain(between)
    for await (const _ of between?.payload ?? []);
  }
}

async function readLength(reader: ByteReader): Promise<number> {
  return (await reader.take(4)).readInt32BE()
}

async function explain({ parameters, payload }: Part): Promise<ImportFailure> {
  for await (const _ of payload);
  const reasons = [parameters.get('message'), parameters.get('hint'), parameters.get('parttype'), parameters.get('params')]
  const words = quote(reasons.filter(Boolean).join(' ') || 'it gives no reason')
  return unreadable.test(words)
    ? damaged('the server cannot read it', words)
    : new ImportFailure(`The server reported an error: ${words}`)
}

/** Messages of Mercurial about a repository for which `hg verify` fails. */
const unreadable = /integrity check|corrupt|no node|no match found|unknown revision|decompress|unexpected error/i
