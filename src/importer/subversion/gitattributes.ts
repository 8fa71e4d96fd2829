const eolStyles = ['native', 'LF', 'CRLF', 'CR'] as const

/** The properties of a file that have an equivalent in `.gitattributes`, except the style `CR`. */
export interface Traits {
  eol?: (typeof eolStyles)[number] | undefined
  binary?: boolean | undefined
  ident?: boolean | undefined
}

export const traitProperties = ['svn:eol-style', 'svn:mime-type', 'svn:keywords'] as const

export const attributesFile = '.gitattributes'

/** Git ignores longer lines, and refuses a push with them. */
const maxLine = 2048

const none: Traits = {}

/** Reads the traits from properties. Null means deleted; undefined means unchanged. */
export function traitsIn(read: (property: string) => string | null | undefined, former = none): Traits {
  const [eol, type, keywords] = traitProperties.map(read)
  const traits = {
    eol: eol === undefined ? former.eol : eolStyles.find((each) => each === eol?.trim()),
    binary: type === undefined ? former.binary : type !== null && isBinary(type),
    ident: keywords === undefined ? former.ident : /(^|\s)id(\s|$)/i.test(keywords ?? ''),
  }
  return traits.eol || traits.binary || traits.ident ? traits : none
}

/** As Subversion decides it. */
const isBinary = (type: string) => !/^(text\/|image\/x-x(bitmap|pixmap)\b|$)/.test(type.trim())

/** The `.gitattributes` for the files of a folder; undefined if it would be empty. */
export function writeAttributesFile(files: { name: string; traits?: Traits }[]): string | undefined {
  const groups = Map.groupBy(
    files.map(({ name, traits }) => ({ name, attributes: attributesOf(traits) })),
    ({ name }) => /\.\w+$/.exec(name)?.[0],
  )
  const lines = [...groups].flatMap(([ending, group]) => {
    const [first = ''] = group.map(({ attributes }) => attributes)
    if (ending !== undefined && group.every(({ attributes }) => attributes === first)) return first && [`/*${ending} ${first}`]
    return group.map(({ name, attributes }) => attributes && `${patternOf(name)} ${attributes}`)
  })
  const written = lines.filter((line) => line !== '' && Buffer.byteLength(line) < maxLine)
  return written.length > 0
    ? written
        .toSorted()
        .map((line) => `${line}\n`)
        .join('')
    : undefined
}

/**
 * With `text` instead of `text=auto`, a clone would show each file as modified that is stored with CRLF, as Subversion stores files whose
 * style is CRLF.
 */
function attributesOf({ eol, binary, ident }: Traits = none): string {
  const text = eol && eol !== 'CR' ? `text=auto${eol === 'native' ? '' : ` eol=${eol.toLowerCase()}`}` : binary ? '-text' : ''
  return [text, ident ? 'ident' : ''].filter((each) => each !== '').join(' ')
}

/** Git reads a pattern up to the first space, unless it is quoted as in C. */
function patternOf(name: string): string {
  const pattern = `/${name.replace(/[[\]*?\\]/g, '\\$&')}`
  if (!/[\s"]/.test(pattern)) return pattern
  const quoted = pattern.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
  return `"${quoted}"`
}
