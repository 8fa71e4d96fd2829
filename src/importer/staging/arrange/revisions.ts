import { createReadStream, existsSync } from 'node:fs'

/**
 * A revision of a source that keeps its branches and tags as folders of one tree, as a line of JSON. Its whole tree is a commit on
 * `refs/import/raw`, under the mark of its number.
 */
export interface Revision {
  /** From 1 on, ascending. */
  number: number
  /** As commits are to name whoever made it: already valid, see `validPerson`. */
  name: string
  email: string
  /** In seconds; never negative. */
  time: number
  message: string
  /** What happened to folders, and what was deleted; in the order in which it happened. */
  changes: Change[]
  /** In which folders files were added or changed, and how many. */
  files: Record<string, number>
}

/** Paths have no slash at either end; the root is the empty one. */
export interface Change {
  action: 'add' | 'change' | 'replace' | 'delete'
  path: string
  /** Of which revision of which folder it is a copy. */
  from?: { number: number; path: string }
  /** The property of this name as it is from here on. */
  mergeinfo?: string
  /** What was merged into it: all of a folder up to a revision. */
  merges?: { path: string; number: number }[]
}

export async function* readRevisions(file: string): AsyncGenerator<Revision> {
  for await (const line of readLines(file)) yield JSON.parse(line)
}

/** Lines end with a line feed and nothing else: there are other line ends in messages. A history without revisions has no file. */
export async function* readLines(file: string): AsyncGenerator<string> {
  if (!existsSync(file)) return
  const begun: Buffer[] = []
  for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      begun.push(chunk.subarray(from, end))
      yield Buffer.concat(begun.splice(0)).toString()
      from = end + 1
    }
    begun.push(chunk.subarray(from))
  }
}
