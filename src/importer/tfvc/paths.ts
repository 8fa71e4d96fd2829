import { isForbiddenPath } from '#importer/staging/paths.ts'
import { trimTrailing } from '#platform/trim.ts'

/** Folds case as TFVC does: by the upper case of each character, if it has the same length. */
export function folded(name: string): string {
  if (/^[ -~]*$/.test(name)) return name.toUpperCase()
  return Array.from(name, (character) => {
    const capital = character.toUpperCase()
    return capital.length === character.length ? capital : character
  }).join('')
}

/** The path below a server folder such as `$/Alpha`; undefined if it is outside, empty for the folder itself. */
export function below(folder: string, path: string): string | undefined {
  const trimmed = trimTrailing(path, '/')
  if (folded(trimmed.slice(0, folder.length)) !== folded(folder)) return undefined
  if (trimmed.length === folder.length) return ''
  return trimmed[folder.length] === '/' ? trimmed.slice(folder.length + 1) : undefined
}

/** Whether git allows the path. */
export function isAllowedPath(path: string): boolean {
  return !path.includes('\0') && !isForbiddenPath(Buffer.from(path).toString('latin1'))
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
