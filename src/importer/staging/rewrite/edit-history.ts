import { runGit, streamGit } from '#git/run-git.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { type ObjectReader, openReader, readInOrder } from '#importer/staging/object-reader.ts'
import { trimTrailing } from '#platform/trim.ts'
import { type ComparedEdits, compareEdits, type EditedCommit } from './compare-edits.ts'
import { openPackWriter, type PackWriter } from './pack-writer.ts'
import type { PathSelection } from './path-patterns.ts'
import { rewriteTag, signed } from './rewrite-history.ts'

export interface HistoryEdits {
  /** The files that are kept. Commits that change none of them are dropped. */
  paths?: PathSelection | undefined
  /** Whether a commit is old. Old commits are dropped; the first ones after them have no parents. */
  isOld?: ((id: string, time: number) => boolean) | undefined
  /** A line to add to the message of a commit. */
  trailer?: ((id: string) => string | undefined) | undefined
}

export interface Edited {
  /** Branches and tags by name, such as `refs/heads/main`. */
  refs: Record<string, string>
  /** Those that have no commit left. */
  dropped: string[]
  compared: ComparedEdits
}

/** Null if the commit and all before it are dropped. */
type Replacement = string | null

/** Removes files and commits from a history, and adds lines to messages. Moves no refs. The same input gives the same ids. */
export async function editHistory(
  repository: string,
  { from, signal, edits, compare_all = false }: { from: string; signal: AbortSignal; edits: HistoryEdits; compare_all?: boolean },
): Promise<Edited> {
  const packs = openPackWriter(repository, signal)
  await using reader = openReader(repository, signal)
  const filterTree = edits.paths && openTreeFilter(edits.paths, reader, packs)
  const replaced = new Map<string, Replacement>()
  const treeOf = new Map<string, string>()
  const commits = new Map<string, EditedCommit>()
  const allowed = new Set<string>()
  const order = ['rev-list', '--topo-order', '--reverse', `--glob=${from}`]
  const names = streamGit(repository, order, { signal, detached: false })
  for await (const { id, data } of readInOrder(repository, names, signal)) {
    const commit = parseCommit(data)
    if (edits.isOld?.(id, commit.time)) {
      replaced.set(id, null)
      continue
    }
    const tree = filterTree ? await filterTree(commit.tree) : commit.tree
    commits.set(id, { id, tree: commit.tree, filtered: tree, tip: false })
    const parents = [...new Set(commit.parents.map((parent) => replaced.get(parent) ?? null))].filter((parent) => parent !== null)
    const [only = null] = parents
    if (filterTree && parents.length < 2 && tree === (only === null ? emptyTree : treeOf.get(only))) {
      replaced.set(id, only)
      continue
    }
    const edited = writeCommit(data, commit, tree, parents, edits.trailer?.(id))
    const written = edited.equals(data) ? id : packs.add('commit', edited)
    replaced.set(id, written)
    allowed.add(written)
    if (filterTree) treeOf.set(written, tree)
    await packs.room()
  }
  const refs: Record<string, string> = {}
  const dropped: string[] = []
  for (const { ref, id, type } of await readRefs(repository, from, signal)) {
    const replacement = await replacementOf(id, type)
    if (replacement === null) dropped.push(ref)
    else refs[ref] = replacement
  }
  await packs.end()
  const { paths } = edits
  const listed = [...commits.values()]
  const comparison = { signal, paths, commits: listed, allowed, refs: Object.values(refs), all: compare_all }
  return { refs, dropped, compared: await compareEdits(repository, comparison) }

  async function replacementOf(id: string, type: string): Promise<Replacement> {
    const known = replaced.get(id)
    const commit = commits.get(id)
    if (commit) commit.tip = true
    if (known !== undefined) return known
    if (type !== 'tag') return id
    const { data } = await reader.read(id)
    const [, object = '', kind = ''] = /^object (\w+)\ntype (\w+)\n/.exec(data.toString('latin1', 0, 200)) ?? []
    const target = await replacementOf(object, kind)
    if (target === null || target === object) return target === null ? null : id
    const tag = rewriteTag(data, { correct: undefined, replace: () => target })
    return tag ? packs.add('tag', tag) : id
  }
}

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

