import { isUtf8 } from 'node:buffer'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isForbiddenLink } from '#importer/staging/paths.ts'
import type { PackWriter } from '#importer/staging/rewrite/pack-writer.ts'
import { broken } from './changegroup.ts'
import { type Changelog, parentsOf } from './changelog.ts'
import { describeDate, readable } from './commit-texts.ts'
import type { Received } from './expected-trees.ts'
import type { Files } from './files.ts'
import { differences } from './manifest-lines.ts'
import { type Manifests, packChanges, withoutClashes } from './manifests.ts'
import { changeTree, emptyFolder, type Folder, type TreeChange, type WriteTree } from './tree-edits.ts'
import { hashTree, treeEntry } from './trees.ts'

export interface History {
  log: Changelog
  manifests: Manifests
  files: Files
  /** The author line of a user. */
  describe(user: string): string
  contentId: Received['contentId']
}

/** Counts for the notes of the report. */
export interface Irregularities {
  early: number
  latin: number
  forbidden: Set<string>
  clashing: Set<string>
}

const betweenCheckpoints = 20_000
const betweenYields = 64

/** The ids of the commits of changesets, by number. */
export type CommitIds = ReturnType<typeof openCommitIds>

export function openCommitIds(size: number) {
  const ids = Buffer.alloc(20 * size)
  return {
    set: (number: number, id: string) => ids.write(id, 20 * number, 'hex'),
    get: (number: number) => ids.toString('hex', 20 * number, 20 * number + 20),
  }
}

/** Writes changesets as commits. The first `done` exist already. `checkpoint` is called now and then with the number of commits. */
export async function writeCommits(
  history: History,
  packs: PackWriter,
  ids: CommitIds,
  done: number,
  count: () => void,
  checkpoint: (next: number) => Promise<void>,
): Promise<Irregularities> {
  const { log } = history
  const irregular: Irregularities = { early: 0, latin: 0, forbidden: new Set(), clashing: new Set() }
  const trees = openTrees(history, packs, irregular)
  for (let number = 0; number < log.nodes.size; number++) {
    const changeset = log.read(number)
    if (changeset.time < 0) irregular.early++
    if (!isUtf8(changeset.message)) irregular.latin++
    const parents = parentsOf(log, number)
    count()
    if (number % betweenYields === 0) {
      await yieldToEventLoop()
      await packs.room()
    }
    if (number < done) {
      describeChanges(history, number, parents[0] ?? -1, irregular)
      continue
    }
    const tree = trees.write(number, parents[0] ?? -1)
    const person = `${history.describe(changeset.user)} ${describeDate(changeset)}`
    const links = parents.map((parent) => `parent ${ids.get(parent)}\n`).join('')
    const head = Buffer.from(`tree ${tree}\n${links}author ${person}\ncommitter ${person}\n\n`)
    ids.set(number, packs.add('commit', Buffer.concat([head, readable(changeset.message)])))
    if (number > done && number % betweenCheckpoints === 0) await checkpoint(number + 1)
  }
  return irregular
}

/** How many trees are kept for children to come. They share most of their folders. */
const maxKept = 64

function openTrees(history: History, packs: PackWriter, irregular: Irregularities) {
  const { p1 } = history.log
  const children = new Uint32Array(p1.length)
  for (const parent of p1) if (parent >= 0) children[parent] = (children[parent] as number) + 1
  const kept = new Map<number, Folder>()
  const write: WriteTree = (content, before, delta) =>
    packs.add('tree', Buffer.from(content, 'latin1'), before && delta && { base: before.id, bytes: delta() })
  const only = (content: string) => hashTree(content).toString('hex')

  /** A tree that is not kept is made again, from that of any other commit. It is written already. */
  function find(number: number): Folder {
    const known = kept.get(number)
    if (known || number < 0) return known ?? emptyFolder(only)
    const [other = -1, tree = emptyFolder(only)] = [...kept].at(-1) ?? []
    return changeTree(only, tree, describeChanges(history, number, other, irregular))
  }

  return {
    /** Writes the tree of a changeset and returns its id. */
    write(number: number, parent: number): string {
      const tree = changeTree(write, find(parent), describeChanges(history, number, parent, irregular))
      if (parent >= 0) children[parent] = (children[parent] as number) - 1
      if (children[parent] === 0) kept.delete(parent)
      if (children[number] !== 0) kept.set(number, tree)
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break
        kept.delete(oldest)
      }
      return tree.id
    },
  }
}

/** The changes between the trees of two changesets, sorted by path. */
function describeChanges(history: History, number: number, before: number, irregular: Irregularities): TreeChange[] {
  const { files, contentId } = history
  const changes: TreeChange[] = []
  const packed = changesOf(history, number, before, irregular)
  for (let at = 0; at < packed.length; at += 9) {
    const index = packed.readUInt32BE(at)
    const revision = packed.readUInt32BE(at + 4)
    const path = files.paths[index] as string
    const mode = modes[packed[at + 8] as number] ?? '100644'
    const refused = files.isForbidden(index) || (mode === '120000' && isForbiddenLink(path))
    if (refused) irregular.forbidden.add(path)
    if (revision > 0 && !refused) changes.push({ path, entry: treeEntry(path, mode, contentId(revision - 1)) })
    else if (!files.isForbidden(index)) changes.push({ path })
  }
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1))
}

const modes: Record<number, string> = { 108: '120000', 120: '100755' }

function changesOf({ log, manifests, files }: History, number: number, parent: number, irregular: Irregularities): Buffer {
  const now = manifestOf(log, manifests, number)
  const before = parent < 0 ? -1 : manifestOf(log, manifests, parent)
  if (now === before) return Buffer.alloc(0)
  const clashes = manifests.clashes(now) || manifests.clashes(before)
  if (!clashes && now >= 0 && manifests.parent(now) === before) return manifests.changes(now)
  const [old, text] = [before, now].map((manifest) => (manifest < 0 ? Buffer.alloc(0) : manifests.text(manifest))) as [
    Buffer,
    Buffer,
  ]
  const kept = withoutClashes(text, files)
  if (kept !== text) for (const path of differences(text, kept).keys()) irregular.clashing.add(path)
  const known = files.revisions
  const changes = packChanges(differences(withoutClashes(old, files), kept), files)
  // Every file revision was numbered while the manifests were read; a new one would have no mark.
  if (files.revisions !== known) throw broken()
  return changes
}

export function manifestOf({ manifest, manifests: nodes }: Changelog, manifests: Manifests, number: number): number {
  const index = manifest[number] as number
  if (index < 0) return -1
  const found = manifests.find(nodes.id(index))
  if (found < 0) throw broken()
  return found
}
