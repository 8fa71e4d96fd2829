import { createHash, type Hash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { streamGit } from '#git/run-git.ts'

/** What git has: trees, and checksums of files as Subversion would give them. Many may be asked for at once. */
export interface Contents extends AsyncDisposable {
  /** Of a tree, or of what leads to one. */
  entries(tree: string): Promise<Map<string, Entry>>
  /** The MD5 of each file. */
  sums(files: Entry[]): Promise<string[]>
}

export interface Entry {
  mode: string
  id: string
}

/** Large files come in pieces, and little of the pack is mapped at a time. */
const limits = ['core.bigFileThreshold=16m', 'core.packedGitWindowSize=16m', 'core.packedGitLimit=64m'].flatMap((limit) => [
  '-c',
  limit,
])

/** Something that git was asked for; what it answers is in order. */
interface PendingRead {
  type: 'tree' | 'blob'
  take(piece: Buffer): void
  end(): void
  fail(error: unknown): void
}

export function openContents(repository: string, signal: AbortSignal): Contents {
  const input = new PassThrough()
  const output = streamGit(repository, [...limits, 'cat-file', '--batch'], { signal, input, detached: false })
  const queue: PendingRead[] = []
  let failure: unknown
  const over = readObjects(output, queue).catch((error: unknown) => {
    failure = error
    for (const { fail } of queue.splice(0)) fail(error)
  })

  let names = ''
  function ask(name: string, asked: PendingRead) {
    if (failure) return asked.fail(failure)
    queue.push(asked)
    // What is asked in one go is sent in one piece.
    if (names === '')
      setImmediate(() => {
        input.write(names)
        names = ''
      })
    names += `${name}\n`
  }

  return {
    entries(tree) {
      const { promise, resolve, reject } = Promise.withResolvers<Map<string, Entry>>()
      const pieces: Buffer[] = []
      const end = () => resolve(readEntries(Buffer.concat(pieces)))
      ask(tree, { type: 'tree', take: (piece) => pieces.push(piece), end, fail: reject })
      return promise
    },

    sums(files) {
      const { promise, resolve, reject } = Promise.withResolvers<string[]>()
      const sums: string[] = []
      const last = files.length
      for (const { mode, id } of files) {
        let hash: Hash | undefined
        // A symbolic link is a file with a word before its target.
        const begin = () => createHash('md5').update(mode === '120000' ? 'link ' : '')
        const end = () => {
          sums.push((hash ?? begin()).digest('hex'))
          if (sums.length === last) resolve(sums)
        }
        const take = (piece: Buffer) => {
          hash = (hash ?? begin()).update(piece)
        }
        ask(id, { type: 'blob', take, end, fail: reject })
      }
      if (last === 0) resolve(sums)
      return promise
    },

    async [Symbol.asyncDispose]() {
      input.end()
      await over
    },
  }
}

/** Answers come one after the other, each after a line with its size, and none is in memory as a whole unless it is taken so. */
async function readObjects(output: AsyncIterable<Buffer>, queue: PendingRead[]) {
  let line: Buffer = Buffer.alloc(0)
  let asked: PendingRead | undefined
  let left = 0
  for await (const chunk of output) {
    for (let at = 0; at < chunk.length; ) {
      if (asked && left > 0) {
        const piece = chunk.subarray(at, at + left)
        asked.take(piece)
        left -= piece.length
        at += piece.length
      } else if (asked) {
        // The line end after it.
        at++
        queue.shift()
        asked.end()
        asked = undefined
      } else {
        const end = chunk.indexOf(10, at)
        line = Buffer.concat([line, chunk.subarray(at, end < 0 ? chunk.length : end)])
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const [, type, size] = /^[0-9a-f]{40} (\w+) (\d+)$/.exec(line.toString('latin1')) ?? []
        if (type !== queue[0]?.type) throw new Error(`git has something else there: ${line.toString('latin1')}`)
        asked = queue[0]
        left = Number(size)
        line = Buffer.alloc(0)
      }
    }
  }
  throw new Error('git cat-file ended before it answered')
}

function readEntries(data: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at)
    const zero = data.indexOf(0, space)
    const id = data.toString('hex', zero + 1, zero + 21)
    entries.set(data.toString('utf8', space + 1, zero), { mode: data.toString('latin1', at, space), id })
    at = zero + 21
  }
  return entries
}
