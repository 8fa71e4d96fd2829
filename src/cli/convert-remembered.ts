import { type AuthorsFile, entriesFor } from '#importer/conversion/authors-file.ts'
import { workFolderOf } from '#importer/conversion/target.ts'
import { type Author, ImportFailure } from '#importer/source.ts'
import { readState, saveState } from '#importer/state-file.ts'
import { type Options, readOptions } from './convert-options.ts'

/** What the last run into a repository was given. Other options would give its commits other ids. */
export interface Remembered {
  history: Options['history']
  /** The name and email in git by the id of the author in the source. */
  people: Record<string, string>
}

const name = 'options'

/** Adds the options of the last run that are not given now. Refuses others, unless the history may be rewritten. */
export async function recallOptions(options: Options, given: string[], environment: NodeJS.ProcessEnv) {
  const last = options.rewrite ? undefined : await readState<Remembered>(workFolderOf(options.target), name)
  if (!last) return { options, last }
  const { history } = options
  // Entries of the authors file are compared one by one, because new authors may be added.
  const others = Object.keys(history).filter((key) => key !== 'authors' && !isSame(history[key], last.history[key]))
  if (others.length > 0 && !options.dry_run) throw refusal(options.target, others.map((key) => `--${key}`).join(', '))
  const missing = Object.entries(last.history).filter(([key]) => !(key in history))
  return { options: readOptions([...missing.flatMap(argumentsOf), ...given], environment), last }
}

/** Refuses entries of the authors file that would change commits of an earlier run. */
export function checkPeople(target: string, last: Remembered | undefined, file: AuthorsFile | undefined, authors: Author[]) {
  const people = last?.people ?? {}
  const changed = Object.entries(peopleOf(file, authors)).filter(([id, person]) => id in people && people[id] !== person)
  if (changed.length === 0) return
  const listed = changed.slice(0, 10).map(([id]) => id)
  throw refusal(target, `--authors (${listed.join(', ')}${changed.length > listed.length ? ', …' : ''})`)
}

export async function rememberOptions(
  folder: string,
  { history }: Options,
  last: Remembered | undefined,
  file: AuthorsFile | undefined,
  authors: Author[],
) {
  await saveState<Remembered>(folder, name, { history, people: { ...last?.people, ...peopleOf(file, authors) } })
}

function peopleOf(file: AuthorsFile | undefined, authors: Author[]): Remembered['people'] {
  const entryOf = entriesFor(file ?? [], authors)
  const describe = ({ name, email }: { name: string; email: string }) => `${name} <${email}>`
  return Object.fromEntries(authors.map((author) => [author.remote_id, describe(entryOf(author) ?? author)]))
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const argumentsOf = ([key, value]: [string, Options['history'][string]]) =>
  value === true ? [`--${key}`] : [value].flat().map((each) => `--${key}=${each}`)

const refusal = (target: string, names: string) =>
  new ImportFailure(
    `${target} was converted with other options: ${names}. Leave them out to use those of the last run, or add --rewrite to use exactly the options of this command, which may give all commits other ids.`,
  )
