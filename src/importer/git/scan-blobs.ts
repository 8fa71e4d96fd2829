import type { StoredObject } from '#git/lfs-store.ts'
import { streamGit } from '#git/run-git.ts'
import type { Workspace } from '#importer/source.ts'
import { type Blob, findBlobs, lines } from '#importer/staging/blobs.ts'
import { largeFile } from '#importer/staging/large-files.ts'

/** The sizes of LFS pointers without extensions, in bytes. */
const mayPoint = (size: number) => size >= 120 && size <= 150

export interface BlobScan {
  /** The number of distinct contents. */
  files: number
  large: Blob[]
  /** The LFS objects that pointers refer to. */
  pointers: StoredObject[]
}

/** One pass for both, because reading the sizes of all blobs takes long. */
export async function scanBlobs({ repository, signal }: Workspace): Promise<BlobScan> {
  const { count, found } = await findBlobs(repository, (size) => size > largeFile || mayPoint(size), signal)
  const candidates = found.filter(({ size }) => mayPoint(size)).map(({ id }) => id)
  return {
    files: count,
    large: found.filter(({ size }) => size > largeFile),
    pointers: candidates.length > 0 ? await readPointers(repository, candidates, signal) : [],
  }
}

async function readPointers(repository: string, candidates: string[], signal: AbortSignal): Promise<StoredObject[]> {
  const found = new Map<string, number>()
  const input = `${candidates.join('\n')}\n`
  const contents = streamGit(repository, ['cat-file', '--batch=', '--buffer'], { signal, input, detached: false })
  // The three lines of a pointer are consecutive and occur nowhere else.
  let recent = ['', '']
  for await (const group of lines(contents)) {
    for (const line of group) {
      const [, oid, size] = line.startsWith('size ') ? (pointer.exec(`${recent.join('\n')}\n${line}`) ?? []) : []
      if (oid && size) found.set(oid, Number(size))
      recent = [recent[1] ?? '', line]
    }
  }
  return [...found].map(([oid, size]) => ({ oid, size }))
}

const pointer = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,15})$/
