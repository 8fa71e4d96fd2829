/** A pattern of folders such as `branches/*`, where `*` stands for any part of one name. */
export interface PathPattern {
  /** The folder that matches, if a path is this folder or below it. */
  match(path: string): string | undefined
  /** Whether a folder that matches can be below this one. */
  isAbove(path: string): boolean
  /** The part of a matching path that `*` stands for. */
  nameOf(path: string): string
}

export const isPattern = (text: string) => text.includes('*')

/** The folder that all matches are in. */
export function fixedFolder(text: string): string {
  const names = namesIn(text)
  const star = names.findIndex(isPattern)
  return star < 0 ? text : names.slice(0, star).join('/')
}

/** A folder on the way to a longer pattern is no match of a shorter one. Folders without `*` are skipped. */
export function parsePatterns(texts: string[]): PathPattern[] {
  const fixed = texts.map((text) => `${fixedFolder(text)}/`)
  return texts.filter(isPattern).map((text) => parsePattern(text, fixed))
}

function parsePattern(text: string, fixed: string[]): PathPattern {
  const names = namesIn(text)
  const pieces = names.map((name) => name.split('*'))
  const fits = (parts: string[]) => parts.every((part, place) => matches(part, pieces[place] ?? []))
  const [first, last] = [names.findIndex(isPattern), names.findLastIndex(isPattern)]
  const own = `${fixedFolder(text)}/`
  return {
    match(path) {
      const parts = namesIn(path).slice(0, names.length)
      const found = parts.join('/')
      if (parts.length < names.length || !fits(parts)) return undefined
      return fixed.some((folder) => folder !== own && folder.startsWith(`${found}/`)) ? undefined : found
    },
    isAbove(path) {
      const parts = namesIn(path)
      return parts.length < names.length && fits(parts)
    },
    nameOf: (path) =>
      namesIn(path)
        .slice(first, last + 1)
        .join('/'),
  }
}

/** Whether a name has these pieces in order, with anything between them. Each piece is taken at its first place, so this is linear. */
function matches(name: string, [start = '', ...rest]: string[]): boolean {
  if (!name.startsWith(start)) return false
  const end = rest.pop()
  if (end === undefined) return name === start
  let at = start.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.length >= at + end.length && name.endsWith(end)
}

const namesIn = (path: string) => path.split('/').filter((name) => name !== '')
