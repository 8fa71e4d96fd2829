import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isForbiddenLink } from '#importer/staging/paths.ts'
import { broken } from './changegroup.ts'
import type { Changelog } from './changelog.ts'
import { type CommitTexts, expectTexts } from './commit-texts.ts'
import type { Files } from './files.ts'
import { type Line, readLine } from './manifest-lines.ts'
import { readNode, withoutClashes } from './manifests.ts'
import { type TreeEntry, treeEntry, treeId } from './trees.ts'

/** The tree and the texts that git must have for a changeset. */
export interface Expected {
  number: number
  node: string
  tree: string
  files: number
  texts: CommitTexts
}

/** The received data: manifests and file texts, each checked against its node. */
export interface Received {
  log: Changelog
  files: Files
  manifest(number: number): Buffer
  /** The git id of the text of a file revision. */
  contentId(revision: number): Buffer
}

/** Computes the expected trees without git. */
export function openExpectation({ log, files, manifest, contentId }: Received) {
  const entriesOf = openEntries(files, contentId)
  const entries = (number: number) => entriesOf(withoutClashes(manifest(number), files))
  return {
    entries,
    expect(number: number) {
      const found = entries(number)
      const node = log.nodes.id(number).toString('hex')
      return { number, node, tree: treeId(found), files: found.length, texts: expectTexts(log.read(number)) }
    },
  }
}

export type Expectation = ReturnType<typeof openExpectation>

const sample = 100

/** For the heads of branches and tags and a sample of the rest. Yields to the event loop in between. */
export async function expectSample(received: Received, heads: number[], signal: AbortSignal): Promise<Expected[]> {
  const { size } = received.log.nodes
  const step = Math.max(1, size / sample)
  const spread = Array.from({ length: Math.floor(size / step) }, (_, index) => Math.floor(index * step))
  const { expect } = openExpectation(received)
  const expected: Expected[] = []
  for (const number of [...new Set([...spread, ...heads])].sort((a, b) => a - b)) {
    expected.push(expect(number))
    await yieldToEventLoop()
    signal.throwIfAborted()
  }
  return expected
}

/** In manifest lines. Consecutive manifests share most of their lines. */
const maxKnown = 100_000

function openEntries(files: Files, contentId: Received['contentId']): (manifest: Buffer) => TreeEntry[] {
  const known = new Map<string, TreeEntry | null>()
  const read = (line: string) => {
    if (known.size >= maxKnown) known.clear()
    // Copied, because a substring would keep the whole manifest alive.
    const bytes = Buffer.from(`${line}\n`, 'latin1')
    const entry = readEntry(readLine(bytes, 0), files, contentId)
    known.set(bytes.toString('latin1', 0, bytes.length - 1), entry)
    return entry
  }
  return (manifest) => {
    const lines = manifest.toString('latin1').split('\n')
    // Every line ends with a line feed.
    if (lines.pop() !== '') throw broken()
    const entries: TreeEntry[] = []
    for (const line of lines) {
      const entry = known.get(line) ?? read(line)
      if (entry) entries.push(entry)
    }
    return entries
  }
}

/** Null for a path that git refuses. */
function readEntry({ path, rest }: Line, files: Files, contentId: Received['contentId']): TreeEntry | null {
  const mode = modes[rest.slice(40)] ?? '100644'
  if (files.isForbidden(files.path(path)) || (mode === '120000' && isForbiddenLink(path))) return null
  const revision = files.find(path, readNode(rest))
  if (revision < 0) throw broken()
  return treeEntry(path, mode, contentId(revision))
}

const modes: { [flag: string]: string } = { l: '120000', x: '100755' }