interface Commit {
  tree: string
  parents: string[]
  time: number
  /** Where the message begins. */
  message: number
}

function parseCommit(data: Buffer): Commit {
  const end = data.indexOf('\n\n')
  const head = data.toString('latin1', 0, end < 0 ? data.length : end)
  const [, tree = ''] = /^tree (\w+)$/m.exec(head) ?? []
  const parents = [...head.matchAll(/^parent (\w+)$/gm)].map(([, parent = '']) => parent)
  const [, time = '0'] = /^committer .*> (\d+) [+-]\d+$/m.exec(head) ?? []
  return { tree, parents, time: Number(time), message: end < 0 ? data.length : end + 2 }
}

function writeCommit(data: Buffer, before: Commit, tree: string, parents: string[], trailer: string | undefined): Buffer {
  const same = tree === before.tree && parents.join() === before.parents.join()
  if (same && trailer === undefined) return data
  const lines = trimTrailing(data.toString('latin1', 0, before.message), '\n').split('\n')
  const kept: string[] = []
  let dropping = false
  for (const line of lines) {
    // A line that begins with a space continues the one before. Signatures do not match an edited commit.
    if (!line.startsWith(' ')) dropping = /^(tree|parent) /.test(line) || signed.test(line)
    if (!dropping) kept.push(line)
  }
  const head = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), ...kept]
  const message = data.toString('latin1', before.message)
  const line = Buffer.from(trailer ?? '').toString('latin1')
  const body = trailer === undefined ? message : `${message.trimEnd()}${message.trimEnd() === '' ? '' : '\n\n'}${line}\n`
  return Buffer.from(`${head.join('\n')}\n\n${body}`, 'latin1')
}

async function readRefs(repository: string, from: string, signal: AbortSignal) {
  const args = ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)', `${from}/heads/`, `${from}/tags/`]
  const { output } = await runGit(repository, args, { signal, detached: false, limit: stageLimit, whole: true })
  const lines = output.toString().matchAll(/^(\w+) (\w+) (.+)$/gm)
  return [...lines].map(([, id = '', type = '', name = '']) => ({ id, type, ref: name.replace(from, 'refs') }))
}

const maxKnown = 200_000

/** The tree without the files that are not kept. Folders without files are dropped. */
function openTreeFilter({ keepsFile, dropsFolder }: PathSelection, reader: ObjectReader, packs: PackWriter) {
  const known = new Map<string, string | null>()

  async function filter(id: string, path: string): Promise<string | null> {
    const key = `${path}\0${id}`
    const found = known.get(key)
    if (found !== undefined) return found
    const { data } = await reader.read(id)
    const parts: Buffer[] = []
    let changed = false
    for (let start = 0; start < data.length; ) {
      const zero = data.indexOf(0, start)
      const end = zero + 21
      const space = data.indexOf(32, start)
      const entry = data.subarray(start, end)
      const inner = `${path}${data.toString('utf8', space + 1, zero)}`
      const kept = await filterEntry(entry, data.toString('latin1', start, space), data.toString('hex', zero + 1, end), inner)
      if (kept !== entry) changed = true
      if (kept) parts.push(kept)
      start = end
    }
    const filtered = parts.length === 0 ? null : changed ? packs.add('tree', Buffer.concat(parts)) : id
    if (known.size >= maxKnown) known.clear()
    known.set(key, filtered)
    return filtered
  }

  /** The entry itself if nothing changes. */
  async function filterEntry(entry: Buffer, mode: string, id: string, path: string): Promise<Buffer | undefined> {
    if (mode !== '40000') return keepsFile(path) ? entry : undefined
    if (dropsFolder(path)) return undefined
    const inner = await filter(id, `${path}/`)
    if (inner === id) return entry
    return inner === null ? undefined : Buffer.concat([entry.subarray(0, entry.length - 20), Buffer.from(inner, 'hex')])
  }

  return async (tree: string) => (await filter(tree, '')) ?? packs.add('tree', Buffer.alloc(0))
}
