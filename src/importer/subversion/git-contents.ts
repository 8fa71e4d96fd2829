import { createHash, type Hash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { type ObjectStream, openObjectStream } from '#importer/staging/object-reader.ts'
import type { Traits } from './gitattributes.ts'
import { openLineEnds } from './line-ends.ts'

export interface Entry {
  mode: string
  id: string
}

interface Sum {
  md5: string
  /** Whether its line ends are not those of the given style. */
  other_ends: boolean
}

/** A request to git. Answers come in the order of the requests. */
interface PendingRead {
  type: 'tree' | 'blob'
  take(piece: Buffer): void
  end(): void
  fail(error: unknown): void
}

export function openContents(repository: string, signal: AbortSignal) {
  const input = new PassThrough()
  const queue: PendingRead[] = []
  let failure: unknown
  const over = readObjects(openObjectStream(repository, input, signal), queue).catch((error: unknown) => {
    failure = error
    for (const { fail } of queue.splice(0)) fail(error)
  })

  let names = ''
  function ask(name: string, asked: PendingRead) {
    if (failure) return asked.fail(failure)
    queue.push(asked)
    // Requests of the same tick are sent together.
    if (names === '')
      setImmediate(() => {
        input.write(names)
        names = ''
      })
    names += `${name}\n`
  }

  return {
    /** Accepts a tree or an expression that resolves to one. */
    entries(tree: string) {
      const { promise, resolve, reject } = Promise.withResolvers<Map<string, Entry>>()
      const pieces: Buffer[] = []
      const end = () => resolve(readEntries(Buffer.concat(pieces)))
      ask(tree, { type: 'tree', take: (piece) => pieces.push(piece), end, fail: reject })
      return promise
    },

    sums(files: (Entry & Pick<Traits, 'eol'>)[]) {
      const { promise, resolve, reject } = Promise.withResolvers<Sum[]>()
      const sums: Sum[] = []
      const last = files.length
      for (const { mode, id, eol } of files) {
        let hash: Hash | undefined
        const ends = eol && openLineEnds(eol)
        // Subversion stores a symbolic link as a file that begins with `link `.
        const begin = () => createHash('md5').update(mode === '120000' ? 'link ' : '')
        const end = () => {
          sums.push({ md5: (hash ?? begin()).digest('hex'), other_ends: ends?.differ() ?? false })
          if (sums.length === last) resolve(sums)
        }
        const take = (piece: Buffer) => {
          hash = (hash ?? begin()).update(piece)
          ends?.take(piece)
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

/** Reads trees, and checksums of files in Subversion's form. Several calls may be pending. */
export type Contents = ReturnType<typeof openContents>

async function readObjects(objects: ObjectStream, queue: PendingRead[]) {
  for (let head = await objects.head(); head; head = await objects.head()) {
    const [pending] = queue
    if (head.type !== pending?.type) throw new Error(`${head.id} is a ${head.type}, not a ${pending?.type}`)
    for await (const piece of objects.chunks(head)) pending.take(piece)
    queue.shift()
    pending.end()
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
