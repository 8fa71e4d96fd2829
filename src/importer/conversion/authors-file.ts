import { type Author, ImportFailure } from '#importer/source.ts'
import type { Correction } from '#importer/steps.ts'

interface Person {
  name: string
  email: string
}

/** The lines of the file. A login may contain `=`, so a line can be read in several ways, the longest login first. */
export type AuthorsFile = { login: string; person: Person }[][]

/** Reads the format of git-svn: a line `login = Name <email>` for each author. Other programs write comments with `#`. */
export function parseAuthorsFile(text: string): AuthorsFile {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .map((line, index) => {
      const readings = readLine(line)
      if (readings.length === 0 && !/^\s*(#|$)/.test(line))
        throw new ImportFailure(
          `Line ${index + 1} of the authors file is not in the form "login = Name <email>": ${line.trim().slice(0, 100)}`,
        )
      return readings
    })
}

function readLine(line: string): AuthorsFile[number] {
  const readings: AuthorsFile[number] = []
  for (let at = line.lastIndexOf('='); at > 0; at = line.lastIndexOf('=', at - 1)) {
    const login = line.slice(0, at).trim()
    const [, name = '', email] = /^([^<>]*)<([^<>]*)>$/.exec(line.slice(at + 1).trim()) ?? []
    if (login !== '' && name.trim() && email !== undefined) readings.push({ login, person: { name: name.trim(), email } })
  }
  return readings
}

/** The entries of known authors. A line that begins with `#` is a comment unless it names one of them. */
export function entriesFor(file: AuthorsFile, authors: Author[]) {
  const known = new Set(authors.flatMap(({ remote_name, remote_id }) => [remote_name.trim(), remote_id.trim()]))
  const entries = new Map<string, Person>()
  for (const readings of file) {
    const reading = readings.find(({ login }) => known.has(login))
    if (reading) entries.set(reading.login, reading.person)
  }
  return ({ remote_name, remote_id }: Author) => entries.get(remote_name.trim()) ?? entries.get(remote_id.trim())
}

export function correctionsFrom(file: AuthorsFile, authors: Author[]): Correction[] {
  const entryOf = entriesFor(file, authors)
  return authors.flatMap((author) => {
    const entry = entryOf(author)
    return entry ? [{ original_name: author.name, original_email: author.email, ...entry }] : []
  })
}

export function withoutEntry(file: AuthorsFile, authors: Author[]): Author[] {
  const entryOf = entriesFor(file, authors)
  return authors.filter((author) => !entryOf(author))
}

/** A line that can be added to the file and corrected there. */
export const authorLine = ({ remote_name, remote_id, name, email }: Author) => `${remote_name || remote_id} = ${name} <${email}>`
