import { ImportFailure } from '#importer/source.ts'
import { broken, type Changegroup, isNull, type Revision, readLog, refuseFlags } from './changegroup.ts'
import { type Changeset, parseChangeset } from './changeset.ts'
import { openDeltaChain, startNode } from './delta-chain.ts'
import { openNodeTable } from './node-table.ts'
import type { Spool } from './spool.ts'

/** All changesets in the order of the server, parents first. Their texts are in a file. */
export type Changelog = Awaited<ReturnType<typeof readChangelog>>

/** `keep` is the file for the texts, needed for `read`. `visit` is called once for each changeset. */
export async function readChangelog(
  changegroup: Changegroup,
  keep?: Spool,
  visit: (changeset: Changeset, number: number) => void = () => {},
) {
  const chain = openDeltaChain(changegroup.spool, 4 << 20)
  const offsets: number[] = []
  const branchNumbers = new Map<string, number>()
  const log = {
    nodes: openNodeTable(),
    /** The numbers of the parents, or -1. */
    p1: [] as number[],
    p2: [] as number[],
    /** Indexes of `manifests`, or -1. */
    manifest: [] as number[],
    manifests: openNodeTable(),
    /** Indexes of `branches`, which are in the order of their first changesets. */
    branch: [] as number[],
    branches: [] as string[],
    closes: [] as boolean[],
    read(number: number) {
      if (!keep) throw new Error('the texts of changesets were not kept')
      const at = offsets[number] as number
      return parseChangeset(keep.read(at, (offsets[number + 1] ?? keep.size) - at))
    },
  }
  const parent = (node: Buffer) => {
    const number = log.nodes.find(node)
    if (number < 0 && !isNull(node)) throw broken()
    return number
  }
  const add = (revision: Revision) => {
    refuseFlags(revision, 'The list of changesets')
    const text = chain.text(chain.add(revision))
    if (!Buffer.isBuffer(text)) throw new ImportFailure('A changeset has a description of more than 16 MB.')
    if (!startNode(revision).update(text).digest().equals(revision.node)) throw broken()
    const changeset = parseChangeset(text)
    if (changeset.manifest.length !== 20) throw broken()
    const number = log.p1.push(parent(revision.p1)) - 1
    log.p2.push(parent(revision.p2))
    if (log.nodes.add(revision.node) !== number) throw broken()
    log.manifest.push(isNull(changeset.manifest) ? -1 : log.manifests.add(changeset.manifest))
    const branch = branchNumbers.get(changeset.branch) ?? log.branches.push(changeset.branch) - 1
    branchNumbers.set(changeset.branch, branch)
    log.branch.push(branch)
    log.closes.push(changeset.closes)
    // Copied, because the text may be released before it is written.
    if (keep) offsets.push(keep.append(Buffer.from(text)))
    visit(changeset, number)
  }
  for await (const revisions of readLog(changegroup)) revisions.forEach(add)
  return log
}

/** Changes are relative to the first parent. */
export function parentsOf({ p1, p2 }: Changelog, number: number): number[] {
  return [p1[number] as number, p2[number] as number].filter((parent) => parent >= 0)
}
