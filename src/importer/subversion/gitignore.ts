/** What a folder's properties say: `svn:ignore` of what is in it, `svn:global-ignores` of all that is below it. */
export interface IgnoreLists {
  ignore?: string
  global?: string
}

/** The lists among properties: null for one that was deleted; undefined for one that is not named, which stays as it was. */
export function listsIn(read: (property: string) => string | null | undefined, former: IgnoreLists = {}): IgnoreLists {
  const [ignore = former.ignore, global = former.global] = [read('svn:ignore'), read('svn:global-ignores')]
  return { ...(ignore && { ignore }), ...(global && { global }) }
}

/** The `.gitignore` that says the same of a folder; undefined where it would say nothing. */
export function writeIgnoreFile({ ignore = '', global = '' }: IgnoreLists): string | undefined {
  const lines = [...patternsIn(ignore).map((pattern) => `/${pattern}`), ...patternsIn(global).map(escapeStart)]
  return lines.length > 0 ? lines.map((line) => `${escapeEnd(line)}\n`).join('') : undefined
}

/** Subversion compares them with names of files, which have no slash: a pattern with one does nothing, and in git it would. */
function patternsIn(list: string): string[] {
  return list.split(/[\r\n\0]/).filter((pattern) => pattern !== '' && !pattern.includes('/'))
}

/** At the beginning of a line, git reads these as something else. */
function escapeStart(pattern: string) {
  return pattern.replace(/^[!#]/, '\\$&')
}

/** Git drops spaces at the end that have no backslash, and a pattern with a backslash that has nothing behind it. */
function escapeEnd(pattern: string) {
  const [, slashes = '', spaces = ''] = /(\\*)( *)$/.exec(pattern) ?? []
  const rest = pattern.slice(0, pattern.length - slashes.length - spaces.length)
  const odd = slashes.length % 2 === 1
  if (spaces === '') return odd ? `${pattern}\\` : pattern
  return rest + slashes + (odd ? ' ' : '\\ ') + '\\ '.repeat(spaces.length - 1)
}
