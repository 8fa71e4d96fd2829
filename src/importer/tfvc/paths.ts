import { isForbiddenPath } from '#importer/staging/paths.ts'

/** Names are the same for the source whatever letters they are written with: by the capital of each, where it has one. */
export function folded(name: string): string {
  if (/^[ -~]*$/.test(name)) return name.toUpperCase()
  return Array.from(name, (character) => {
    const capital = character.toUpperCase()
    return capital.length === character.length ? capital : character
  }).join('')
}

/** The path below a folder of the server such as `$/Alpha`, or undefined where it is not in it; the folder itself is the empty one. */
export function below(folder: string, path: string): string | undefined {
  const trimmed = path.replace(/\/+$/, '')
  if (folded(trimmed.slice(0, folder.length)) !== folded(folder)) return undefined
  if (trimmed.length === folder.length) return ''
  return trimmed[folder.length] === '/' ? trimmed.slice(folder.length + 1) : undefined
}

/** Whether git takes a path: what leads out of the folder, or into its own, is left out. */
export function isAllowedPath(path: string): boolean {
  return !path.includes('\0') && !isForbiddenPath(Buffer.from(path).toString('latin1'))
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
