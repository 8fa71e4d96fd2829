export const attributesFile = '.gitattributes'

/** By which git hands a path to LFS. Text is bytes, one a character. */
function attributeOf(path: string) {
  // Nothing else than a class of characters can stand for a space there.
  const pattern = path.replaceAll(/[[\]*?\\]/g, '\\$&').replaceAll(/[ \t\n\v\f\r]/g, '[[:space:]]')
  return `/${pattern} filter=lfs diff=lfs merge=lfs -text`
}

/** A file of attributes, or none, with those of all these paths; undefined when it has them. */
export function addAttributes(attributes: string, paths: string[]): string | undefined {
  const lines = new Set(attributes.split(/\r?\n/))
  const added = paths.map(attributeOf).filter((line) => !lines.has(line))
  if (!added.length) return undefined
  const before = attributes === '' || attributes.endsWith('\n') ? attributes : `${attributes}\n`
  return `${before}${added.join('\n')}\n`
}
