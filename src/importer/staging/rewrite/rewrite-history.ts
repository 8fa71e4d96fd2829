import { runGit, streamGit } from '#git/run-git.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { findLargeBlobs, findLargePaths } from '#importer/staging/large-files.ts'
import { type ObjectReader, openReader, readInOrder } from '#importer/staging/object-reader.ts'
import type { Correction } from '#importer/steps.ts'
import type { StoredObject } from '#platform/file-store/file-store.ts'
import { storeContents } from '#platform/file-store/folder.ts'
import { type CorrectLine, openAuthorCorrections } from './author-lines.ts'
import { openPackWriter, type PackWriter } from './pack-writer.ts'
import { type BlobTreatment, openTreeWalk } from './tree-walk.ts'

export interface RewriteOptions {
  /** The prefix of the branches and tags to start from, such as `refs/import/orig`. */
  from: string
  signal: AbortSignal
  authors?: Correction[]
  large_files?: LargeFileHandling
}

/** Large files are stored with LFS, together with all other versions of the same path, or removed from history. */
export interface LargeFileHandling {
  use_lfs: 'opt_in' | 'opt_out'
  store: string
  /** In bytes; a larger file is large. */
  over?: number
}

export interface Rewritten {
  /** Branches and tags by name, such as `refs/heads/main`. */
  refs: Record<string, string>
  /** The objects that were stored. */
  objects: StoredObject[]
}

/**
 * Rewrites a history with other authors or without large files, and moves no refs. Unchanged commits keep their ids; the same input gives
 * the same ids.
 */
export async function rewriteHistory(
  repository: string,
  { from, signal, authors = [], large_files }: RewriteOptions,
): Promise<Rewritten> {
  const refs = await readRefs(repository, from, signal)
  const search = { from, signal, ...(large_files?.over !== undefined && { over: large_files.over }) }
  const large = large_files ? await findLargeBlobs(repository, search) : new Map<string, number>()
  const correct = openAuthorCorrections(authors)
  if (!correct && !large.size) return { refs: Object.fromEntries(refs.map(({ ref, id }) => [ref, id])), objects: [] }
  const paths = await findLargePaths(repository, large, search)
  const packs = openPackWriter(repository, signal)
  await using reader = openReader(repository, signal)
  const kept = large_files?.use_lfs === 'opt_in' ? storeInLfs(large_files.store, reader, packs) : undefined
  const treatment = kept ?? removeLarge(large)
  // LFS does not store its own configuration.
  if (kept) for (const path of paths) if (/(^|\/)\.gitattributes$/.test(path)) paths.delete(path)
  const walk = paths.size ? openTreeWalk(paths, treatment, reader, packs) : undefined
  const replaced = new Map<string, string>()
  const changes: Changes = { correct, replace: (id) => replaced.get(id) }
  await rewriteCommits(repository, from, signal, changes, walk, replaced, packs)
  const rewritten: Record<string, string> = {}
  for (const { ref, id, type } of refs) {
    const replacement = await replacementOf(id, type)
    if (replacement !== null) rewritten[ref] = replacement
  }
  await packs.end()
  return { refs: rewritten, objects: kept?.objects() ?? [] }

  /** The new target of a ref or tag; null if the target was a large file that is removed. */
  async function replacementOf(id: string, type: string): Promise<string | null> {
    const known = replaced.get(id)
    if (known) return known
    if (type === 'tree') return walk ? walk(id) : id
    if (type === 'blob') return large.has(id) ? treatment.replace(id) : id
    if (type !== 'tag') return id
    const { data } = await reader.read(id)
    const [, object = '', kind = ''] = /^object (\w+)\ntype (\w+)\n/.exec(data.toString('latin1', 0, 200)) ?? []
    const replacement = await replacementOf(object, kind)
    if (replacement === null) return null
    const tag = rewriteTag(data, { ...changes, replace: () => (replacement === object ? undefined : replacement) })
    return tag ? packs.add('tag', tag) : id
  }
}

async function readRefs(repository: string, from: string, signal: AbortSignal) {
  const args = ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)', `${from}/heads/`, `${from}/tags/`]
  const { output } = await runGit(repository, args, { signal, detached: false, limit: stageLimit, whole: true })
  const lines = output.toString().matchAll(/^(\w+) (\w+) (.+)$/gm)
  return [...lines].map(([, id = '', type = '', name = '']) => ({ id, type, ref: name.replace(from, 'refs') }))
}

/** Parents first, so that their new ids are known. */
async function rewriteCommits(
  repository: string,
  from: string,
  signal: AbortSignal,
  changes: Changes,
  walk: ((tree: string) => Promise<string>) | undefined,
  replaced: Map<string, string>,
  packs: PackWriter,
) {
  const order = ['rev-list', '--topo-order', '--reverse', `--glob=${from}`]
  const names = streamGit(repository, order, { signal, detached: false })
  for await (const { id, data } of readInOrder(repository, names, signal)) {
    const tree = data.toString('latin1', 'tree '.length, data.indexOf(10))
    const walked = walk && (await walk(tree))
    const replace = (each: string) => (each === tree && walked !== tree ? walked : changes.replace(each))
    const commit = rewriteCommit(data, { ...changes, replace })
    if (!commit) continue
    replaced.set(id, packs.add('commit', commit))
    await packs.room()
  }
}

