import { headerOf, type ProbeAnswer, sendProbe } from '#importer/probe-http.ts'
import type { Finding, Network, Origin } from '#importer/source.ts'
import { trimTrailing } from '#platform/trim.ts'

const infoRefs = '/info/refs?service=git-upload-pack'

/** The final address of a repository, and whether its server is a dumb HTTP server. */
export interface RemoteRepository {
  url: string
  dumb: boolean
}

export async function probe(origin: Origin, network: Network): Promise<Finding> {
  const found = await findRepository(origin, network)
  if (typeof found === 'string') return found
  return { found: found.url === origin.url ? {} : { url: found.url } }
}

export async function findRepository(origin: Origin, network: Network): Promise<RemoteRepository | 'nothing' | 'needs_auth'> {
  if (origin.local && origin.url.startsWith('file:')) return { url: origin.url, dumb: false }
  let asksForPassword = false
  for (const url of addressesOf(origin.url)) {
    const answer = await sendProbe(network, `${url}${infoRefs}`, {
      username: origin.username,
      password: origin.password,
      headers: { 'git-protocol': 'version=2', 'user-agent': 'git/2.39.5', accept: '*/*' },
    })
    if (!answer) break
    const found = repositoryIn(answer)
    if (found) return found
    if (answer.status === 401) asksForPassword = true
  }
  return asksForPassword ? 'needs_auth' : 'nothing'
}

/** The address as given, and with `.git`, which some hosts require. */
function addressesOf(text: string): string[] {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return []
  const plain = `${url.origin}${trimTrailing(url.pathname, '/')}`
  return plain.endsWith('.git') ? [plain] : [plain, `${plain}.git`]
}

/** Checks the content, because some pages answer 200 to every request. */
function repositoryIn(answer: ProbeAnswer): RemoteRepository | undefined {
  const { origin, pathname } = new URL(answer.url)
  if (answer.status !== 200 || !pathname.endsWith('/info/refs')) return undefined
  const url = `${origin}${pathname.slice(0, -'/info/refs'.length)}`
  const type = headerOf(answer, 'content-type')
  const text = answer.body.toString('latin1')
  if (type.startsWith('application/x-git-upload-pack-advertisement'))
    return /^[0-9a-f]{4}(# service=git-upload-pack\n|version 2\n)/.test(text) ? { url, dumb: false } : undefined
  const listed = /^[0-9a-f]{40}\trefs\/[^\n]+\n/.test(text)
  return listed && !/^(text\/html|application\/(xhtml|json))/.test(type) ? { url, dumb: true } : undefined
}
