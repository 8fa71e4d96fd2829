import { streamGit } from '#hosting/git/bounded.ts'
import type { StoredObject } from '#hosting/lfs/store.ts'
import { type Blob, lines, listBlobs } from '../../staging/blobs.ts'
import { largeFile } from '../../staging/large-files.ts'
import type { Workshop } from '../source.ts'

/** Pointers without extensions are of these sizes, and nobody writes others. */
const shortest = 120
const longest = 200

export interface Survey {
  /** How many different contents there are. */
  files: number
  large: Blob[]
  /** Contents elsewhere that some of them stand for. */
  pointers: StoredObject[]
}

/** What has to be known of the contents: found in one go, since to look at all of them takes long. */
export async function survey({ repository, signal }: Workshop): Promise<Survey> {
  let files = 0
  const large: Blob[] = []
  const candidates: string[] = []
  for await (const blobs of listBlobs(repository, signal)) {
    files += blobs.length
    for (const blob of blobs) {
      if (blob.size > largeFile) large.push(blob)
      else if (blob.size >= shortest && blob.size <= longest) candidates.push(blob.id)
    }
  }
  return { files, large, pointers: candidates.length > 0 ? await readPointers(repository, candidates, signal) : [] }
}

async function readPointers(repository: string, candidates: string[], signal: AbortSignal): Promise<StoredObject[]> {
  const found = new Map<string, number>()
  const input = `${candidates.join('\n')}\n`
  const contents = streamGit(repository, ['cat-file', '--batch=', '--buffer'], { signal, input, detached: false })
  // The three lines of a pointer follow each other; nothing else has them.
  let recent = ['', '']
  for await (const few of lines(contents)) {
    for (const line of few) {
      const [, oid, size] = line.startsWith('size ') ? (pointer.exec(`${recent.join('\n')}\n${line}`) ?? []) : []
      if (oid && size) found.set(oid, Number(size))
      recent = [recent[1] ?? '', line]
    }
  }
  return [...found].map(([oid, size]) => ({ oid, size }))
}

const pointer = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,15})$/
