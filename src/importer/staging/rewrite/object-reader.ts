import { PassThrough } from 'node:stream'
import { streamGit } from '#git/run-git.ts'

export interface GitObject {
  id: string
  type: string
  data: Buffer
}

/** Large contents come in pieces, and git does not map whole packs: of a file of 300 MB it would take as much memory. */
const batch = [
  ...['core.bigFileThreshold=16m', 'core.packedGitWindowSize=8m', 'core.packedGitLimit=64m'].flatMap((setting) => [
    '-c',
    setting,
  ]),
  'cat-file',
  '--batch',
]

/** Objects in the order in which they are named, a line each; however many, a few are in memory. */
export async function* readInOrder(
  repository: string,
  names: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<GitObject, void, void> {
  const failure: unknown[] = []
  const input = noting(names, failure)
  const bytes = openBytes(streamGit(repository, [...batch, '--buffer'], { signal, input, detached: false }))
  try {
    for (let head = await readHead(bytes); head; head = await readHead(bytes)) {
      const data = await bytes.take(head.size)
      await bytes.take(1)
      yield { id: head.id, type: head.type, data }
    }
  } finally {
    await bytes.close()
  }
  // To git, names that break off look as if there were no more.
  if (failure.length) throw failure[0]
}

async function* noting(names: AsyncIterable<Buffer>, failure: unknown[]) {
  try {
    yield* names
  } catch (error) {
    failure.push(error)
    throw error
  }
}

/** Objects one by one, as they are asked for. One caller at a time. */
export interface ObjectReader extends AsyncDisposable {
  read(id: string): Promise<GitObject>
  /** The contents are to be read to their end before anything else is asked. */
  open(id: string): Promise<{ size: number; chunks: AsyncIterable<Buffer> }>
}

export function openReader(repository: string, signal: AbortSignal): ObjectReader {
  const asked = new PassThrough()
  const bytes = openBytes(streamGit(repository, batch, { signal, input: asked, detached: false }))

  async function ask(id: string) {
    asked.write(`${id}\n`)
    const head = await readHead(bytes)
    if (!head) throw new Error('git cat-file ended before it answered')
    return head
  }

  return {
    async read(id) {
      const { type, size } = await ask(id)
      const data = await bytes.take(size)
      await bytes.take(1)
      return { id, type, data }
    },
    async open(id) {
      const { size } = await ask(id)
      return { size, chunks: bytes.pass(size) }
    },
    async [Symbol.asyncDispose]() {
      asked.end()
      await bytes.close()
    },
  }
}

async function readHead(bytes: Bytes) {
  const line = await bytes.line()
  if (line === undefined) return undefined
  const [, id = '', type = '', size = ''] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? []
  if (!size) throw new Error(`an object cannot be read: ${line}`)
  return { id, type, size: Number(size) }
}

type Bytes = ReturnType<typeof openBytes>

/** Lines and bytes of a stream, as many as are asked for. */
function openBytes(source: AsyncGenerator<Buffer, void, void>) {
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<Buffer> {
    const { done, value } = await source.next()
    if (done) throw new Error('git ended in the middle of an object')
    return value
  }

  return {
    /** Undefined at the end. */
    async line(): Promise<string | undefined> {
      for (;;) {
        const end = rest.indexOf(10)
        if (end >= 0) {
          const line = rest.toString('latin1', 0, end)
          rest = rest.subarray(end + 1)
          return line
        }
        const { done, value } = await source.next()
        if (done && rest.length === 0) return undefined
        if (done) throw new Error('git ended in the middle of a line')
        rest = rest.length ? Buffer.concat([rest, value]) : value
      }
    },
    async take(size: number): Promise<Buffer> {
      const parts = [rest]
      for (let length = rest.length; length < size; length += parts.at(-1)?.length ?? 0) parts.push(await more())
      const all = parts.length > 1 ? Buffer.concat(parts) : rest
      rest = all.subarray(size)
      return all.subarray(0, size)
    },
    /** So many bytes as they come, and the end of the line after them. */
    async *pass(size: number): AsyncGenerator<Buffer, void, void> {
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
    async close() {
      await source.return()
    },
  }
}