const longestPointer = 1024

/** Stores contents and replaces them by pointers. As in LFS, pointers and empty files stay. */
function storeInLfs(root: string, reader: ObjectReader, packs: PackWriter): BlobTreatment & { objects(): StoredObject[] } {
  const pointers = new Map<string, string>()
  const stored = new Map<string, StoredObject>()

  async function convert(id: string): Promise<string> {
    const { size, chunks } = await reader.open(id)
    const read: Buffer[] = []
    if (size < longestPointer) for await (const chunk of chunks) read.push(chunk)
    if (size === 0 || pointer.test(Buffer.concat(read).toString('latin1'))) return id
    const object = await storeContents(root, size < longestPointer ? each(read) : chunks)
    stored.set(object.oid, object)
    return packs.add('blob', Buffer.from(describe(object)))
  }

  return {
    attributes: true,
    async replace(id) {
      const pointer = pointers.get(id) ?? (await convert(id))
      pointers.set(id, pointer)
      return pointer
    },
    objects: () => [...stored.values()],
  }
}

/** Leaves out large files. Smaller versions of the same file stay. */
const removeLarge = (large: ReadonlyMap<string, number>): BlobTreatment => ({
  attributes: false,
  replace: async (id) => (large.has(id) ? null : id),
})

const pointer = /^version https:\/\/(git-lfs|hawser)\.github\.com\/spec\/v1\n/

const describe = ({ oid, size }: StoredObject) => `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

async function* each(chunks: Buffer[]) {
  yield* chunks
}

interface Changes {
  /** The new id of an object; undefined if it does not change. */
  replace(id: string): string | undefined
  correct: CorrectLine | undefined
}

/** The rewritten commit; undefined if nothing changes, so that it keeps its id. */
function rewriteCommit(data: Buffer, changes: Changes): Buffer | undefined {
  return rewrite(data, changes, (message) => message)
}

/** The signature of a tag is at the end of its message. */
export function rewriteTag(data: Buffer, changes: Changes): Buffer | undefined {
  return rewrite(data, changes, withoutSignature)
}

function rewrite(data: Buffer, { replace, correct }: Changes, clean: (message: Buffer) => Buffer): Buffer | undefined {
  const end = endOfHeader(data)
  const lines = data.toString('latin1', 0, end).split('\n')
  const changed = new Map<number, string>()
  let corrected = false
  for (const [index, line] of lines.entries()) {
    const field = line.slice(0, line.indexOf(' '))
    if (field === 'tree' || field === 'parent' || field === 'object') {
      const id = replace(line.slice(field.length + 1))
      if (id) changed.set(index, `${field} ${id}`)
    } else if (field === 'author' || field === 'committer' || field === 'tagger') {
      const other = correct?.(line)
      if (!other) continue
      changed.set(index, other)
      corrected = true
    }
  }
  if (!changed.size) return undefined
  const recode = corrected ? recoding(lines) : undefined
  const written: string[] = []
  let dropped = false
  for (const [index, line] of lines.entries()) {
    // A line that begins with a space continues the one before.
    if (!line.startsWith(' ')) dropped = signed.test(line) || (recode !== undefined && line.startsWith('encoding '))
    if (!dropped) written.push(changed.get(index) ?? (recode ? recode(Buffer.from(line, 'latin1')).toString('latin1') : line))
  }
  const message = clean(data.subarray(end))
  return Buffer.concat([Buffer.from(written.join('\n'), 'latin1'), recode ? recode(message) : message])
}

function endOfHeader(data: Buffer) {
  const end = data.indexOf('\n\n')
  return end < 0 ? data.length : end
}

/** Signatures do not match a rewritten commit. */
export const signed = /^(gpgsig|gpgsig-sha256|mergetag) /

/** Corrected names are in UTF-8, so a commit in another encoding is re-encoded. */
function recoding(lines: string[]): ((bytes: Buffer) => Buffer) | undefined {
  const label = lines.find((line) => line.startsWith('encoding '))?.slice('encoding '.length)
  if (label === undefined) return undefined
  try {
    const decoder = new TextDecoder(label, { ignoreBOM: true })
    return (bytes) => Buffer.from(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

const beginnings = ['PGP SIGNATURE', 'PGP MESSAGE', 'SSH SIGNATURE', 'SIGNED MESSAGE'].map(
  (name) => `\n-----BEGIN ${name}-----\n`,
)

function withoutSignature(message: Buffer) {
  const start = Math.max(...beginnings.map((beginning) => message.lastIndexOf(beginning)))
  return start < 0 ? message : message.subarray(0, start + 1)
}
