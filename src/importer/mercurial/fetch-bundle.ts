import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { type ByteReader, openByteReader } from './byte-reader.ts'
import { connect, damaged, quote, type Remote } from './hg-http.ts'
import { nullNode } from './node-table.ts'
import { openSpool, type Spool, Truncated } from './spool.ts'

/** The whole repository as the server sends it, in a file of the workspace. It may still be growing. */
export interface Bundle extends Disposable {
  spool: Spool
  version: Version
  /** 0 if the server does not announce it. */
  announced: number
  bookmarks: [name: string, node: string][]
  /** Resolves when everything has arrived; rejects if an error follows the last byte. */
  complete: Promise<void>
  /** Makes the next run fetch the bundle again. */
  discard(): void
}

export type Version = '01' | '02' | '03'

type BundleInfo = Pick<Bundle, 'version' | 'announced' | 'bookmarks'> & {
  /** As of before the bundle was fetched. Missing in records of older versions. */
  heads?: string
}

/** Written when everything has arrived; later runs do not fetch again. */
const record = (folder: string) => join(folder, 'bundle.json')
const content = (folder: string) => join(folder, 'bundle')

/**
 * The bundle of an earlier run, if it is complete. An incomplete one is useless, because the server sends the files of all changesets last.
 */
export function reopenBundle(folder: string): Bundle | undefined {
  if (!existsSync(record(folder))) return
  const spool = openSpool(content(folder), true)
  const info: BundleInfo = JSON.parse(readFileSync(record(folder), 'utf8'))
  return {
    ...info,
    spool,
    complete: Promise.resolve(),
    discard: () => rmSync(record(folder), { force: true }),
    [Symbol.dispose]: () => spool[Symbol.dispose](),
  }
}

/** The same if the server has nothing new. Otherwise it is fetched again: a bundle of the new changesets alone has no bases for its deltas. */
export async function reopenIfCurrent(origin: Origin, { egress, signal, folder }: Workspace): Promise<Bundle | undefined> {
  if (!existsSync(record(folder))) return
  const { heads, bookmarks }: BundleInfo = JSON.parse(readFileSync(record(folder), 'utf8'))
  const remote = await connect(origin, { egress, signal })
  const now = parseBookmarks(await remote.call('listkeys', { namespace: 'bookmarks' }))
  if (heads === (await listHeads(remote)) && `${now}` === `${bookmarks}`) return reopenBundle(folder)
  rmSync(record(folder))
}

const listHeads = async (remote: Remote) => (await remote.call('heads')).toString('latin1').trim()

export async function fetchBundle(origin: Origin, workspace: Workspace): Promise<Bundle> {
  const { folder } = workspace
  const leaving = new AbortController()
  const network = { egress: workspace.egress, signal: AbortSignal.any([workspace.signal, leaving.signal]) }
  const remote = await connect(origin, network)
  if (!remote.capabilities.has('getbundle')) throw new ImportFailure('The server is older than Mercurial 1.9 and cannot be read.')
  const bookmarks = parseBookmarks(await remote.call('listkeys', { namespace: 'bookmarks' }))
  const heads = await listHeads(remote)
  const reader = openByteReader(await remote.open('getbundle', wanted(remote)))
  const spool = openSpool(content(folder))
  let discarded = false
  const started = Promise.withResolvers<BundleInfo>()
  const complete = receive(reader, spool, { bookmarks, heads }, started.resolve).then(
    (info) => {
      if (discarded) return
      writeFileSync(`${record(folder)}.new`, JSON.stringify(info), { mode: 0o600 })
      renameSync(`${record(folder)}.new`, record(folder))
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
    complete,
    discard() {
      discarded = true
      rmSync(record(folder), { force: true })
    },
    [Symbol.dispose]: leave,
  }
}

/** Without heads, the server sends all of them; those of a large repository would not fit into headers. */
function wanted({ capabilities }: Remote): Record<string, string> {
  const common = nullNode.toString('hex')
  if (!capabilities.has('bundle2')) return { common }
  return { common, cg: '1', bundlecaps: `HG20,bundle2=${encodeURIComponent('HG20\nchangegroup=01,02,03')}` }
}

function parseBookmarks(listed: Buffer): [string, string][] {
  const lines = listed.toString().split('\n')
  return lines.map((line) => line.split('\t')).filter((pair): pair is [string, string] => /^[0-9a-f]{40}$/.test(pair[1] ?? ''))
}

async function receive(
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

interface Part {
  type: string
  parameters: Map<string, string>
  /** Must be read to its end before the next part. */
  payload: AsyncGenerator<Buffer>
}

/** The parts of a bundle after its magic. Throws the errors that the server reports inside. */
async function* readParts(reader: ByteReader): AsyncGenerator<Part> {
  const settings = (await reader.take(await readLength(reader))).toString('latin1')
  if (/(^| )Compression=(?!UN\b)/.test(settings)) throw new ImportFailure('The server sent a bundle that is compressed twice.')
  for (let part = await readPart(reader); part; part = await readPart(reader)) {
    if (part.type.startsWith('error:')) throw await explain(part)
    yield part
  }
}

async function readPart(reader: ByteReader): Promise<Part | undefined> {
  const length = await readLength(reader)
  if (length === 0) return
  const header = await reader.take(length)
  let at = 0
  const number = () => header.readUInt8(at++)
  const text = (size: number) => {
    at += size
    return header.toString('latin1', at - size, at)
  }
  const type = text(number()).toLowerCase()
  at += 4
  const count = number() + number()
  const sizes = Array.from({ length: count }, () => [number(), number()] as const)
  return { type, parameters: new Map(sizes.map(([name, value]) => [text(name), text(value)])), payload: readPayload(reader) }
}

async function* readPayload(reader: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const length = await readLength(reader)
    if (length === 0) return
    if (length > 0) {
      yield* reader.pass(length)
      continue
    }
    // An interrupting part: an error of the server, or text to print.
    const between = length === -1 ? await readPart(reader) : undefined
    if (length !== -1) throw new ImportFailure('The server sent a bundle that cannot be read.')
    if (between?.type.startsWith('error:')) throw await explain(between)
    for await (const _ of between?.payload ?? []);
  }
}

async function readLength(reader: ByteReader): Promise<number> {
  return (await reader.take(4)).readInt32BE()
}

async function explain({ parameters, payload }: Part): Promise<ImportFailure> {
  for await (const _ of payload);
  const reasons = [parameters.get('message'), parameters.get('hint'), parameters.get('parttype'), parameters.get('params')]
  const words = quote(reasons.filter(Boolean).join(' ') || 'it gives no reason')
  return unreadable.test(words)
    ? damaged('the server cannot read it', words)
    : new ImportFailure(`The server reported an error: ${words}`)
}

/** Messages of Mercurial about a repository for which `hg verify` fails. */
const unreadable = /integrity check|corrupt|no node|no match found|unknown revision|decompress|unexpected error/i
