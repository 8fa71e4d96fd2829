import { isUtf8 } from 'node:buffer'
import { noObject } from '#git/objects.ts'
import { type FastImport, quotePath } from '#importer/staging/fast-import.ts'
import { isForbiddenLink } from '#importer/staging/paths.ts'
import { broken } from './changegroup.ts'
import { type Changelog, parentsOf } from './changelog.ts'
import { describeDate, readable } from './commit-texts.ts'
import type { Files } from './files.ts'
import { differences } from './manifest-lines.ts'
import { type Manifests, packChanges, withoutClashes } from './manifests.ts'

export interface History {
  log: Changelog
  manifests: Manifests
  files: Files
  /** The author line of a user. */
  describe(user: string): string
}

/** Counts for the notes of the report. */
export interface Irregularities {
  early: number
  latin: number
  forbidden: Set<string>
  clashing: Set<string>
}

const betweenCheckpoints = 20_000

/** Writes changesets as commits; the mark of each is `marks` plus its number. The first `done` exist already. */
export async function writeCommits(
  history: History,
  fastImport: FastImport,
  marks: number,
  done: number,
  count: () => void,
): Promise<Irregularities> {
  const { log } = history
  const irregular: Irregularities = { early: 0, latin: 0, forbidden: new Set(), clashing: new Set() }
  const laneOf = openLanes(log)
  const lanes = new Set<string>()
  for (let number = 0; number < log.nodes.size; number++) {
    const changeset = log.read(number)
    const parents = parentsOf(log, number)
    const lane = `refs/import/lanes/${laneOf(number)}`
    const person = `${history.describe(changeset.user)} ${describeDate(changeset)}`
    const message = readable(changeset.message)
    if (changeset.time < 0) irregular.early++
    if (!isUtf8(changeset.message)) irregular.latin++
    const changes = describeChanges(history, number, parents[0] ?? -1, irregular)
    count()
    if (number < done) continue
    lanes.add(lane)
    const start = `${parents.length === 0 ? `reset ${lane}\n\n` : ''}commit ${lane}\nmark :${marks + number}\n`
    await fastImport.write(`${start}author ${person}\ncommitter ${person}\ndata ${message.length}\n`)
    await fastImport.write(message)
    const from = parents.map((parent, index) => `${index === 0 ? 'from' : 'merge'} :${marks + parent}\n`)
    await fastImport.write(Buffer.from(`\n${from.join('')}${changes}`, 'latin1'))
    if (number > done && number % betweenCheckpoints === 0) await fastImport.checkpoint()
  }
  // The lanes are temporary.
  for (const lane of lanes) await fastImport.write(`reset ${lane}\nfrom ${noObject}\n\n`)
  return irregular
}

/**
 * Assigns a ref to each line of first parents, because git keeps the tree of a ref's last commit in memory. A finished line frees its ref.
 */
function openLanes({ p1 }: Changelog): (number: number) => number {
  const children = new Uint32Array(p1.length)
  for (const parent of p1) if (parent >= 0) children[parent] = (children[parent] ?? 0) + 1
  const lanes = new Map<number, number>()
  const free: number[] = []
  let last = 0
  return (number) => {
    const parent = p1[number] as number
    const lane = lanes.get(parent) ?? free.pop() ?? ++last
    lanes.delete(parent)
    if (children[number]) lanes.set(number, lane)
    else free.push(lane)
    return lane
  }
}

/** The changes of a commit as commands in Latin-1. Deletions come first, so that a folder can replace a file. */
function describeChanges(history: History, number: number, parent: number, irregular: Irregularities): string {
  const { files } = history
  const removed: string[] = []
  const set: string[] = []
  const packed = changesOf(history, number, parent, irregular)
  for (let at = 0; at < packed.length; at += 9) {
    const path = packed.readUInt32BE(at)
    const revision = packed.readUInt32BE(at + 4)
    const name = files.paths[path] as string
    const mode = modes[packed[at + 8] as number] ?? '100644'
    const refused = files.isForbidden(path) || (mode === '120000' && isForbiddenLink(name))
    if (refused) irregular.forbidden.add(name)
    if (revision > 0 && !refused) set.push(`M ${mode} :${revision} ${quotePath(name)}\n`)
    else if (!files.isForbidden(path)) removed.push(`D ${quotePath(name)}\n`)
  }
  return removed.join('') + set.join('')
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
