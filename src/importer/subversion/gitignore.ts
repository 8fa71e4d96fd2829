import { trimTrailing } from '#platform/trim.ts'

/** `svn:ignore` applies to a folder, `svn:global-ignores` to everything below it. */
export interface IgnoreLists {
  ignore?: string
  global?: string
}

/** Reads the lists from properties. Null means deleted; undefined means unchanged. */
export function listsIn(read: (property: string) => string | null | undefined, former: IgnoreLists = {}): IgnoreLists {
  const [ignore = former.ignore, global = former.global] = [read('svn:ignore'), read('svn:global-ignores')]
  return { ...(ignore && { ignore }), ...(global && { global }) }
}

/** The equivalent `.gitignore`; undefined if it would be empty. */
export function writeIgnoreFile({ ignore = '', global = '' }: IgnoreLists): string | undefined {
  const lines = [...patternsIn(ignore).map((pattern) => `/${pattern}`), ...patternsIn(global).map(escapeStart)]
  return lines.length > 0 ? lines.map((line) => `${escapeEnd(line)}\n`).join('') : undefined
}

/** Subversion compares patterns with file names, so a pattern with a slash matches nothing. In git it would match paths. */
function patternsIn(list: string): string[] {
  return list.split(/[\r\n\0]/).filter((pattern) => pattern !== '' && !pattern.includes('/'))
}

/** Git gives these characters a meaning at the start of a line. */
function escapeStart(pattern: string) {
  return pattern.replace(/^[!#]/, '\\$&')
}

/** Git drops trailing spaces without a backslash, and patterns that end with a single backslash. */
function escapeEnd(pattern: string) {
  const unspaced = trimTrailing(pattern, ' ')
  const rest = trimTrailing(unspaced, '\\')
  const [slashes, spaces] = [unspaced.slice(rest.length), pattern.slice(unspaced.length)]
  const odd = slashes.length % 2 === 1
  if (spaces === '') return odd ? `${pattern}\\` : pattern
  return rest + slashes + (odd ? ' ' : '\\ ') + '\\ '.repeat(spaces.length - 1)
}
