import { headerOf, sendProbe } from '#importer/probe-http.ts'
import type { Arranged, Finding, Network, Origin, Source, Workspace } from '#importer/source.ts'
import { convert, listAuthors, readConversion } from './convert.ts'
import { media, parseCapabilities } from './hg-http.ts'
import { findRemarks } from './remarks.ts'
import { verify } from './verify.ts'

/** Mercurial over HTTP, with a client of our own: `hg` need not be installed. */
export const mercurial: Source = {
  probe,
  listAuthors,
  convert: async (origin, workspace) => ({ ...(await convert(origin, workspace)), remarks: await findRemarks(workspace) }),
  arrange,
  verify: (_origin, workspace, all) => verify(workspace, all),
}

async function probe(origin: Origin, network: Network): Promise<Finding> {
  if (!/^https?:/.test(origin.url)) return 'nothing'
  const url = new URL(origin.url)
  url.searchParams.set('cmd', 'capabilities')
  const { username, password } = origin
  const answer = await sendProbe(network, url.href, { headers: { accept: 'application/mercurial-0.1' }, username, password })
  if (!answer) return 'nothing'
  if (answer.status === 401 || answer.status === 407) return 'needs_auth'
  if (answer.status !== 200 || !media.test(headerOf(answer, 'content-type'))) return 'nothing'
  const capabilities = parseCapabilities(answer.body.toString('latin1'))
  if (!capabilities.has('getbundle') && !capabilities.has('lookup')) return 'nothing'
  if (answer.url === url.href) return { found: {} }
  const moved = new URL(answer.url)
  moved.searchParams.delete('cmd')
  return { found: { url: moved.href } }
}

/** `convert` has already made the refs. */
async function arrange(_origin: Origin, { folder }: Workspace): Promise<Arranged> {
  const { large_blobs } = readConversion(folder)
  return { ...(large_blobs && { large_blobs }), notes: {} }
}
