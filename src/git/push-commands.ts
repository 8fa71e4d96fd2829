import type { Readable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'
import type { Command } from './ref-command.ts'

const mostBytes = 16 << 20
/** Each is recorded, sent to webhooks and looked up: this bounds the work of one push. */
const mostCommands = 10_000
/** In bytes: what the database's index of refs takes. */
const longestName = 1000

export interface Head {
  commands: Command[]
  /** What was read to know them, and a little more: git wants it too. */
  read: Buffer[]
}

/** Reads the head of what a push sends: which refs are to move from where to where. The rest of the stream is left in it. */
export async function readCommands(body: Readable): Promise<Head> {
  const [read, commands]: [Buffer[], Command[]] = [[], []]
  let [size, rest]: [number, Buffer] = [0, Buffer.alloc(0)]
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    read.push(chunk)
    size += chunk.length
    rest = Buffer.concat([rest, chunk])
    for (let line = readLine(rest); line; line = readLine(rest)) {
      if (line.flush) return { commands, read }
      rest = rest.subarray(line.length)
      const command = readCommand(line.text)
      if (command) commands.push(command)
      if (commands.length > mostCommands)
        throw new Refusal('too_large', `A push moves at most ${mostCommands} refs: push them in parts.`)
    }
    if (size > mostBytes) throw new Refusal('too_large', 'The list of refs is too long: push them in parts.')
  }
  throw unreadable()
}

const unreadable = () => new Refusal('malformed', 'This is not what git sends for a push.')

/** The first line, by the length that stands before it; none when there is not enough yet. */
function readLine(buffer: Buffer): { flush: boolean; length: number; text: Buffer } | undefined {
  if (buffer.length < 4) return undefined
  const digits = buffer.toString('latin1', 0, 4)
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw unreadable()
  const length = Number.parseInt(digits, 16)
  if (length === 0) return { flush: true, length: 4, text: buffer.subarray(4, 4) }
  if (length < 4) throw unreadable()
  return buffer.length < length ? undefined : { flush: false, length, text: buffer.subarray(4, length) }
}

/** Strict: a line that git would take for a command and we would not could move a ref unseen. Signed pushes are not offered. */
function readCommand(line: Buffer): Command | undefined {
  const end = line.indexOf(0)
  const bytes = end < 0 ? line : line.subarray(0, end)
  const text = bytes.toString().replace(/\n$/, '')
  if (/^shallow [0-9a-f]{40}$/i.test(text)) return undefined
  const [, before, after, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n]+)$/i.exec(text) ?? []
  if (!before || !after || !ref) throw unreadable()
  if (!Buffer.from(ref).equals(bytes.subarray(82, 82 + Buffer.byteLength(ref))) || Buffer.byteLength(ref) > longestName)
    throw new Refusal('invalid', `The name of a branch or tag must be UTF-8, and at most ${longestName} bytes long.`)
  return { ref, before: before.toLowerCase(), after: after.toLowerCase() }
}
