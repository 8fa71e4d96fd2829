import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Verification, Workspace } from '#importer/source.ts'
import { visitMarks } from '#importer/staging/arrange/marks.ts'
import { stageGit } from '#importer/staging/git.ts'
import { readInOrder } from '#importer/staging/object-reader.ts'
import { readBlobIds } from './blob-ids.ts'
import { type Changegroup, openChangegroup, readLog, readNames } from './changegroup.ts'
import { readChangelog } from './changelog.ts'
import { compareTexts } from './commit-texts.ts'
import { type Conversion, filesIn, readConversion } from './convert.ts'
import { type Expectation, type Expected, openExpectation, type Received } from './expected-trees.ts'
import { reopenBundle } from './fetch-bundle.ts'
import { type Files, openFiles } from './files.ts'
import { indexManifests } from './manifests.ts'
import { nullNode } from './node-table.ts'
import { openSpool } from './spool.ts'
import type { TreeEntry } from './trees.ts'

const maxMismatches = 100

/**
 * The manifests and the ids of file texts, each checked against its node, give the expected tree of a commit. Its id is compared with
 * git's, and so are the author, the date and the message. For the sample, these were computed during the conversion; for all revisions, and
 * to name the differences, the bundle is read again.
 */
export async function verify(workspace: Workspace, all: boolean): Promise<Verification> {
  const conversion = readConversion(workspace.folder)
  const sample = conversion.expected.map(({ number }) => number)
  if (!all) {
    const known = new Map(conversion.expected.map((one) => [one.number, one]))
    const quick = await compare(workspace, conversion, sample, (number) => known.get(number) as Expected)
    if (quick.mismatches.length === 0) return quick
  }
  using received = await readAgain(workspace)
  const { expect, entries } = openExpectation(received)
  return await compare(workspace, conversion, all ? [...received.log.p1.keys()] : sample, expect, entries)
}

/** With `entries`, names the files that differ. */
async function compare(
  { folder, repository, signal }: Workspace,
  { refs, commits_from }: Conversion,
  numbers: number[],
  expect: Expectation['expect'],
  entries?: Expectation['entries'],
): Promise<Verification> {
  const listed = stageGit(['-C', repository, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/import/orig/'])
  listed.catch(() => {})
  const commits: string[] = []
  await visitMarks(filesIn(folder).marks, (mark, id) => {
    if (mark >= commits_from) commits[mark - commits_from] = id
  })
  const branches = refs.filter(({ ref }) => ref.startsWith('refs/import/orig/heads/')).length
  const result: Verification = { branches, tags: refs.length - branches, revisions: 0, files: 0, mismatches: [] }
  const report: Report = (where, path, what) => {
    if (result.mismatches.length < maxMismatches) result.mismatches.push({ where, path, what })
  }
  const missing = numbers.filter((number) => commits[number] === undefined)
  for (const number of missing) report(`changeset ${expect(number).node.slice(0, 12)}`, '', 'has no commit')
  compareRefs(await listed, refs, commits, report)
  const found = numbers.filter((number) => commits[number] !== undefined)
  const names = Readable.from(found.map((number) => Buffer.from(`${commits[number]}\n`)))
  let place = 0
  for await (const { data } of readInOrder(repository, names, signal)) {
    // Lets an abort take effect, and lets the garbage collector free memory.
    await yieldToEventLoop()
    signal.throwIfAborted()
    const number = found[place++] as number
    const { node, tree, files, texts } = expect(number)
    result.revisions++
    result.files += files
    const where = `changeset ${node.slice(0, 12)}`
    for (const what of compareTexts(data, texts)) report(where, '', what)
    if (data.toString('latin1', 0, 45) === `tree ${tree}`) continue
    if (entries) await explain(repository, commits[number] as string, entries(number), (path, what) => report(where, path, what))
    else report(where, '', 'differs')
  }
  return result
}

/** Reads the bundle and the stored files again, and checks everything against its node. */
async function readAgain({ folder }: Workspace): Promise<Received & Disposable> {
  using opened = new DisposableStack()
  const bundle = opened.use(reopenBundle(folder))
  if (!bundle) throw new Error('there is nothing to verify: no bundle was received')
  const { wholes } = filesIn(folder)
  const changegroup = openChangegroup(bundle)
  const log = await readChangelog(changegroup, opened.use(openSpool(join(folder, 'changesets'))))
  const manifest = await indexManifests(changegroup, opened.use(openSpool(wholes, true)))
  const files = await indexFiles(changegroup)
  const contentId = readBlobIds(bundle.contents)
  const kept = opened.move()
  return {
    ...{ log, files, contentId },
    manifest(number) {
      const index = log.manifest[number] as number
      return manifest(index < 0 ? nullNode : log.manifests.id(index))
    },
    [Symbol.dispose]: () => kept.dispose(),
  }
}

/** Numbers the file revisions in the order of the bundle, which is the order of the stored ids. */
async function indexFiles(changegroup: Changegroup): Promise<Files> {
  const files = openFiles()
  for await (const name of readNames(changegroup)) {
    const path = files.path(name)
    for await (const revisions of readLog(changegroup)) for (const { node } of revisions) files.add(path, node)
  }
  return files
}

type Report = (where: string, path: string, what: string) => void

/** Whether each ref exists and points to the commit of its changeset. */
function compareRefs(listed: string, refs: Conversion['refs'], commits: string[], report: Report) {
  const there = new Map(listed.split('\n').map((line) => [line.slice(41), line.slice(0, 40)] as const))
  for (const { ref, node, number } of refs) {
    const name = ref.slice('refs/import/orig/'.length)
    if (!there.has(ref)) report(name, '', 'is missing')
    else if (there.get(ref) !== commits[number]) report(name, '', `is not at changeset ${node.slice(0, 12)}`)
  }
}

/** Reports the files that differ. */
async function explain(repository: string, commit: string, entries: TreeEntry[], report: (path: string, what: string) => void) {
  const listed = await stageGit(['-C', repository, 'ls-tree', '-r', '-z', '--full-tree', commit], { encoding: 'latin1' })
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
