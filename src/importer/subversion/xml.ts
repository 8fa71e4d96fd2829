import { SaxesParser } from 'saxes'
import { ImportFailure } from '#importer/source.ts'

export interface XmlElement {
  /** Without the namespace prefix: the server chooses the prefixes. */
  name: string
  attributes: Record<string, string>
  /** Without the text of the elements inside. */
  text: string
  children: XmlElement[]
}

/** In bytes. A resource of a DAV answer takes a few hundred. */
const maxElementSize = 1 << 20
const maxDepth = 32

/** The elements of this name in a document, without those that are nested in another of the same name. */
export function findElements(document: string, name: string): XmlElement[] {
  const found: XmlElement[] = []
  const parser = openParser(name, (element) => found.push(element))
  explain(() => parser.write(document).close())
  return found
}

/** The same for a stream: gives each element as soon as it ends, and holds one of them in memory. */
export async function* readElements(
  body: AsyncIterable<Buffer>,
  name: string,
  maxSize = maxElementSize,
): AsyncGenerator<XmlElement> {
  const decoder = new TextDecoder()
  const found: XmlElement[] = []
  let size = 0
  const parser = openParser(name, (element) => {
    found.push(element)
    size = 0
  })
  for await (const chunk of body) {
    size += chunk.length
    explain(() => parser.write(decoder.decode(chunk, { stream: true })))
    if (size > maxSize)
      throw new ImportFailure(`The Subversion server sent an XML element that is larger than ${maxSize >> 20} MB.`)
    yield* found.splice(0)
  }
  explain(() => parser.close())
}

/** Refuses a DOCTYPE, so that a document can declare no entities. The parser fetches nothing. */
function openParser(name: string, give: (element: XmlElement) => void) {
  const open: XmlElement[] = []
  const parser = new SaxesParser({ xmlns: true })
  const addText = (text: string) => {
    const element = open.at(-1)
    if (element) element.text += text
  }
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('a DOCTYPE is not allowed')
  })
  parser.on('opentag', ({ local, attributes }) => {
    if (open.length === 0 && local !== name) return
    if (open.length === maxDepth) throw new Error(`more than ${maxDepth} elements are nested`)
    const values = Object.values(attributes).map((attribute) => [attribute.local, attribute.value])
    const element = { name: local, attributes: Object.fromEntries(values), text: '', children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element && open.length === 0) give(element)
  })
  return parser
}

function explain(parse: () => void) {
  try {
    parse()
  } catch (error) {
    const reason = error instanceof Error ? error.message : `${error}`
    throw new ImportFailure(`Subversion sent XML that cannot be read: ${reason.slice(0, 200)}`)
  }
}

/** The first element of a name inside another, at any depth. */
export function findInside({ children }: XmlElement, name: string): XmlElement | undefined {
  for (const child of children) {
    const found = child.name === name ? child : findInside(child, name)
    if (found) return found
  }
  return undefined
}
