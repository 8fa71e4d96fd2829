import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { type Bookmarks, type BundleInfo, bundleFiles, forgetBundle, readInfo, saveInfo, type Version } from './bundle-info.ts'
import { readParts } from './bundle2.ts'
import { type ByteReader, openByteReader } from './byte-reader.ts'
import { connect, damaged, type Remote } from './hg-http.ts'
import { nullNode } from './node-table.ts'
import { openSpool, type Spool, Truncated } from './spool.ts'

/** The whole repository as the server sends it, in a file of the workspace. It may still be growing. */
export interface Bundle extends Disposable {
  spool: Spool
  version: Version
  /** 0 if the server does not announce it. */
  announced: number
  bookmarks: Bookmarks
  /** The file of the git ids of its file texts. */
  contents: string
  /** Resolves when everything has arrived; rejects if an error follows the last byte. */
  complete: Promise<void>
  /** Makes the next run fetch the bundle again. */
  discard(): void
}

/** The bundle of an earlier run, if it is complete. An incomplete one is useless, because the server sends the files of all changesets last. */
export function reopenBundle(folder: string): Bundle | undefined {
  const info = readInfo(folder)
  if (!info) return
  const { content, contents } = bundleFiles(folder, info.merges)
  const spool = openSpool(content, true)
  return {
    ...info,
    spool,
    contents,
    complete: Promise.resolve(),
    discard: () => forgetBundle(folder),
    [Symbol.dispose]: () => spool[Symbol.dispose](),
  }
}

export async function fetchBundle(origin: Origin, workspace: Workspace): Promise<Bundle> {
  const { folder } = workspace
  const { content, contents } = bundleFiles(folder)
  const leaving = new AbortController()
  const network = { egress: workspace.egress, signal: AbortSignal.any([workspace.signal, leaving.signal]) }
  const remote = await connect(origin, network)
  if (!remote.capabilities.has('getbundle')) throw new ImportFailure('The server is older than Mercurial 1.9 and cannot be read.')
  const listed = await listRefs(remote)
  const reader = openByteReader(await remote.open('getbundle', wanted(remote, { common: nullNode.toString('hex') })))
  const spool = openSpool(content)
  let discarded = false
  const started = Promise.withResolvers<BundleInfo>()
  const complete = receive(reader, spool, listed, started.resolve).then(
    (info) => {
      if (discarded) return
      saveInfo(folder, info)
    },
    (error) => {
      const reason = workspace.signal.aborted || error instanceof ImportFailure ? error : interrupted(error)
      spool.fail(reason)
      started.reject(reason)
      throw reason
    },
  )
  // Readers of the spool get the error earlier.
  complete.catch(() => {})
  const leave = () => {
    leaving.abort()
    complete.catch(() => {}).finally(() => spool[Symbol.dispose]())
  }
  const info = await started.promise.catch((error) => {
    leave()
    throw error
  })
  return {
    ...info,
    spool,
    contents,
    complete,
    discard() {
      discarded = true
      forgetBundle(folder)
    },
    [Symbol.dispose]: leave,
  }
}

/** Without heads, the server sends all of them; those of a large repository would not fit into headers. */
export function wanted({ capabilities }: Remote, range: { common: string; heads?: string }): Record<string, string> {
  if (!capabilities.has('bundle2')) return range
  return { ...range, cg: '1', bundlecaps: `HG20,bundle2=${encodeURIComponent('HG20\nchangegroup=01,02,03')}` }
}

/** The heads are in the order of the server, the newest first. */
export async function listRefs(remote: Remote): Promise<{ bookmarks: Bookmarks; heads: string }> {
  const bookmarks = parseBookmarks(await remote.call('listkeys', { namespace: 'bookmarks' }))
  return { bookmarks, heads: (await remote.call('heads')).toString('latin1').trim() }
}

function parseBookmarks(listed: Buffer): Bookmarks {
  const lines = listed.toString().split('\n')
  return lines.map((line) => line.split('\t')).filter((pair): pair is [string, string] => /^[0-9a-f]{40}$/.test(pair[1] ?? ''))
}

/** Receives the answer to `getbundle`. `begin` is called when the version is known. */
export async function receive(
  reader: ByteReader,
  spool: Spool,
  listed: Pick<BundleInfo, 'bookmarks' | 'heads'>,
  begin: (info: BundleInfo) => void,
): Promise<BundleInfo> {
  const magic = await reader.take(4)
  let info: BundleInfo = { version: '01', announced: 0, ...listed }
  if (magic.toString('latin1') === 'HG20') {
    for await (const { type, parameters, payload } of readParts(reader)) {
      const wanted = type === 'changegroup' && spool.size === 0
      if (wanted) {
        const version = parameters.get('version') ?? '01'
        if (!['01', '02', '03'].includes(version)) throw new ImportFailure('The server sent a bundle of an unsupported version.')
        if (parameters.has('treemanifest'))
          throw new ImportFailure('The repository uses tree manifests, which cannot be imported.')
        info = { ...info, version: version as Version, announced: Number(parameters.get('nbchanges')) || 0 }
        begin(info)
      }
      for await (const chunk of payload) if (wanted) spool.append(chunk)
    }
  } else {
    // Servers before Mercurial 3.5 send the bare changegroup.
    begin(info)
    spool.append(Buffer.from(magic))
    for await (const chunk of reader.rest()) spool.append(chunk)
  }
  // An empty repository: three empty groups.
  if (spool.size === 0) spool.append(Buffer.alloc(12))
  spool.end()
  begin(info)
  return info
}

export function interrupted(error: unknown): ImportFailure {
  if (error instanceof Truncated) return damaged(error.message)
  const why = error instanceof Error ? error.message : error
  return new ImportFailure(
    `The repository could not be fetched, because the connection was lost (${why}). Restart the import to resume. If it fails again, run \`hg verify\` on the source repository.`,
  )
}
