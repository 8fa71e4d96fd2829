export const attributesFile = '.gitattributes'

/** The line that assigns a path to LFS. All text is in Latin-1. */
function attributeOf(path: string) {
  // Spaces cannot be escaped there, only matched by a class.
  const pattern = path.replaceAll(/[[\]*?\\]/g, '\\$&').replaceAll(/[ \t\n\v\f\r]/g, '[[:space:]]')
  return `/${pattern} filter=lfs diff=lfs merge=lfs -text`
}

/** Adds the lines for these paths; undefined if the file has them all. */
export function addAttributes(attributes: string, paths: string[]): string | undefined {
  const lines = new Set(attributes.split(/\r?\n/))
  const added = paths.map(attributeOf).filter((line) => !lines.has(line))
  if (!added.length) return undefined
  const before = attributes === '' || attributes.endsWith('\n') ? attributes : `${attributes}\n`
  return `${before}${added.join('\n')}\n`
}
