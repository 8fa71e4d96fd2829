import type { LayoutPatterns } from './source.ts'

const maxPatterns = 50
const maxName = 255

/** Why a layout cannot be used; undefined if it can. */
export function findLayoutError({ trunk, branches, tags }: LayoutPatterns): string | undefined {
  const folders = [...branches, ...tags]
  if (folders.length > maxPatterns) return `A layout has at most ${maxPatterns} folders of branches and tags.`
  if (trunk.includes('*')) return 'The trunk of a layout is one folder, so it has no "*".'
  const wrong = [trunk, ...folders].find((path) => namesIn(path).some((name) => isRelative.test(name) || name.length > maxName))
  if (wrong !== undefined) return `"${wrong.slice(0, 100)}" is not a folder of a project.`
  if (folders.some((path) => namesIn(path).length === 0)) return 'A folder of branches or tags must be below the project.'
  return undefined
}

const isRelative = /^\.\.?$|\p{Cc}/u

export const namesIn = (path: string) => path.split('/').filter((name) => name !== '')
