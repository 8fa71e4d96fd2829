import type { Readable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'

/** The text of a body that is not JSON; see `raw_body`. */
export async function readRawText(content: Readable, longest: number): Promise<string> {
  // A stream that is destroyed would take the connection along, and the client would not get the refusal.
  return readBounded(content.iterator({ destroyOnReturn: false }), longest)
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
