import { isReserved } from '#git/ref-names.ts'
import { trimBoth, trimTrailing } from '#platform/trim.ts'

export function openRefNames() {
  const taken = new Set<string>()
  const folders = new Set<string>()
  const number = (name: string, isFree: (name: string) => boolean) => {
    let given = name
    for (let next = 2; !isFree(given); next++) given = `${name}-${next}`
    return given
  }
  return {
    // Refs are stored like files: `a` and `a/b` cannot both exist.
    /** The name itself if git allows it and it is free; otherwise a similar one, with a number if needed. */
    take(name: string): string {
      let given = cleanRefName(name)
      for (const folder of foldersOf(given)) {
        if (taken.has(folder)) return this.take(number(folder, (other) => !taken.has(other)) + given.slice(folder.length))
      }
      given = number(given, (other) => !taken.has(other) && !folders.has(other))
      taken.add(given)
      for (const folder of foldersOf(given)) folders.add(folder)
      return given
    },
  }
}

/** Makes names of branches or tags valid for git and distinct. */
export type RefNames = ReturnType<typeof openRefNames>

function foldersOf(name: string): string[] {
  const parts = name.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** The part after `refs/heads/` or `refs/tags/`, by the rules of git-check-ref-format(1) for branches. */
export function cleanRefName(name: string): string {
  const cleaned = name
    .toWellFormed()
    .split('/')
    .map(cleanPart)
    .filter((part) => part !== '')
    .join('/')
    .replace(/^[-/]+/, '')
  if (cleaned === '') return 'unnamed'
  if (cleaned === '@') return 'at'
  if (cleaned === 'HEAD') return 'head'
  return isReserved(`refs/heads/${cleaned}`) ? `x-${cleaned}` : cleaned
}

function cleanPart(part: string): string {
  const allowed = part
    .replace(/[\p{Cc} ~^:?*[\\]+/gu, '-')
    .replace(/\.\.+/g, '.')
    .replace(/@\{/g, '-')
  // A part is a file name, and git appends `.lock` to it: 255 bytes at most.
  const short =
    allowed.length <= 60 ? allowed : trimTrailing(new TextDecoder().decode(Buffer.from(allowed).subarray(0, 200)), '\ufffd')
  return trimBoth(short, '.').replace(/\.lock$/, '-lock')
}
