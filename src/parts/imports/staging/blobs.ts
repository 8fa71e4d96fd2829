import { streamGit } from '#hosting/git/bounded.ts'

export interface Blob {
  id: string
  size: number
}

const format = '--batch-check=%(objecttype) %(objectname) %(objectsize)'

/** All contents that a repository has, many at a time; also those that nothing leads to. */
export async function* listBlobs(repository: string, signal: AbortSignal): AsyncGenerator<Blob[], void, void> {
  const every = ['cat-file', '--batch-all-objects', '--unordered', '--buffer', format]
  for await (const few of lines(streamGit(repository, every, { signal, detached: false })))
    yield few.filter((line) => line.startsWith('blob ')).map((line) => ({ id: line.slice(5, 45), size: Number(line.slice(46)) }))
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
