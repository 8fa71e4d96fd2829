import { trimBoth } from '#platform/trim.ts'

/** Which files of a branch are kept. Patterns are relative to the root of the branch. */
export interface PathPatterns {
  /** Without any, all files. */
  include: string[]
  exclude: string[]
}

/**
 * `*` and `?` match within a name, `**` across folders. A pattern that matches a folder matches everything in it, so `docs` is the same as
 * `docs/**`.
 */
export function openPathPatterns({ include, exclude }: PathPatterns) {
  const [included, excluded] = [include.map(compile), exclude.map(compile)]
  return {
    /** Paths in UTF-8. */
    keepsFile: (path: string) =>
      (included.length === 0 || included.some((pattern) => pattern.test(path))) &&
      !excluded.some((pattern) => pattern.test(path)),
    /** Whether no file in this folder is kept, whatever its name. */
    dropsFolder: (path: string) => excluded.some((pattern) => pattern.test(path)),
  }
}

export type PathSelection = ReturnType<typeof openPathPatterns>

function compile(pattern: string): RegExp {
  const plain = trimBoth(pattern, '/')
  const source = plain.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (sign) => {
    if (sign === '**/') return '(?:.*/)?'
    if (sign === '**') return '.*'
    if (sign === '*') return '[^/]*'
    return sign === '?' ? '[^/]' : `\\${sign}`
  })
  return new RegExp(`^${source}(?:/.*)?$`, 'su')
}
