import { createHash } from 'node:crypto'
import { endGit, startGit } from '#git/git.ts'

/** Reads blobs from a repository and gives the MD5 of each in Base64, by its id. They are not held in memory. */
export async function hashBlobs(repository: string, ids: string[], signal: AbortSignal): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  if (ids.length === 0) return hashes
  signal.throwIfAborted()
  const child = startGit(['-C', repository, 'cat-file', '--batch', '--buffer'], {}, { detached: false })
  const stop = () => endGit(child)
  signal.addEventListener('abort', stop, { once: true })
  child.stderr.resume()
  child.stdin.on('error', () => {})
  child.stdin.end(ids.map((id) => `${id}\n`).join(''))
  let header: Buffer = Buffer.alloc(0)
  let left = 0
  let current: { id: string; hash: ReturnType<typeof createHash> } | undefined
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      let rest = chunk
      while (rest.length > 0) {
        if (!current) {
          const end = rest.indexOf(10)
          header = Buffer.concat([header, end < 0 ? rest : rest.subarray(0, end)])
          if (end < 0) break
          const [id = '', type, size] = header.toString().split(' ')
          if (type !== 'blob') throw new Error(`git has no blob ${id}`)
          header = Buffer.alloc(0)
          current = { id, hash: createHash('md5') }
          left = Number(size)
          rest = rest.subarray(end + 1)
          if (rest.length === 0) break
        }
        const part = rest.subarray(0, left)
        current.hash.update(part)
        left -= part.length
        rest = rest.subarray(part.length)
        if (left > 0 || rest.length === 0) break
        // The line feed that follows each.
        rest = rest.subarray(1)
        hashes.set(current.id, current.hash.digest('base64'))
        current = undefined
      }
    }
  } finally {
    signal.removeEventListener('abort', stop)
    endGit(child)
  }
  signal.throwIfAborted()
  if (hashes.size < new Set(ids).size) throw new Error('git ended before it gave all that it was asked for')
  return hashes
}
