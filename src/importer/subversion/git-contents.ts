import { createHash, type Hash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { type ObjectStream, openObjectStream } from '#importer/staging/object-reader.ts'

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

/** Something that git was asked for; what it answers is in order. */
interface PendingRead {
  type: 'tree' | 'blob'
  take(piece: Buffer): void
  end(): void
  fail(error: unknown): void
}

export function openContents(repository: string, signal: AbortSignal): Contents {
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
