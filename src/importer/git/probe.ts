import { ask, headerOf, type Told } from '#importer/probe-http.ts'
import type { Finding, Means, Origin } from '#importer/source.ts'

const question = '/info/refs?service=git-upload-pack'

/** Where a repository really is, and whether its server only gives out files: who just serves a folder knows nothing of git. */
export interface Place {
  url: string
  dumb: boolean
}

export async function probe(origin: Origin, means: Means): Promise<Finding> {
  const place = await findLocation(origin, means)
  if (typeof place === 'string') return place
  return { found: place.url === origin.url ? {} : { url: place.url } }
}

export async function findLocation(origin: Origin, means: Means): Promise<Place | 'nothing' | 'needs_auth'> {
  let secret = false
  for (const url of addressesOf(origin.url)) {
    const told = await ask(means, `${url}${question}`, {
      username: origin.username,
      password: origin.password,
      headers: { 'git-protocol': 'version=2', 'user-agent': 'git/2.39.5', accept: '*/*' },
    })
    if (!told) break
    const place = placeOf(told)
    if (place) return place
    if (told.status === 401) secret = true
  }
  return secret ? 'needs_auth' : 'nothing'
}

/** As given, and with the ending that some hosts insist on. */
function addressesOf(text: string): string[] {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return []
  const plain = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  return plain.endsWith('.git') ? [plain] : [plain, `${plain}.git`]
}

/** A page that answers 200 to everything is no repository: what it says must be what git says. */
function placeOf(told: Told): Place | undefined {
  const { origin, pathname } = new URL(told.url)
  if (told.status !== 200 || !pathname.endsWith('/info/refs')) return undefined
  const url = `${origin}${pathname.slice(0, -'/info/refs'.length)}`
  const type = headerOf(told, 'content-type')
  const text = told.body.toString('latin1')
  if (type.startsWith('application/x-git-upload-pack-advertisement'))
    return /^[0-9a-f]{4}(# service=git-upload-pack\n|version 2\n)/.test(text) ? { url, dumb: false } : undefined
  const listed = /^[0-9a-f]{40}\trefs\/[^\n]+\n/.test(text)
  return listed && !/^(text\/html|application\/(xhtml|json))/.test(type) ? { url, dumb: true } : undefined
}
