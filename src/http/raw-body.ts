import type { Readable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'

/** The pieces of a body that is not JSON; see `raw_body`. It may arrive for hours, so `recheck` runs when it is complete. */
export async function* readUpload(content: Readable, recheck: () => Promise<void>): AsyncGenerator<Buffer> {
  // A stream that is destroyed would take the connection along, and the client would not get the refusal.
  yield* content.iterator({ destroyOnReturn: false })
  await recheck()
}

/** Refuses more than `longest` bytes. */
export async function readBounded(chunks: AsyncIterable<Buffer>, longest: number): Promise<string> {
  const read: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > longest) throw new Refusal('too_large', `The text has more than ${longest} bytes.`)
    read.push(chunk)
  }
  return Buffer.concat(read).toString()
}
