import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Author } from '#importer/source.ts'
import { describePerson } from '#importer/staging/fast-import.ts'
import type { Changeset } from './changeset.ts'

const latest = 253402300799

/** Git supports no time before 1970 and no zone beyond 14 hours. */
export function describeDate({ time, west }: Pick<Changeset, 'time' | 'west'>): string {
  const east = Math.round(-west / 60)
  const minutes = Math.abs(east) <= 14 * 60 ? Math.abs(east) : 0
  const zone = `${Math.floor(minutes / 60)}`.padStart(2, '0') + `${minutes % 60}`.padStart(2, '0')
  return `${Math.min(Math.max(time, 0), latest)} ${east < 0 && minutes > 0 ? '-' : '+'}${zone}`
}

/** The message in UTF-8, without zero bytes. */
export function readable(message: Buffer): Buffer {
  const utf8 = isUtf8(message)
  if (utf8 && !message.includes(0)) return message
  return Buffer.from(message.toString(utf8 ? 'utf8' : 'latin1').replaceAll('\0', ''))
}

/**
 * A Mercurial user is free text, by convention `Name <address>`. As in other converters, the address ends at the first `>`, so the second
 * one of `A <a@x> from B <b@y>` is left out; text without brackets is an address if it has an `@`.
 */
export function readAuthor(user: string): Author & { described: string } {
  const line = user.replaceAll('\0', '').slice(0, 500)
  const [, name = '', inner = ''] = /^([^<]*)<[<\s]*([^>]*)/.exec(line) ?? [line, line, line.includes('@') ? line : '']
  const address = inner.trim()
  const described = describePerson(name.trim() || address, address || 'none@none')
  const at = described.lastIndexOf(' <')
  return {
    remote_id: line,
    remote_name: line,
    name: described.slice(0, at),
    email: described.slice(at + 2, -1),
    described,
  }
}

/** The author, the date and the message that the commit of a changeset must have. */
export interface CommitTexts {
  author: string
  date: string
  /** The SHA-1 of the message. */
  message: string
}

export function expectTexts(changeset: Changeset): CommitTexts {
  const message = hashOf(readable(changeset.message))
  return { author: readAuthor(changeset.user).described, date: describeDate(changeset), message }
}

/** What differs in a commit of git, whose author is its committer too. */
export function compareTexts(commit: Buffer, expected: CommitTexts): string[] {
  const end = commit.indexOf('\n\n')
  const people = [...commit.toString('utf8', 0, end + 1).matchAll(/^(?:author|committer) (.*) (\d+ [+-]\d+)$/gm)]
  const has = (index: number, wanted: string) => people.length === 2 && people.every((found) => found[index] === wanted)
  return [
    ...(has(1, expected.author) ? [] : ['has another author']),
    ...(has(2, expected.date) ? [] : ['has another date']),
    ...(hashOf(commit.subarray(end + 2)) === expected.message ? [] : ['has another message']),
  ]
}

const hashOf = (text: Buffer) => createHash('sha1').update(text).digest('hex')
