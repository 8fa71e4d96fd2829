import { describePerson } from '#importer/staging/fast-import.ts'
import type { Correction } from '#importer/steps.ts'

/** Corrects a line such as `author Ada <ada@example.com> 1700000000 +0000`; undefined if nothing changes. */
export type CorrectLine = (line: string) => string | undefined

const maxKnown = 100_000

/** Lines are in Latin-1, so that bytes which are not UTF-8 stay unchanged. */
export function openAuthorCorrections(authors: Correction[]): CorrectLine | undefined {
  const corrections = new Map<string, string>()
  for (const { original_name, original_email, name, email } of authors) {
    if (name === original_name && email === original_email) continue
    corrections.set(`${original_name}\n${original_email}`, Buffer.from(describePerson(name, email)).toString('latin1'))
  }
  if (!corrections.size) return undefined
  // Decoding every line of a long history takes longer than everything else.
  const known = new Map<string, string | undefined>()
  return (line) => {
    const start = line.indexOf(' ') + 1
    const end = line.indexOf('>') + 1
    if (!start || !end) return undefined
    const person = line.slice(start, end)
    let corrected = known.get(person)
    if (corrected === undefined && !known.has(person)) {
      corrected = corrections.get(identify(person))
      if (known.size >= maxKnown) known.clear()
      known.set(person, corrected)
    }
    return corrected === undefined || corrected === person ? undefined : line.slice(0, start) + corrected + line.slice(end)
  }
}

/** As git parses it: the name ends at the first angle bracket, without the space before it. */
function identify(person: string) {
  const open = person.indexOf('<')
  if (open < 0) return ''
  const name = Buffer.from(person.slice(0, open), 'latin1').toString().trimEnd()
  return `${name}\n${Buffer.from(person.slice(open + 1, -1), 'latin1')}`
}
