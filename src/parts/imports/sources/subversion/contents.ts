import { createHash, type Hash } from 'node:crypto'
import { streamGit } from '#hosting/git/bounded.ts'
import { openReader } from '../../staging/rewriting/reading.ts'

/** What git has: trees, and checksums of files as Subversion would give them. */
export interface Contents extends AsyncDisposable {
  treeOf(commit: string): Promise<string>
  entries(tree: string): Promise<Map<string, Entry>>
  /** The MD5 of each file, by `keyOf`. */
  sums(files: Entry[]): Promise<Map<string, string>>
}

export interface Entry {
  mode: string
  id: string
}

/** A symbolic link is a file with a word before its target. */
export const keyOf = ({ mode, id }: Entry) => (mode === '120000' ? `link ${id}` : id)

export function openContents(repository: string, signal: AbortSignal): Contents {
  const reader = openReader(repository, signal)
  let turn: Promise<unknown> = Promise.resolve()
  /** It answers one at a time. */
  function read(id: string) {
    const mine = turn.then(() => reader.read(id))
    turn = mine.catch(() => {})
    return mine
  }

  return {
    treeOf: async (commit) => (await read(commit)).data.toString('latin1', 5, 45),

    async entries(tree) {
      const { data } = await read(tree)
      const entries = new Map<string, Entry>()
      for (let at = 0; at < data.length; ) {
        const space = data.indexOf(32, at)
        const zero = data.indexOf(0, space)
        const id = data.toString('hex', zero + 1, zero + 21)
        entries.set(data.toString('utf8', space + 1, zero), { mode: data.toString('latin1', at, space), id })
        at = zero + 21
      }
      return entries
    },

    async sums(files) {
      const wanted = new Map(files.map((file) => [keyOf(file), file]))
      const sums = new Map<string, string>()
      const keys = wanted.keys()
      const input = [...wanted.values()].map(({ id }) => `${id}\n`).join('')
      // Large files come in pieces, and little of the pack is mapped at a time.
      const limits = { 'core.bigFileThreshold': '16m', 'core.packedGitWindowSize': '16m', 'core.packedGitLimit': '64m' }
      const settings = Object.entries(limits).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const output = streamGit(repository, [...settings, 'cat-file', '--batch', '--buffer'], { signal, input, detached: false })
      for await (const finish of hashEach(output, () => keys.next().value ?? '')) sums.set(finish.key, finish.md5)
      return sums
    },

    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  }
}

/** Contents come one after the other, each after a line with its size, and are never in memory as a whole. */
async function* hashEach(output: AsyncIterable<Buffer>, nextKey: () => string): AsyncGenerator<{ key: string; md5: string }> {
  let line: Buffer = Buffer.alloc(0)
  let hash: Hash | undefined
  let key = ''
  let left = 0
  for await (const chunk of output) {
    for (let at = 0; at < chunk.length; ) {
      if (hash && left > 0) {
        const piece = chunk.subarray(at, at + left)
        hash.update(piece)
        left -= piece.length
        at += piece.length
      } else if (hash) {
        // The line end after it.
        at++
        yield { key, md5: hash.digest('hex') }
        hash = undefined
      } else {
        const end = chunk.indexOf(10, at)
        line = Buffer.concat([line, chunk.subarray(at, end < 0 ? chunk.length : end)])
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const [, size] = /^[0-9a-f]{40} blob (\d+)$/.exec(line.toString('latin1')) ?? []
        if (size === undefined) throw new Error(`git has no file where one should be: ${line.toString('latin1')}`)
        line = Buffer.alloc(0)
        key = nextKey()
        left = Number(size)
        hash = createHash('md5').update(key.startsWith('link ') ? 'link ' : '')
      }
    }
  }
}
