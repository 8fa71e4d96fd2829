import { authorization, headerOf, sendProbe } from '#importer/probe-http.ts'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { remoteAddress } from './connection.ts'
import { traitsIn } from './gitattributes.ts'
import { type IgnoreLists, listsIn } from './gitignore.ts'
import type { Folder, Inspector, Listed, MadeFiles } from './inspector.ts'
import type { Repository } from './projects.ts'
import { findInside, readElements, type XmlElement } from './xml.ts'

const question = ({
  ignores,
  attributes,
}: MadeFiles) => `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:" xmlns:V="http://subversion.tigris.org/xmlns/dav/"
 xmlns:S="http://subversion.tigris.org/xmlns/svn/"><D:prop><D:resourcetype/><D:version-name/><V:md5-checksum/><S:executable/><S:special/><S:eol-style/>
${ignores ? '<S:ignore/><S:global-ignores/>' : ''}${attributes ? '<S:mime-type/><S:keywords/>' : ''}</D:prop></D:propfind>`

/** Over http(s). Undefined if the server asks for authentication other than Basic. */
export async function inspectByDav(
  origin: Origin,
  repository: Repository,
  network: Network,
  made: MadeFiles,
): Promise<Inspector | undefined> {
  const root = remoteAddress(origin, repository.root)
  const answer = await askOptions(network, root, origin)
  // Servers before version 1.7 do not send the address of their revisions.
  const stub = answer && headerOf(answer, 'svn-rev-root-stub')
  if (!stub || answer.status !== 200) return
  const base = new URL(stub, root)
  if (base.origin !== new URL(root).origin) return
  const headers = { ...authorization(origin), depth: '1', 'content-type': 'text/xml' }
  const body = question(made)

  async function list(path: string, number: number): Promise<Folder> {
    const url = `${base.href}/${[number, ...path.split('/')]
      .filter((part) => part !== '')
      .map(encodeURIComponent)
      .join('/')}`
    const answer = await network.egress.request(url, { method: 'PROPFIND', headers, body, signal: network.signal })
    if (answer.status !== 207) {
      answer.body.destroy()
      throw new ImportFailure(`The Subversion server cannot list its files: it answers ${answer.status}.`)
    }
    const entries: Listed[] = []
    let lists: IgnoreLists | undefined
    for await (const resource of readElements(answer.body, 'response')) {
      // The first is the folder itself.
      if (lists) entries.push(describe(resource))
      else {
        const properties = propertiesOf(resource)
        lists = listsIn(readerOf(properties))
      }
    }
    return { entries, lists: lists ?? {} }
  }

  return { list, async [Symbol.asyncDispose]() {} }
}

const childrenOf = ({ children }: XmlElement, name: string) => children.filter((child) => child.name === name)

/** A server also names the properties that a resource does not have, in a `propstat` with status 404. */
function propertiesOf(resource: XmlElement): Map<string, XmlElement> {
  const present = childrenOf(resource, 'propstat').filter((each) => / 200\b/.test(findInside(each, 'status')?.text ?? ''))
  const properties = present.flatMap((each) => childrenOf(each, 'prop')).flatMap(({ children }) => children)
  return new Map(properties.map((property) => [property.name, property]))
}

function describe(resource: XmlElement): Listed {
  const properties = propertiesOf(resource)
  const type = properties.get('resourcetype')
  const href = findInside(resource, 'href')?.text ?? ''
  return {
    name: decodeURIComponent(href.replace(/\/$/, '').split('/').at(-1) ?? ''),
    folder: type !== undefined && findInside(type, 'collection') !== undefined,
    changed: Number(properties.get('version-name')?.text),
    md5: properties.get('md5-checksum')?.text ?? '',
    executable: properties.has('executable'),
    special: properties.has('special'),
    traits: traitsIn(readerOf(properties)),
  }
}

const readerOf = (properties: Map<string, XmlElement>) => (name: string) => textOf(properties.get(name.replace('svn:', '')))

/** A server sends a value in Base64 if XML cannot hold it. */
function textOf(property: XmlElement | undefined) {
  if (!property) return undefined
  return property.attributes.encoding === 'base64' ? Buffer.from(property.text, 'base64').toString() : property.text
}

/** Without this body, the server does not send the addresses of its revisions. */
const body =
  '<?xml version="1.0" encoding="utf-8"?><D:options xmlns:D="DAV:"><D:activity-collection-set></D:activity-collection-set></D:options>'

/** The capabilities of a server, as headers of the answer. */
export function askOptions(network: Network, url: string, { username, password }: Origin) {
  return sendProbe(network, url, { method: 'OPTIONS', headers: { 'content-type': 'text/xml' }, body, username, password })
}
