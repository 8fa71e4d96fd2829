import { type BlobIds, readBlobIds } from './blob-ids.ts'
import { type Changegroup, openChangegroup, type Revision, readLog, readNames, refuseFolders } from './changegroup.ts'
import type { Bundle } from './fetch-bundle.ts'
import { type NodeTable, openNodeTable } from './node-table.ts'
import type { Spool } from './spool.ts'

/** In bytes. */
const piece = 1 << 20

/**
 * Writes a bundle of version 03 that has the revisions of both, as if the server had sent everything at once: each log has the revisions of
 * the first bundle, in their order, and then those that only the second has, which may be deltas against the others. `ids` gets the git ids
 * of the file texts of the first bundle at their new positions. Returns the heads, the newest first.
 */
export async function mergeBundles(
  first: Bundle,
  second: Pick<Bundle, 'spool' | 'version'>,
  output: Spool,
  ids: BlobIds,
): Promise<{ heads: string[]; changesets: number }> {
  const [known, added] = [openChangegroup(first), openChangegroup(second)]
  const changesets = openNodeTable()
  const heads = openHeads(changesets)
  await copyLog(known, output, changesets, heads.add)
  await copyLog(added, output, changesets, heads.add)
  endGroup(output)

  const manifests = openNodeTable()
  for (const changegroup of [known, added]) {
    await copyLog(changegroup, output, manifests)
    await refuseFolders(changegroup)
  }
  endGroup(output)
  // Without logs of folders.
  endGroup(output)

  const positions = await indexNames(added)
  const earlier = readBlobIds(first.contents)
  let ordinal = 0
  let position = 0
  async function appendNew(name: string, nodes: NodeTable) {
    const at = positions.get(name)
    if (at === undefined) return
    positions.delete(name)
    added.cursor.position = at
    await copyLog(added, output, nodes, () => position++)
  }
  for await (const name of readNames(known)) {
    writeName(output, name)
    const nodes = openNodeTable(16)
    await copyLog(known, output, nodes, () => {
      const id = earlier(ordinal++)
      if (id.length === 20) ids.set(position, id)
      position++
    })
    await appendNew(name, nodes)
    endGroup(output)
  }
  for (const name of [...positions.keys()]) {
    writeName(output, name)
    await appendNew(name, openNodeTable(16))
    endGroup(output)
  }
  endGroup(output)
  output.end()
  ids.flush()
  return { heads: heads.list(), changesets: changesets.size }
}

/** Copies the revisions of the next log that are not in `nodes` yet. */
async function copyLog(
  changegroup: Changegroup,
  output: Spool,
  nodes: NodeTable,
  visit: (revision: Revision) => void = () => {},
) {
  const { spool } = changegroup
  for await (const revisions of readLog(changegroup)) {
    for (const revision of revisions) {
      const { size } = nodes
      if (nodes.add(revision.node) < size) continue
      visit(revision)
      const { node, p1, p2, base, flags, at, length } = revision
      const header = Buffer.alloc(106)
      header.writeUInt32BE(header.length + length)
      for (const [index, id] of [node, p1, p2, base, node].entries()) id.copy(header, 4 + index * 20)
      header.writeUInt16BE(flags, 104)
      output.append(header)
      for (let done = 0; done < length; done += piece)
        // Copied, because a slice of the read buffer may change before it is written.
        output.append(Buffer.from(spool.read(at + done, Math.min(piece, length - done))))
    }
  }
}

/** Where the log of each file begins. */
async function indexNames(changegroup: Changegroup): Promise<Map<string, number>> {
  const positions = new Map<string, number>()
  for await (const name of readNames(changegroup)) {
    positions.set(name, changegroup.cursor.position)
    for await (const _ of readLog(changegroup));
  }
  return positions
}

function writeName(output: Spool, name: string) {
  const chunk = Buffer.alloc(4 + name.length)
  chunk.writeUInt32BE(chunk.length)
  chunk.write(name, 4, 'latin1')
  output.append(chunk)
}

function endGroup(output: Spool) {
  output.append(Buffer.alloc(4))
}

function openHeads(nodes: NodeTable) {
  const heads = new Set<number>()
  return {
    add({ p1, p2 }: Revision) {
      heads.add(nodes.size - 1)
      for (const parent of [p1, p2]) heads.delete(nodes.find(parent))
    },
    list: () => [...heads].reverse().map((number) => nodes.id(number).toString('hex')),
  }
}
