import { invalid } from '#platform/errors.ts'

/** Characters that some file systems ignore in names. */
const unseen = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Whether some file system would read this part of a path as `.git`. */
function isGitFolder(part: string) {
  const [name = ''] = part.replaceAll(unseen, '').toLowerCase().split(':', 1)
  return /^(?:\.git|git~1)[. ]*$/.test(name)
}

/** The reason why a path is invalid, if it is. */
function faultOf(path: string): string | undefined {
  if (path === '') return 'path is missing'
  if (Buffer.byteLength(path) > 4096) return 'path is too long'
  const parts = path.split('/')
  if (path.startsWith('/') || path.endsWith('/')) return 'path may not begin or end with a slash'
  if (path.includes('\0')) return 'path may not hold the null character'
  if (parts.includes('')) return 'path may not hold an empty part'
  if (parts.some((part) => part === '.' || part === '..')) return "path may not hold '.' or '..'"
  // Some systems separate folders by a backslash.
  if (path.split(/[/\\]/).some(isGitFolder)) return "path may not hold '.git'"
  if (parts.length > 128 || parts.some((part) => Buffer.byteLength(part) > 255)) return 'path is too long'
  return undefined
}

export const isPath = (path: string) => faultOf(path) === undefined

export function checkPath(path: string) {
  const message = faultOf(path)
  if (message) throw invalid({ resource: 'Content', code: 'invalid', field: 'path', message })
}
