import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Origin, Verification, Workspace } from '#importer/source.ts'
import { stageGit } from '#importer/staging/git.ts'
import { openObjectStream } from '#importer/staging/object-reader.ts'
import { readArranged } from './arrange.ts'
import type { Item } from './changesets.ts'
import { type Client, openClient } from './client.ts'
import { compareChangesets } from './compare-changesets.ts'
import { download } from './contents.ts'
import { marksFile, readExtent } from './history.ts'
import { isLink, listItems } from './items.ts'
import { locateProject } from './locate.ts'
import { below, folded, isAllowedPath } from './paths.ts'
import { readAhead } from './read-ahead.ts'

/** The number of changesets in a sample. */
const sample = 20
const maxMismatches = 100
/** The number of remembered MD5 sums. */
const maxHashes = 500_000

/** A tree in git, and the server folder to compare it with. */
interface Pair {
  where: string
  tree: string
  path: string
  version: number
}

interface Entry {
  mode: string
  id: string
  size: number
  path: string
}

/**
 * Compares the names, sizes and contents of every branch, and of a sample of changesets or all, with the lists of the server,
 * and their authors, dates and comments with its changesets.
 */
export async function verify(origin: Origin, workspace: Workspace, all: boolean): Promise<Verification> {
  const { collection, project } = await locateProject(origin, workspace)
  const client = openClient(collection, origin, workspace)
  const { until = 0 } = readExtent(workspace.folder) ?? {}
  const heads = readArranged(workspace.folder).map(
    ({ ref, root }): Pair => ({
      where: `branch ${ref.slice('refs/import/orig/heads/'.length)}`,
      tree: ref,
      path: root ? `$/${project}/${root}` : `$/${project}`,
      version: until,
    }),
  )
  const chosen = all ? readMarks(workspace) : sampled(readMarks(workspace))
  const revisions = chosen.map(
    ({ number, commit }): Pair => ({
      where: `changeset ${number}`,
      tree: commit,
      path: `$/${project}`,
      version: number,
    }),
  )
  const verification: Verification = { branches: heads.length, tags: 0, revisions: revisions.length, files: 0, mismatches: [] }
  const note = (where: string, path: string, what: string) => {
    if (verification.mismatches.length < maxMismatches) verification.mismatches.push({ where, path, what })
  }

  const hashes = new Map<string, string>()
  const pairs = readAhead(each([...heads, ...revisions]), { width: 2 }, async (pair) => ({
    pair,
    items: await listItems(client, pair.path, pair.version),
    entries: await readTree(workspace, pair.tree),
  }))
  for await (const { pair, items, entries } of pairs) {
    if (hashes.size > maxHashes) hashes.clear()
    const unknown = new Set([...entries.values()].map(({ id }) => id).filter((id) => !hashes.has(id)))
    for (const [id, hash] of await hashBlobs(workspace.repository, [...unknown], workspace.signal)) hashes.set(id, hash)
    for (const item of items) {
      const path = below(pair.path, item.path)
      if (!path || item.folder || !isAllowedPath(path)) continue
      const entry = entries.get(folded(path))
      entries.delete(folded(path))
      verification.files += 1
      const what = entry ? await compare(client, item, entry, hashes.get(entry.id), pair.version) : 'is missing'
      if (what) note(pair.where, path, what)
    }
    for (const { path } of entries.values()) note(pair.where, path, 'is not in the source')
  }
  const { folder, repository, signal } = workspace
  const numbers = chosen.map(({ number }) => number)
  await compareChangesets(client, { folder, repository, signal, project, numbers, all, note })
  return verification
}

async function* each<Value>(values: Value[]) {
  yield* values
}

async function compare(client: Client, item: Item, entry: Entry, hash: string | undefined, version: number) {
  if (isLink(entry.path, item) !== (entry.mode === '120000')) return item.symlink ? 'is no link' : 'is a link'
  if (item.size !== undefined && item.size !== entry.size) return `has ${entry.size} bytes and not ${item.size}`
  const wanted = item.hash ?? (await hashOf(client, item.path, version))
  return wanted === hash ? undefined : 'has other contents'
}

/** For servers that do not send the MD5. */
function hashOf(client: Client, path: string, version: number): Promise<string> {
  return client.ask(...download(path, version), async ({ body }) => {
    const hash = createHash('md5')
    for await (const chunk of body as AsyncIterable<Buffer>) hash.update(chunk)
    return hash.digest('base64')
  })
}

async function readTree({ repository }: Workspace, tree: string): Promise<Map<string, Entry>> {
  const listed = await stageGit(['-C', repository, 'ls-tree', '-r', '-l', '-z', `${tree}^{tree}`])
  const entries = listed.split('\0').flatMap((line) => {
    const found = /^(\d+) \w+ (\w+) +(\d+|-)\t(.+)$/s.exec(line)
    return found ? [found] : []
  })
  return new Map(
    entries.map(([, mode = '', id = '', size = '', path = '']) => [folded(path), { mode, id, size: Number(size) || 0, path }]),
  )
}

function readMarks({ folder }: Workspace): { number: number; commit: string }[] {
  const marks = [...readFileSync(marksFile(folder), 'latin1').matchAll(/^:(\d+) (\w+)$/gm)]
  return marks.map(([, number = '', commit = '']) => ({ number: Number(number), commit })).sort((a, b) => a.number - b.number)
}

/** An evenly spaced sample, with the first and the last. */
function sampled<Value>(values: Value[]): Value[] {
  if (values.length <= sample) return values
  return Array.from({ length: sample }, (_, index) => values[Math.round((index * (values.length - 1)) / (sample - 1))] as Value)
}

/** The MD5 of blobs in Base64, by their ids. Holds no blob in memory. */
async function hashBlobs(repository: string, ids: string[], signal: AbortSignal): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  if (ids.length === 0) return hashes
  await using objects = openObjectStream(repository, `${ids.join('\n')}\n`, signal, '--buffer')
  for (let head = await objects.head(); head; head = await objects.head()) {
    if (head.type !== 'blob') throw new Error(`${head.id} is a ${head.type}, not a blob`)
    const hash = createHash('md5')
    for await (const chunk of objects.chunks(head)) hash.update(chunk)
    hashes.set(head.id, hash.digest('base64'))
  }
  return hashes
}
