import { streamGit } from '#git/run-git.ts'

export interface Blob {
  id: string
  size: number
}

const format = '--batch-check=%(objectname) %(objectsize) %(objecttype)'

const [newline, zero, nine, letterB] = [...'\n09b'].map((sign) => sign.charCodeAt(0)) as [number, number, number, number]

/**
 * Looks at the sizes of all contents that a repository has, also of those that nothing leads to: gives how many there are, and those
 * that are looked for. Of the others nothing is made, since there may be millions.
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

/** The lines of what git prints, many at a time. They are bytes, one a character: to decode them all would take longest. */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[], void, void> {
  let rest = ''
  for await (const chunk of chunks) {
    const pieces = (rest + chunk.toString('latin1')).split('\n')
    rest = pieces.pop() ?? ''
    if (pieces.length > 0) yield pieces
  }
  if (rest) yield [rest]
}
