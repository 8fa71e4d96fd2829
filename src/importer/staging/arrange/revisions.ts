import { createReadStream, existsSync } from 'node:fs'

/**
 * A revision of a source whose branches and tags are folders of one tree. It is stored as a line of JSON; its whole tree is a commit on
 * `refs/import/raw`, with the revision number as mark.
 */
export interface Revision {
  /** From 1, ascending. */
  number: number
  /** The author, already valid for git; see `validPerson`. */
  name: string
  email: string
  /** In seconds since 1970, never negative. */
  time: number
  message: string
  /** Changes of folders and all deletions, in order. */
  changes: Change[]
  /** The number of added or changed files by folder. */
  files: Record<string, number>
}

/** Paths have no slash at either end; the root is the empty path. */
export interface Change {
  action: 'add' | 'change' | 'replace' | 'delete'
  path: string
  /** Set if the folder is a copy. */
  from?: { number: number; path: string }
  /** The new value of the property. */
  mergeinfo?: string
  /** Merges of all changes of a folder up to a revision. */
  merges?: { path: string; number: number }[]
}

export async function* readRevisions(file: string): AsyncGenerator<Revision> {
  for await (const line of readLines(file)) yield JSON.parse(line)
}

/** Splits at line feeds only, because messages contain other line ends. A history without revisions has no file. */
export async function* readLines(file: string): AsyncGenerator<string> {
  if (existsSync(file)) yield* splitAt(createReadStream(file, { highWaterMark: 256 * 1024 }), 10)
}

/** The texts before each separator, which is a byte. */
export async function* splitAt(chunks: AsyncIterable<Buffer>, separator: number): AsyncGenerator<string> {
  const partial: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(separator); end >= 0; end = chunk.indexOf(separator, from)) {
      partial.push(chunk.subarray(from, end))
      yield Buffer.concat(partial.splice(0)).toString()
      from = end + 1
    }
    partial.push(chunk.subarray(from))
  }
}
