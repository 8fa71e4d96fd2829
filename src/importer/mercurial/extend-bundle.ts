import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { openBlobIds } from './blob-ids.ts'
import { type BundleInfo, bundleFiles, forgetBundle, readInfo, removeOtherBundles, saveInfo } from './bundle-info.ts'
import { openByteReader } from './byte-reader.ts'
import { type Bundle, interrupted, listRefs, receive, reopenBundle, wanted } from './fetch-bundle.ts'
import { connect, type Remote } from './hg-http.ts'
import { mergeBundles } from './merge-bundles.ts'
import { nullNode } from './node-table.ts'
import { openSpool, type Spool } from './spool.ts'

type Listed = Awaited<ReturnType<typeof listRefs>>

/** Nodes per request. They are sent in headers, of which some proxies accept 16 KB. */
const maxCommon = 200
const maxHeads = 100

/**
 * The bundle of an earlier run with the changesets that the server has got since. Undefined if everything must be fetched: if there is no
 * earlier run, or if changesets have vanished (`hg strip`, `hg amend`) or are in another order, because the result must be that of a
 * conversion from nothing.
 */
export async function extendBundle(origin: Origin, workspace: Workspace): Promise<Bundle | undefined> {
  const { egress, signal, folder } = workspace
  const info = readInfo(folder)
  if (!info) return
  // Those of a killed run.
  removeOtherBundles(folder, info)
  const remote = await connect(origin, { egress, signal })
  const listed = await listRefs(remote)
  if (listed.heads !== info.heads) {
    const range = await findRange(remote, info, listed.heads)
    if (!range || !(await addChangesets(remote, workspace, info, listed, range))) {
      forgetBundle(folder)
      return
    }
  } else if (`${listed.bookmarks}` !== `${info.bookmarks}`) saveInfo(folder, { ...info, bookmarks: listed.bookmarks })
  return reopenBundle(folder)
}

/** What to ask for. Undefined if a changeset has vanished, or if the heads do not fit into headers. */
async function findRange(remote: Remote, { heads }: BundleInfo, now: string) {
  const { capabilities } = remote
  if (heads === undefined || heads === none || !capabilities.has('known') || !capabilities.has('httpheader')) return
  const [before, after] = [heads.split(' '), now.split(' ')]
  const [still, wanted] = [new Set(after), new Set(after)]
  for (const node of before) wanted.delete(node)
  const others = before.filter((node) => !still.has(node))
  // Without new ones, the order has changed.
  if (wanted.size === 0 || wanted.size > maxHeads || !(await knows(remote, others))) return
  // If not all fit, the server may send changesets again that we have.
  const common = [...others, ...before.filter((node) => still.has(node))].slice(0, maxCommon)
  return { common: common.join(' '), heads: [...wanted].join(' ') }
}

const none = nullNode.toString('hex')

async function knows(remote: Remote, nodes: string[]): Promise<boolean> {
  for (let at = 0; at < nodes.length; at += maxCommon) {
    const some = nodes.slice(at, at + maxCommon)
    const answer = (await remote.call('known', { nodes: some.join(' ') })).toString('latin1')
    if (answer !== '1'.repeat(some.length)) return false
  }
  return true
}

/** False if the heads are then not those of the server, or in another order, which decides about the names of branches. */
async function addChangesets(
  remote: Remote,
  { folder, signal }: Workspace,
  info: BundleInfo,
  listed: Listed,
  range: { common: string; heads: string },
): Promise<boolean> {
  const merges = (info.merges ?? 0) + 1
  const files = bundleFiles(folder, merges)
  using first = reopenBundle(folder)
  if (!first) return false
  const path = join(folder, 'new-changesets')
  using spool = openSpool(path)
  const { version } = await fetchRange(remote, wanted(remote, range), spool, listed, signal)
  using output = openSpool(files.content)
  using ids = openBlobIds(files.contents)
  const { heads, changesets } = await mergeBundles(first, { version, spool }, output, ids)
  rmSync(path)
  if (heads.join(' ') !== listed.heads) return false
  const merged: BundleInfo = { ...listed, version: '03', announced: changesets, merges }
  saveInfo(folder, merged)
  removeOtherBundles(folder, merged)
  return true
}

async function fetchRange(
  remote: Remote,
  values: Record<string, string>,
  spool: Spool,
  listed: Listed,
  signal: AbortSignal,
): Promise<BundleInfo> {
  try {
    return await receive(openByteReader(await remote.open('getbundle', values)), spool, listed, () => {})
  } catch (error) {
    throw signal.aborted || error instanceof ImportFailure ? error : interrupted(error)
  }
}
