import { authorization, headerOf } from '#importer/probe-http.ts'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { askOptions } from './dav-options.ts'
import { type IgnoreLists, listsIn } from './gitignore.ts'
import type { Folder, Inspector, Listed } from './inspector.ts'
import type { Repository } from './projects.ts'
import { unescapeXml } from './xml.ts'

const question = (
  ignores: boolean,
) => `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:" xmlns:V="http://subversion.tigris.org/xmlns/dav/"
 xmlns:S="http://subversion.tigris.org/xmlns/svn/"><D:prop><D:resourcetype/><D:version-name/><V:md5-checksum/><S:executable/><S:special/>
${ignores ? '<S:ignore/><S:global-ignores/>' : ''}</D:prop></D:propfind>`

/** One resource of an answer is no longer than this, or it is none. */
const longestResource = 1 << 20

/** By http:// or https://; undefined where the server wants another proof of who we are than a password. */
export async function inspectByDav(
  origin: Origin,
  { root }: Repository,
  network: Network,
  ignores: boolean,
): Promise<Inspector | undefined> {
  const answer = await askOptions(network, root, origin)
  // Where a server keeps its revisions is for it to say; before version 1.7 none did.
  const stub = answer && headerOf(answer, 'svn-rev-root-stub')
  if (!stub || answer.status !== 200) return
  const base = new URL(stub, root)
  if (base.origin !== new URL(root).origin) return
  const headers = { ...authorization(origin), depth: '1', 'content-type': 'text/xml' }
  const body = question(ignores)

  async function list(path: string, number: number): Promise<Folder> {
    const url = `${base.href}/${[number, ...path.split('/')]
      .filter((part) => part !== '')
      .map(encodeURIComponent)
      .join('/')}`
    const answer = await network.egress.request(url, { method: 'PROPFIND', headers, body, signal: network.signal })
    if (answer.status !== 207) {
      answer.body.destroy()
      throw new ImportFailure(`The Subversion server cannot tell what it has: it answers ${answer.status}.`)
    }
    const entries: Listed[] = []
    let lists: IgnoreLists | undefined
    for await (const resource of readResources(answer.body)) {
      // The first is the folder itself.
      if (lists) entries.push(describe(resource))
      else lists = listsIn((name) => propertyOf(resource, name.replace('svn:', '')))
    }
    return { entries, lists: lists ?? {} }
  }

  return { list, async [Symbol.asyncDispose]() {} }
}

async function* readResources(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const end = '</D:response>'
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const whole = text.split(end)
    text = whole.pop() ?? ''
    if (text.length > longestResource)
      throw new ImportFailure('The Subversion server sent something that is not a list of files.')
    yield* whole
  }
}

/** Prefixes of names are the server's choice. What a resource does not have is named as well, as an empty element. */
function describe(resource: string): Listed {
  const [, href = ''] = /<D:href>([^<]*)<\/D:href>/.exec(resource) ?? []
  const name = decodeURIComponent(unescapeXml(href).replace(/\/$/, '').split('/').at(-1) ?? '')
  const textOf = (element: string) => new RegExp(`<\\w+:${element}(?: [^>]*[^/])?>([^<]*)<`).exec(resource)?.[1]
  return {
    name,
    folder: /<D:collection\b/.test(resource),
    changed: Number(textOf('version-name')),
    md5: textOf('md5-checksum') ?? '',
    executable: textOf('executable') !== undefined,
    special: textOf('special') !== undefined,
  }
}

/** What XML cannot hold is sent in another form. */
function propertyOf(resource: string, element: string) {
  const [, attributes = '', text] = new RegExp(`<\\w+:${element}((?: [^>]*[^/])?)>([^<]*)<`).exec(resource) ?? []
  if (text === undefined) return
  return attributes.includes('"base64"') ? Buffer.from(text, 'base64').toString() : unescapeXml(text)
}
