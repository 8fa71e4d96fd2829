import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '#platform/unavailable.ts'
import { git } from './git.ts'

export interface RepositoryFile {
  /** Relative to the repository's folder. */
  path: string
  size: number
  mode: number
  content: AsyncIterable<Buffer>
}

/**
 * The files of a repository that others may write to meanwhile: its settings and hooks, all objects, and refs that the database does not have. An
 * object's file never changes. Packing removes files after it has written others with the same objects, so we list again until
 * nothing that was listed is gone.
 */
export async function* listRepositoryFiles(folder: string): AsyncGenerator<RepositoryFile, void, void> {
  for (const path of ['HEAD', 'config', 'description', ...(await namesIn(folder, 'hooks'))]) {
    const file = await openFile(folder, path)
    if (file) yield file
  }
  const refs = Buffer.from(await readOtherRefs(folder))
  yield { path: otherRefs, size: refs.length, mode: 0o644, content: oneChunk(refs) }
  const done = new Set<string>()
  for (let vanished = true; vanished; ) {
    vanished = false
    for (const path of await listObjects(folder)) {
      if (done.has(path)) continue
      const file = await openFile(folder, path)
      if (file) {
        done.add(path)
        yield file
      } else {
        vanished = true
      }
    }
  }
}

/** The name under which refs that the database does not have are stored in a backup. */
export const otherRefs = 'other-refs'

/** Refs of pull requests and imports. Drafts belong to requests that run. */
async function readOtherRefs(folder: string) {
  const kept = ['refs/pull/', 'refs/import/']
  return git(['-C', folder, 'for-each-ref', '--format=%(objectname) %(refname)', ...kept], { limit: 1 << 28 }).catch(() => '')
}

/** Loose objects, and packs that are complete: git writes the index of a pack last. */
async function listObjects(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const name of await readdir(join(folder, 'objects')).catch(() => [])) {
    if (/^[0-9a-f]{2}$/.test(name)) {
      for (const path of await namesIn(folder, join('objects', name))) if (/\/[0-9a-f]{38,62}$/.test(path)) found.push(path)
    }
  }
  const packs = await namesIn(folder, join('objects', 'pack'))
  const complete = new Set(packs.filter((path) => path.endsWith('.idx')).map((path) => path.slice(0, -4)))
  // The index last, so that a pack is never without its objects.
  for (const ending of ['.pack', '.rev', '.keep', '.idx'])
    for (const path of packs) if (path.endsWith(ending) && complete.has(path.slice(0, -ending.length))) found.push(path)
  return found
}

async function namesIn(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => join(below, name))
}

/** The size is that of the opened file, so that a removal meanwhile does no harm. */
export async function openFile(folder: string, path: string): Promise<RepositoryFile | undefined> {
  let handle: FileHandle
  try {
    handle = await open(join(folder, path))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  const { size, mode } = await handle.stat()
  if (size === 0) {
    await handle.close()
    return { path, size, mode: mode & 0o777, content: oneChunk(Buffer.alloc(0)) }
  }
  const content = createReadStream('', { fd: handle, end: size - 1, highWaterMark: 1 << 18 })
  return { path, size, mode: mode & 0o777, content }
}

async function* oneChunk(chunk: Buffer) {
  yield chunk
}
