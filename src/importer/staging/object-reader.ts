import { PassThrough } from 'node:stream'
import { streamGit } from '#git/run-git.ts'

export interface GitObject {
  id: string
  type: string
  data: Buffer
}

interface ObjectHead {
  id: string
  type: string
  size: number
}

/** Without these, git takes 300 MB of memory to send a file of 300 MB, because it maps whole packs. */
const settings = ['core.bigFileThreshold=16m', 'core.packedGitWindowSize=8m', 'core.packedGitLimit=64m']
const batch = [...settings.flatMap((setting) => ['-c', setting]), 'cat-file', '--batch']

/** `input` has a line for each object. With `--buffer`, git answers faster, but only after many requests. */
export function openObjectStream(
  repository: string,
  input: string | AsyncIterable<Buffer>,
  signal: AbortSignal,
  ...options: '--buffer'[]
) {
  const source = streamGit(repository, [...batch, ...options], { signal, input, detached: false })
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<Buffer> {
    const { done, value } = await source.next()
    if (done) throw new Error('git ended in the middle of an object')
    return value
  }

  async function line(): Promise<string | undefined> {
    for (;;) {
      const end = rest.indexOf(10)
      if (end >= 0) {
        const text = rest.toString('latin1', 0, end)
        rest = rest.subarray(end + 1)
        return text
      }
      const { done, value } = await source.next()
      if (done && rest.length === 0) return undefined
      if (done) throw new Error('git ended in the middle of a line')
      rest = rest.length ? Buffer.concat([rest, value]) : value
    }
  }

  return {
    /** Undefined at the end. Throws if git does not have the object. */
    async head() {
      const text = await line()
      if (text === undefined) return undefined
      const [, id = '', type = '', size = ''] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(text) ?? []
      if (!size) throw new Error(`an object cannot be read: ${text}`)
      return { id, type, size: Number(size) }
    },
    /** The whole content. */
    async content({ size }: ObjectHead) {
      // A line feed follows the content.
      const parts = [rest]
      for (let length = rest.length; length <= size; length += parts.at(-1)?.length ?? 0) parts.push(await more())
      const all = parts.length > 1 ? Buffer.concat(parts) : rest
      rest = all.subarray(size + 1)
      return all.subarray(0, size)
    },
    /** The content in the chunks in which it arrives. */
    async *chunks({ size }: ObjectHead) {
      for (let left = size; left > 0; ) {
        if (!rest.length) rest = await more()
        const piece = rest.subarray(0, left)
        rest = rest.subarray(piece.length)
        left -= piece.length
        yield piece
      }
      if (!rest.length) rest = await more()
      rest = rest.subarray(1)
    },
    async [Symbol.asyncDispose]() {
      await source.return()
    },
  }
}

/** The answers of `git cat-file --batch`, in the order of the requests. The content of an object must be read before the next head. */
export type ObjectStream = ReturnType<typeof openObjectStream>

/** Objects in the order of their names, a line each. A few are in memory at a time. */
export async function* readInOrder(
  repository: string,
  names: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<GitObject, void, void> {
  let failure: { error: unknown } | undefined
  const input = (async function* () {
    try {
      yield* names
    } catch (error) {
      failure = { error }
      throw error
    }
  })()
  await using objects = openObjectStream(repository, input, signal, '--buffer')
  for (let head = await objects.head(); head; head = await objects.head()) {
    yield { id: head.id, type: head.type, data: await objects.content(head) }
  }
  // Git cannot tell a list of names that broke off from one that ended.
  if (failure) throw failure.error
}

export function openReader(repository: string, signal: AbortSignal) {
  const names = new PassThrough()
  const objects = openObjectStream(repository, names, signal)

  async function request(id: string) {
    names.write(`${id}\n`)
    const head = await objects.head()
    if (!head) throw new Error('git cat-file ended before it answered')
    return head
  }

  return {
    async read(id: string) {
      const head = await request(id)
      return { id, type: head.type, data: await objects.content(head) }
    },
    /** The chunks must be read to the end before the next call. */
    async open(id: string) {
      const head = await request(id)
      return { size: head.size, chunks: objects.chunks(head) }
    },
    async [Symbol.asyncDispose]() {
      names.end()
      await objects[Symbol.asyncDispose]()
    },
  }
}

/** Reads objects one by one, on demand. One caller at a time. */
export type ObjectReader = ReturnType<typeof openReader>
