import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Notes } from '#importer/notes.ts'
import { type Author, type Converted, ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { visitMarks } from '#importer/staging/arrange/marks.ts'
import type { Blob } from '#importer/staging/blobs.ts'
import { type FastImport, openFastImport } from '#importer/staging/fast-import.ts'
import { largeFile } from '#importer/staging/large-files.ts'
import { openPackWriter } from '#importer/staging/rewrite/pack-writer.ts'
import { setRefs } from '#importer/staging/set-refs.ts'
import { openBlobIds, readBlobIds } from './blob-ids.ts'
import { removeOtherBundles } from './bundle-info.ts'
import { openChangegroup } from './changegroup.ts'
import { type Changelog, readChangelog } from './changelog.ts'
import { readAuthor } from './commit-texts.ts'
import { type History, type Irregularities, manifestOf, openCommitIds, writeCommits } from './commits.ts'
import { type Expected, expectSample } from './expected-trees.ts'
import { extendBundle } from './extend-bundle.ts'
import { type Bundle, fetchBundle, interrupted, reopenBundle } from './fetch-bundle.ts'
import { writeFiles } from './filelogs.ts'
import { type Files, openFiles } from './files.ts'
import { findLine, readLine } from './manifest-lines.ts'
import { readManifests, readNode } from './manifests.ts'
import { findHeads, planRefs, type Refs } from './refs.ts'
import { openSpool, Truncated } from './spool.ts'
import { mergeTags } from './tags.ts'

/** The result that later steps need. */
export interface Conversion {
  /** The mark of the first changeset's commit. */
  commits_from: number
  refs: { ref: string; node: string; number: number }[]
  /** The expected trees of a sample of commits. */
  expected: Expected[]
  /** Undefined after a resumed run, which does not see all blobs. */
  large_blobs?: Blob[]
}

/** The files of a conversion, kept until the import ends. */
export const filesIn = (folder: string) => ({
  marks: join(folder, 'revisions.marks'),
  wholes: join(folder, 'manifests'),
  record: join(folder, 'converted.json'),
})

/** The mark of the first commit. Those of file texts are below, also when changesets are added to the bundle. */
const commits_from = 2 ** 32

export function readConversion(folder: string): Conversion {
  return JSON.parse(readFileSync(filesIn(folder).record, 'utf8'))
}

export async function convert(origin: Origin, workspace: Workspace): Promise<Converted> {
  const { folder } = workspace
  const earlier = workspace.extend ? await extendBundle(origin, workspace) : reopenBundle(folder)
  // Marks are valid only for the same bundle, and for one to which changesets were added.
  if (!earlier) {
    removeOtherBundles(folder)
    for (const path of Object.values(filesIn(folder))) rmSync(path, { force: true })
  }
  using bundle = earlier ?? (await fetchBundle(origin, workspace))
  // Ends the child processes when this function ends.
  const leaving = new AbortController()
  const signal = AbortSignal.any([workspace.signal, leaving.signal])
  try {
    return await convertBundle(bundle, { ...workspace, signal }, origin.keep_deleted ?? false)
  } catch (error) {
    workspace.signal.throwIfAborted()
    const reason = error instanceof Truncated ? interrupted(error) : error
    if (reason instanceof ImportFailure) bundle.discard()
    throw reason
  } finally {
    leaving.abort()
  }
}

/** The changesets come first in a bundle, so the rest need not be fetched. */
export async function listAuthors(origin: Origin, workspace: Workspace): Promise<Author[]> {
  const found: Author[] = []
  const authors = collectAuthors({ ...workspace, onProgress: (progress) => found.push(...(progress.authors ?? [])) })
  using bundle = reopenBundle(workspace.folder) ?? (await fetchBundle(origin, workspace))
  await readChangelog(openChangegroup(bundle), undefined, ({ user }) => authors.add(user))
  authors.flush()
  return found
}

async function convertBundle(bundle: Bundle, workspace: Workspace, keep_closed: boolean): Promise<Converted> {
  const { folder, repository, signal } = workspace
  const { marks, wholes, record } = filesIn(folder)
  const progress = openProgress(workspace)
  const changegroup = openChangegroup(bundle)
  // Started now, so that git is ready when the first data arrives.
  const fastImport = openFastImport(repository, { signal, marks, dense: true })

  using texts = openSpool(join(folder, 'changesets'))
  const authors = collectAuthors(workspace)
  const log = await readChangelog(changegroup, texts, ({ user }, number) => {
    authors.add(user)
    progress(0, 5, number, bundle.announced)
    if (number % 1000 === 999) workspace.onProgress({ commit_count: number + 1 })
  })
  const commit_count = log.nodes.size
  authors.flush()
  workspace.onProgress({ commit_count })

  using whole = openSpool(wholes)
  using changes = openSpool(join(folder, 'changes'))
  const files = openFiles()
  let seen = 0
  const countManifest = () => progress(5, 25, ++seen, log.manifests.size)
  const manifests = await readManifests({ changegroup, files, count: countManifest }, whole, changes)

  const given = new Uint8Array(files.revisions)
  const commits = openCommitIds(commit_count)
  let done = 0
  await visitMarks(marks, (mark, id) => {
    if (mark < commits_from) given[mark - 1] = 1
    else commits.set(mark - commits_from, id)
    if (mark >= commits_from) done++
  })
  using contents = openBlobIds(bundle.contents)
  let met = 0
  const countFile = () => progress(25, 75, ++met, files.paths.length)
  const whole_run = !given.includes(1)
  const large_blobs: Blob[] = []
  const order = await writeFiles({ changegroup, files, count: countFile }, given, fastImport, contents, (id, size) => {
    if (size > largeFile) large_blobs.push({ id: id.toString('hex'), size })
  })
  await bundle.complete
  contents.flush()

  const tags = mergeTags(await readTagFiles({ log, manifests, files }, fastImport))
  // Git completes the pack of files while the trees are made.
  const filesWritten = fastImport.end()
  filesWritten.catch(() => {})
  const plan = planRefs(log, bundle.bookmarks, tags, { default_branch: workspace.default_branch, keep_closed })
  const idAt = readBlobIds(bundle.contents)
  const contentId = (revision: number) => idAt(order[revision] as number)
  const history: History = { log, manifests, files, describe: authors.describe, contentId }
  const packs = openPackWriter(repository, signal, { dense: true })
  let written = 0
  const countCommit = () => progress(75, 100, ++written, commit_count)
  let saved = done
  const save = async (count: number) => {
    await Promise.all([packs.end(), filesWritten])
    const lines: string[] = []
    for (; saved < count; saved++) lines.push(`:${commits_from + saved} ${commits.get(saved)}\n`)
    appendFileSync(marks, lines.join(''))
  }
  const irregular = await writeCommits(history, packs, commits, done, countCommit, save)
  const manifest = (number: number) => manifests.text(manifestOf(log, manifests, number))
  const heads = plan.refs.map(([, number]) => number)
  // Computed while git indexes the commits.
  const [expected] = await Promise.all([expectSample({ log, files, manifest, contentId }, heads, signal), save(commit_count)])
  await setRefs(repository, ['refs/import/'], new Map(plan.refs.map(([ref, number]) => [ref, commits.get(number)])), signal)
  const kept: Conversion = { commits_from, refs: nameNodes(plan, log), expected, ...(whole_run && { large_blobs }) }
  writeFileSync(record, JSON.stringify(kept), { mode: 0o600 })
  return {
    commit_count,
    ...(plan.default_branch !== undefined && { default_branch: plan.default_branch }),
    notes: describeIrregularities(irregular, plan.further),
    left_out: plan.left_out,
  }
}

/** Reports whole numbers that only grow. */
function openProgress({ onProgress }: Workspace) {
  let last = -1
  return (from: number, to: number, done: number, all: number) => {
    const percent = Math.floor(from + ((to - from) * Math.min(done, all)) / Math.max(all, 1))
    if (percent <= last) return
    last = percent
    onProgress({ percent })
  }
}

function collectAuthors({ onProgress }: Workspace) {
  const described = new Map<string, string>()
  let fresh: Author[] = []
  const flush = () => {
    if (fresh.length > 0) onProgress({ authors: fresh })
    fresh = []
  }
  return {
    add(user: string) {
      if (described.has(user)) return
      const { described: text, ...author } = readAuthor(user)
      described.set(user, text)
      fresh.push(author)
      if (fresh.length >= 100) flush()
    },
    flush,
    describe: (user: string) => described.get(user) ?? readAuthor(user).described,
  }
}

/** The distinct `.hgtags` files of the heads, from the oldest head to the newest. */
async function readTagFiles(
  { log, manifests, files }: Pick<History, 'log' | 'manifests' | 'files'>,
  fastImport: FastImport,
): Promise<Buffer[]> {
  const { hasChild } = findHeads(log)
  const revisions = new Set<number>()
  for (const [number, child] of hasChild.entries()) {
    const manifest = child ? -1 : manifestOf(log, manifests, number)
    const revision = manifest < 0 ? -1 : findTagFile(manifests.text(manifest), files)
    if (revision >= 0) revisions.add(revision)
  }
  const texts: Buffer[] = []
  for (const revision of revisions) {
    const chunks: Buffer[] = []
    for await (const chunk of fastImport.catBlob(`:${revision + 1}`)) chunks.push(chunk)
    texts.push(Buffer.concat(chunks))
  }
  return texts
}

function findTagFile(manifest: Buffer, files: Files): number {
  const at = findLine(manifest, '.hgtags\0')
  return at < 0 ? -1 : files.find('.hgtags', readNode(readLine(manifest, at).rest))
}

const nameNodes = ({ refs }: Refs, { nodes }: Changelog) =>
  refs.map(([ref, number]) => ({ ref, node: nodes.id(number).toString('hex'), number }))

function describeIrregularities({ early, latin, forbidden, clashing }: Irregularities, further: number): Notes {
  const notes = {
    'further heads of branches': further,
    'changesets before 1970': early,
    'messages not in UTF-8': latin,
    'paths that git refuses': forbidden.size,
    'files that are folders too': clashing.size,
  } satisfies Notes
  return Object.fromEntries(Object.entries(notes).filter(([, count]) => count > 0))
}
