import { readFileSync } from 'node:fs'
import { git } from '#hosting/git/git.ts'
import { isForbiddenLink } from '../../staging/paths.ts'
import type { Verification, Workshop } from '../source.ts'
import { broken, type Changegroup, openChangegroup, readLog, readNames } from './changegroup.ts'
import { type Changelog, readChangelog } from './changelog.ts'
import { type Conversion, places, readConversion } from './converting.ts'
import { reopenBundle } from './fetching.ts'
import { type Files, openFiles } from './files.ts'
import { type Line, readLine } from './lines.ts'
import { indexManifests, readNode, withoutClashes } from './manifests.ts'
import { readMarks } from './marks.ts'
import { nullNode } from './nodes.ts'
import { openSpool } from './spool.ts'
import { type TreeEntry, treeEntry, treeId } from './trees.ts'

const sample = 100
const mostMismatches = 100

/**
 * The manifests of the source, each checked by its node, with the ids of the files' texts, each checked by its node as well, make the
 * tree that a commit must have: its id is compared with the one that git has stored.
 */
export async function verify(workshop: Workshop, all: boolean): Promise<Verification> {
  const { folder, repository } = workshop
  using bundle = reopenBundle(folder)
  if (!bundle) throw new Error('there is nothing to verify: no bundle was received')
  const { wholes, contents, marks } = places(folder)
  const { commits_from, refs } = readConversion(folder)
  const changegroup = openChangegroup(bundle)
  const listed = git(['-C', repository, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/import/orig/'])
  listed.catch(() => {})
  const log = await readChangelog(changegroup)
  const commits: string[] = []
  await readMarks(marks, (mark, id) => {
    if (mark >= commits_from) commits[mark - commits_from] = id
  })

  const result: Verification = { branches: 0, tags: 0, revisions: 0, files: 0, mismatches: [] }
  const report = (where: string, path: string, what: string) => {
    if (result.mismatches.length < mostMismatches) result.mismatches.push({ where, path, what })
  }
  const heads = compareRefs(await listed, refs, log, commits, report)
  result.branches = heads.filter(([ref]) => ref.startsWith('refs/import/orig/heads/')).length
  result.tags = heads.length - result.branches
  const numbers = choose(
    log,
    heads.map(([, number]) => number),
    all,
  )
  // Git looks for them meanwhile.
  const found = readTrees(
    repository,
    numbers.map((number) => commits[number] ?? ''),
  )
  found.catch(() => {})
  using whole = openSpool(wholes, true)
  const manifest = await indexManifests(changegroup, whole)
  const files = await indexFiles(changegroup)
  const entriesOf = openEntries(files, readFileSync(contents))
  const trees = await found
  for (const [index, number] of numbers.entries()) {
    workshop.signal.throwIfAborted()
    const node = log.manifest[number] as number
    const entries = entriesOf(withoutClashes(manifest(node < 0 ? nullNode : log.manifests.id(node)), files))
    result.revisions++
    result.files += entries.length
    if (treeId(entries) === trees[index]) continue
    const where = `changeset ${log.nodes.id(number).toString('hex', 0, 6)}`
    await explain(repository, commits[number], entries, (path, what) => report(where, path, what))
  }
  return result
}

/** Numbers the revisions of files as they come, which is how their contents are kept. */
async function indexFiles(changegroup: Changegroup): Promise<Files> {
  const files = openFiles()
  for await (const name of readNames(changegroup)) {
    const path = files.path(name)
    for await (const revisions of readLog(changegroup)) for (const { node } of revisions) files.add(path, node)
  }
  return files
}

type Report = (where: string, path: string, what: string) => void

/** The refs as git lists them, with the changesets that they must stand for. */
function compareRefs(listed: string, refs: Conversion['refs'], log: Changelog, commits: string[], report: Report) {
  const there = new Map(listed.split('\n').map((line) => [line.slice(41), line.slice(0, 40)] as const))
  return refs.map(([ref, node]): [string, number] => {
    const number = log.nodes.find(Buffer.from(node, 'hex'))
    const name = ref.slice('refs/import/orig/'.length)
    if (!there.has(ref)) report(name, '', 'is missing')
    else if (there.get(ref) !== commits[number]) report(name, '', `is not at changeset ${node.slice(0, 12)}`)
    return [ref, number]
  })
}

function choose({ nodes }: Changelog, heads: number[], all: boolean): number[] {
  const step = all ? 1 : Math.max(1, nodes.size / sample)
  const spread = Array.from({ length: Math.floor(nodes.size / step) }, (_, index) => Math.floor(index * step))
  return [...new Set([...spread, ...heads])].sort((a, b) => a - b)
}

async function readTrees(repository: string, commits: string[]): Promise<string[]> {
  const input = commits.map((commit) => `${commit}^{tree}\n`).join('')
  return (await git(['-C', repository, 'cat-file', '--batch-check=%(objectname)'], { input })).split('\n')
}

/** How many lines of manifests are kept as entries: most lines of one are in the next one too. */
const mostKnown = 100_000

function openEntries(files: Files, ids: Buffer): (manifest: Buffer) => TreeEntry[] {
  const known = new Map<string, TreeEntry | null>()
  const read = (line: string) => {
    if (known.size >= mostKnown) known.clear()
    // A copy: a part of a text keeps all of it.
    const bytes = Buffer.from(`${line}\n`, 'latin1')
    const entry = readEntry(readLine(bytes, 0), files, ids)
    known.set(bytes.toString('latin1', 0, bytes.length - 1), entry)
    return entry
  }
  return (manifest) => {
    const lines = manifest.toString('latin1').split('\n')
    // Each ends with one.
    if (lines.pop() !== '') throw broken()
    const entries: TreeEntry[] = []
    for (const line of lines) {
      const entry = known.get(line) ?? read(line)
      if (entry) entries.push(entry)
    }
    return entries
  }
}

/** Nothing for what git refuses. */
function readEntry({ path, rest }: Line, files: Files, ids: Buffer): TreeEntry | null {
  const mode = modes[rest.slice(40)] ?? '100644'
  if (files.isForbidden(files.path(path)) || (mode === '120000' && isForbiddenLink(path))) return null
  const number = files.find(path, readNode(rest))
  if (number < 0) throw broken()
  return treeEntry(path, mode, ids.subarray(number * 20, number * 20 + 20))
}

const modes: { [flag: string]: string } = { l: '120000', x: '100755' }

/** Which files it is that differ. */
async function explain(
  repository: string,
  commit: string | undefined,
  entries: TreeEntry[],
  report: (path: string, what: string) => void,
) {
  if (!commit) return report('', 'has no commit')
  const listed = await git(['-C', repository, 'ls-tree', '-r', '-z', '--full-tree', commit], { encoding: 'latin1' })
  const there = new Map(
    listed.split('\0').map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))] as const),
  )
  there.delete('')
  for (const { path, mode, id } of entries) {
    const found = there.get(path)
    there.delete(path)
    const name = Buffer.from(path, 'latin1').toString()
    if (found === undefined) report(name, 'is missing')
    else if (found !== `${mode} blob ${id.toString('hex')}`) report(name, 'differs')
  }
  for (const path of there.keys()) report(Buffer.from(path, 'latin1').toString(), 'is too much')
}
