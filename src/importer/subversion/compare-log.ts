import type { Verification } from '#importer/source.ts'
import type { Recorded } from '#importer/staging/arrange/arrange.ts'
import { endLine } from '#importer/staging/arrange/root-history.ts'
import { readInOrder } from '#importer/staging/object-reader.ts'
import { describeAuthor, noAuthor } from './authors.ts'
import type { Connection } from './connection.ts'
import { decodeText } from './decode-text.ts'
import { readDump } from './dump.ts'
import type { Plan } from './plan.ts'
import { addressOf, type Repository } from './projects.ts'
import { findInside, readElements } from './xml.ts'

type Revised = Extract<Recorded, { number: number }>

/** The author, the date and the message of a revision, as the source tells them now. */
interface Told {
  number: number
  author: string
  date: string
  message: string
}

interface LogComparison {
  repository: string
  signal: AbortSignal
  plan: Plan
  /** The commits to compare. Read twice. */
  commits(): AsyncIterable<Revised>
  result: Verification
}

/** In bytes, of one revision without its paths. */
const maxEntry = 16 << 20
/** Revisions per request. */
const batch = 200
const maxMismatches = 100

/** Compares authors, dates and log messages of commits with the source. */
export async function compareLog(source: { repository: Repository; connection: Connection }, comparison: LogComparison) {
  const { repository, signal, plan, commits, result } = comparison
  const numbers = new Set<number>()
  for await (const { number } of commits()) numbers.add(number)
  const told = new Map<number, Told>()
  for await (const entry of readTold(
    source.repository,
    source.connection,
    plan,
    [...numbers].sort((one, other) => one - other),
  ))
    if (numbers.has(entry.number)) told.set(entry.number, entry)
  const asked: Revised[] = []
  const names = (async function* () {
    for await (const commit of commits()) {
      asked.push(commit)
      yield Buffer.from(`${commit.commit}\n`)
    }
  })()
  for await (const { data } of readInOrder(repository, names, signal)) {
    const commit = asked.shift()
    const entry = commit && told.get(commit.number)
    if (!commit || !entry) continue
    for (const what of differences(data, entry, plan.uuid))
      if (result.mismatches.length < maxMismatches)
        result.mismatches.push({ where: `revision ${commit.number} of ${commit.root || 'the repository'}`, path: '', what })
  }
}

function differences(data: Buffer, { author, date, message }: Told, uuid: string): string[] {
  const text = data.toString()
  const end = text.indexOf('\n\n')
  const [, name = '', email = '', time = ''] = /^author (.*) <([^<>]*)> (\d+) [+-]\d+$/m.exec(text.slice(0, end + 1)) ?? []
  const person = describeAuthor(author.trim() || noAuthor, uuid)
  const since = Date.parse(date)
  const found: string[] = []
  if (!isEscaped.test(author) && (name !== person.name || email !== person.email)) found.push('has another author')
  // A revision without a date has that of the one before.
  if (!Number.isNaN(since) && Number(time) !== Math.max(Math.floor(since / 1000), 0)) found.push('has another date')
  if (!isEscaped.test(message) && plain(text.slice(end + 2)) !== plain(endLine(message.replaceAll('\0', ''))))
    found.push('has another log message')
  return found
}

/** Subversion writes bytes that XML cannot have, or that are not UTF-8, in this form. */
const isEscaped = /\?\\\d{3}|\uFFFD/
/** XML has one kind of line end. */
const plain = (text: string) => text.replace(/\r\n?/g, '\n')

async function* readTold(repository: Repository, connection: Connection, plan: Plan, numbers: number[]): AsyncGenerator<Told> {
  if (connection.file) return yield* readDumpProperties(connection)
  const isAll = numbers.length > batch
  for (let at = 0; at < (isAll ? 1 : numbers.length); at += batch) {
    const some = numbers.slice(at, at + batch).map((number) => `--change=${number}`)
    const range = isAll ? [`--revision=1:${plan.head}`] : some
    const source = connection.stream(['log', '--xml', ...range], `${addressOf(repository, plan.dump)}@${plan.head}`)
    try {
      for await (const entry of readElements(source.output, 'logentry', maxEntry)) {
        const [author = '', date = '', message = ''] = ['author', 'date', 'msg'].map((name) => findInside(entry, name)?.text)
        yield { number: Number(entry.attributes.revision), author, date, message }
      }
      await source.ended
    } catch (error) {
      // The program that ended early reports the reason.
      await source.ended
      throw error
    } finally {
      source.stop()
    }
  }
}

async function* readDumpProperties(connection: Connection): AsyncGenerator<Told> {
  const source = connection.dump([], '')
  const dump = readDump(source.output)
  try {
    for (let record = await dump.next(); record; record = await dump.next()) {
      const number = record.headers.get('Revision-number')
      if (number === undefined) continue
      const { properties } = record
      const [author = '', date = '', message = ''] = ['svn:author', 'svn:date', 'svn:log'].map((name) => {
        const value = properties?.get(name)
        return value ? decodeText(value) : ''
      })
      yield { number: Number(number), author, date, message }
    }
  } finally {
    source.stop()
  }
}
