import { streamGit } from '#hosting/git/bounded.ts'
import type { StoredObject } from '#hosting/lfs/store.ts'
import type { Workshop } from '../source.ts'
import { lines } from './lines.ts'

/** Pointers without extensions are of these sizes, and nobody writes others. */
const shortest = 120
const longest = 200

const format = '%(objecttype) %(objectsize) %(objectname)'

/** How many files the history has, and which contents elsewhere some of them stand for. */
export async function findPointers({ repository, signal }: Workshop): Promise<{ files: number; pointers: StoredObject[] }> {
  let files = 0
  const candidates: string[] = []
  const every = ['cat-file', '--batch-all-objects', '--unordered', '--buffer', `--batch-check=${format}`]
  for await (const few of lines(streamGit(repository, every, { signal, detached: false }))) {
    for (const line of few) {
      if (!line.startsWith('blob ')) continue
      files++
      const size = Number.parseInt(line.slice(5, 20), 10)
      if (size >= shortest && size <= longest) candidates.push(line.slice(-40))
    }
  }
  return { files, pointers: candidates.length > 0 ? await readPointers(repository, candidates, signal) : [] }
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
