import { streamGit } from '#git/run-git.ts'

export interface Blob {
  id: string
  size: number
}

const format = '--batch-check=%(objectname) %(objectsize) %(objecttype)'

const [newline, zero, nine, letterB] = [...'\n09b'].map((sign) => sign.charCodeAt(0)) as [number, number, number, number]

/**
 * Scans the sizes of all blobs, including unreachable ones. Returns the count and the blobs that match. Nothing is allocated for the
 * others, because there may be millions.
 */
export async function findBlobs(repository: string, isWanted: (size: number) => boolean, signal: AbortSignal) {
  const every = ['cat-file', '--batch-all-objects', '--unordered', '--buffer', format]
  const found: Blob[] = []
  let count = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of streamGit(repository, every, { signal, detached: false })) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const end = bytes.lastIndexOf(newline) + 1
    for (let at = 0; at < end; ) {
      const id = at
      at += 41
      let size = 0
      for (let byte = bytes[at] ?? 0; byte >= zero && byte <= nine; byte = bytes[++at] ?? 0) size = size * 10 + byte - zero
      if (bytes[at + 1] === letterB) {
        count++
        if (isWanted(size)) found.push({ id: bytes.toString('latin1', id, id + 40), size })
      }
      while (bytes[at++] !== newline);
    }
    rest = bytes.subarray(end)
  }
  return { count, found }
}

/** The lines of git's output, many at a time, in Latin-1, because decoding all of them as UTF-8 would dominate the run time. */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[], void, void> {
  let rest = ''
  for await (const chunk of chunks) {
    const pieces = (rest + chunk.toString('latin1')).split('\n')
    rest = pieces.pop() ?? ''
    if (pieces.length > 0) yield pieces
  }
  if (rest) yield [rest]
}
