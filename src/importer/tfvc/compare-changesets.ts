import type { Verification } from '#importer/source.ts'
import type { Recorded } from '#importer/staging/arrange/arrange.ts'
import { readLines } from '#importer/staging/arrange/revisions.ts'
import { endLine } from '#importer/staging/arrange/root-history.ts'
import { readInOrder } from '#importer/staging/object-reader.ts'
import { recordFile } from './arrange.ts'
import { authorOf } from './authors.ts'
import { type Changeset, listChangesets, readOneChangeset } from './changesets.ts'
import type { Client } from './client.ts'
import { readAhead } from './read-ahead.ts'

interface TextComparison {
  folder: string
  repository: string
  project: string
  signal: AbortSignal
  /** The changesets to compare, ascending. With `all`, the server lists them in pages. */
  numbers: number[]
  all: boolean
  note(where: string, path: string, what: Verification['mismatches'][number]['what']): void
}

/** Changesets at a time. */
const batch = 1000

/** Compares the messages, authors and dates of commits with what the server says about their changesets now. */
export async function compareChangesets(client: Client, comparison: TextComparison) {
  const { numbers, all, project } = comparison
  const until = numbers.at(-1) ?? 0
  const found = all
    ? listChangesets(client, project, 0, until)
    : readAhead(each(numbers), { width: 4 }, (number) => readOneChangeset(client, number))
  let some = new Map<number, Changeset>()
  for await (const changeset of found) {
    some.set(changeset.id, changeset)
    if (some.size < batch) continue
    await compareSome(some, comparison)
    some = new Map()
  }
  await compareSome(some, comparison)
}

async function* each<Value>(values: Value[]) {
  yield* values
}

async function compareSome(changesets: Map<number, Changeset>, { folder, repository, signal, note }: TextComparison) {
  const asked: Extract<Recorded, { number: number }>[] = []
  const names = (async function* () {
    for await (const line of readLines(recordFile(folder))) {
      const recorded: Recorded = JSON.parse(line)
      if (!('number' in recorded) || !changesets.has(recorded.number)) continue
      asked.push(recorded)
      yield Buffer.from(`${recorded.commit}\n`)
    }
  })()
  for await (const { data } of readInOrder(repository, names, signal)) {
    const { number = 0, root = '' } = asked.shift() ?? {}
    const changeset = changesets.get(number)
    if (!changeset) continue
    for (const what of differences(data, changeset)) note(`changeset ${number} of ${root || 'the project'}`, '', what)
  }
}

function differences(commit: Buffer, { author, time, comment }: Changeset): string[] {
  const text = commit.toString()
  const end = text.indexOf('\n\n')
  const [, name, email, date] = /^author (.*) <([^<>]*)> (\d+) \+0000$/m.exec(text.slice(0, end + 1)) ?? []
  const person = authorOf(author)
  return [
    ...(name === person.name && email === person.email ? [] : ['has another author']),
    ...(date === `${time}` ? [] : ['has another date']),
    ...(text.slice(end + 2) === endLine(comment.replaceAll('\r\n', '\n')) ? [] : ['has another comment']),
  ]
}
