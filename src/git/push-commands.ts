import type { Readable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'
import type { Command } from './ref-command.ts'

const mostBytes = 16 << 20
/** Each command is recorded, looked up and sent to webhooks, so this bounds the work of a push. */
const mostCommands = 10_000
/** In bytes: the limit of the database's index of refs. */
const longestName = 1000

export interface Head {
  commands: Command[]
  /** The bytes that were read so far. Git needs them too. */
  read: Buffer[]
  /** Whether the client shows messages that are sent on a side band of the response. */
  side_band: boolean
}

/** Reads the commands at the beginning of a push. The rest stays in the stream. */
export async function readCommands(body: Readable): Promise<Head> {
  const [read, commands]: [Buffer[], Command[]] = [[], []]
  let [size, rest, side_band]: [number, Buffer, boolean] = [0, Buffer.alloc(0), false]
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    read.push(chunk)
    size += chunk.length
    rest = Buffer.concat([rest, chunk])
    for (let line = readLine(rest); line; line = readLine(rest)) {
      if (line.flush) return { commands, read, side_band }
      rest = rest.subarray(line.length)
      side_band ||= takesSideBand(line.text)
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

/** The first packet, by its length prefix; undefined if it is incomplete. */
function readLine(buffer: Buffer): { flush: boolean; length: number; text: Buffer } | undefined {
  if (buffer.length < 4) return undefined
  const digits = buffer.toString('latin1', 0, 4)
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw unreadable()
  const length = Number.parseInt(digits, 16)
  if (length === 0) return { flush: true, length: 4, text: buffer.subarray(4, 4) }
  if (length < 4) throw unreadable()
  return buffer.length < length ? undefined : { flush: false, length, text: buffer.subarray(4, length) }
}

/** Capabilities are words after a null character. Git sends them with the first command. */
function takesSideBand(line: Buffer) {
  const end = line.indexOf(0)
  return end >= 0 && /(?:^|[ \0])side-band-64k(?:[ \n\0]|$)/.test(line.toString('latin1', end + 1))
}

/** Strict: a line that git reads as a command and we do not could move a ref unnoticed. Signed pushes are not offered. */
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
