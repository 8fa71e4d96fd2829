import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from './git.ts'

/** The objects that a repository does not have, or has only as empty files. */
export async function findMissing(path: string, shas: Iterable<string>): Promise<Set<string>> {
  const asked = [...shas]
  if (!asked.length) return new Set()
  const output = await git(['-C', path, 'cat-file', '--batch-check=%(objecttype)'], {
    input: asked.map((sha) => `${sha}\n`).join(''),
  })
  const lines = output.split('\n')
  return new Set(asked.filter((_, index) => !/^(commit|tag|tree|blob)$/.test(lines[index] ?? '')))
}

export async function isAncestor(path: string, ancestor: string, descendant: string): Promise<boolean> {
  const found = await git(['-C', path, 'rev-list', '-n', '1', ancestor, `^${descendant}`]).catch(() => 'unknown')
  return found === ''
}

/**
 * Removes ref files without an object id, as a power loss leaves them: empty, or full of zeros. Git ignores such a file when reading, and
 * refuses to overwrite it.
 */
export async function dropBrokenRefs(path: string): Promise<void> {
  const entries = await readdir(join(path, 'refs'), { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || entry.name.endsWith('.lock')) continue
    const text = await readFile(file, 'latin1').catch(() => undefined)
    if (text !== undefined && !/^([0-9a-f]{40}|ref: .+)\n?$/.test(text)) await rm(file, { force: true })
  }
}

/** Removes empty loose objects: git counts them as present, and would not store them when they are pushed again. */
export async function dropEmptyObjects(path: string): Promise<void> {
  const objects = join(path, 'objects')
  for (const folder of (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of await readdir(join(objects, folder))) {
      const file = join(objects, folder, name)
      const found = await stat(file).catch(() => undefined)
      if (found?.isFile() && found.size === 0) await rm(file, { force: true })
    }
  }
}

/** Removes locks and unfinished objects that killed processes left, if they are older than `before`. */
export async function dropLeftovers(path: string, before: number): Promise<number> {
  const found = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
  let dropped = 0
  for (const entry of found) {
    const place = join(entry.parentPath, entry.name)
    const left = entry.isDirectory()
      ? /^(tmp_objdir-|incoming-)/.test(entry.name)
      : /^tmp_(obj|pack|idx|rev)_/.test(entry.name) ||
        (entry.name.endsWith('.lock') && !entry.parentPath.startsWith(join(path, 'objects')))
    if (!left) continue
    const { mtimeMs } = (await stat(place).catch(() => undefined)) ?? { mtimeMs: Infinity }
    if (mtimeMs >= before) continue
    await rm(place, { recursive: true, force: true })
    dropped++
  }
  return dropped
}
