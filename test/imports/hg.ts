import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { needs } from '#test/needs.ts'

needs({ hg: 'mercurial' })

/** Without the Mercurial configuration of the machine. */
export const hgEnvironment = { ...process.env, HGPLAIN: '1', HGRCPATH: '/dev/null', HGENCODING: 'UTF-8' }

export interface Hg extends AsyncDisposable {
  run(...args: string[]): Promise<Buffer>
}

/** A Mercurial command server, because starting Mercurial takes a third of a second. */
export async function openHg(repository?: string): Promise<Hg> {
  const where = repository ? ['-R', repository] : []
  const child = spawn('hg', [...where, 'serve', '--cmdserver', 'pipe', '--config', 'ui.interactive=no'], {
    env: hgEnvironment,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const chunks = child.stdout[Symbol.asyncIterator]()
  let rest = Buffer.alloc(0)
  async function take(length: number): Promise<Buffer> {
    while (rest.length < length) {
      const next = await chunks.next()
      if (next.done) throw new Error('hg ended')
      rest = Buffer.concat([rest, next.value])
    }
    const taken = rest.subarray(0, length)
    rest = rest.subarray(length)
    return taken
  }
  async function answer() {
    const head = await take(5)
    return { channel: String.fromCharCode(head[0] as number), data: await take(head.readUInt32BE(1)) }
  }
  await answer()
  return {
    async run(...args) {
      const sent = Buffer.from(args.join('\0'), 'latin1')
      const length = Buffer.alloc(4)
      length.writeUInt32BE(sent.length)
      child.stdin.write(Buffer.concat([Buffer.from('runcommand\n'), length, sent]))
      const output: Buffer[] = []
      const complaint: Buffer[] = []
      for (;;) {
        const { channel, data } = await answer()
        if (channel === 'r') {
          if (data.readInt32BE() !== 0) throw new Error(`hg ${args[0]} failed: ${Buffer.concat(complaint)}`)
          return Buffer.concat(output)
        }
        ;(channel === 'o' ? output : complaint).push(data)
      }
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** Makes a repository of a bundle. */
export async function makeHgRepository(folder: string, bundle: Buffer, bookmarks: Record<string, string> = {}): Promise<string> {
  const repository = join(folder, 'source')
  await writeFile(join(folder, 'source.hg'), bundle)
  await using hg = await openHg()
  await hg.run('init', repository)
  await hg.run('-R', repository, 'unbundle', '-q', join(folder, 'source.hg'))
  const lines = Object.entries(bookmarks).map(([name, node]) => `${node} ${name}\n`)
  if (lines.length > 0) await writeFile(join(repository, '.hg', 'bookmarks'), lines.join(''))
  return repository
}
