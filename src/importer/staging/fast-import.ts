import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { stageSettings } from '#git/fsync.ts'
import { spawnGit } from '#git/git.ts'
import { trimBoth } from '#platform/trim.ts'
import { openStreamReader } from './stream-reader.ts'

export interface FastImportOptions {
  signal: AbortSignal
  /** The file of marks. Read if it exists; written at each checkpoint and at the end. */
  marks?: string
  /** Writes packs that are fit to be published. Fits content that is similar to the content before it; reading it back takes longer. */
  dense?: boolean
}

export interface Entry {
  mode: string
  type: 'blob' | 'tree' | 'commit'
  id: string
}

const denseSettings = ['core.bigFileThreshold=16m', 'core.ignoreCase=false', 'fastimport.unpackLimit=0', 'gc.auto=0']
  .flatMap((setting) => ['-c', setting])
  .concat(stageSettings)

/** For speed. The published pack is made with other settings. */
export const quickSettings = [...denseSettings, '-c', 'core.compression=0', '-c', 'pack.depth=0']

/**
 * Git allocates and frees a compressor for each object, which took two thirds of its time in system calls and page faults. With these
 * settings, glibc keeps the memory.
 */
const mallocSettings = { MALLOC_TRIM_THRESHOLD_: String(32 << 20), MALLOC_TOP_PAD_: String(1 << 20) }

const batch = 256 * 1024
/** In bytes. Both processes work at the same time. */
const maxAhead = 2 * batch

export function openFastImport(repository: string, { signal, marks, dense = false }: FastImportOptions) {
  removeLeftovers(repository, marks)
  signal.throwIfAborted()
  const child = spawnGit(
    [
      ...(dense ? denseSettings : quickSettings),
      '-C',
      repository,
      'fast-import',
      '--quiet',
      '--force',
      '--done',
      '--cat-blob-fd=3',
      '--date-format=raw',
      ...(marks ? [`--import-marks-if-exists=${marks}`, `--export-marks=${marks}`] : []),
    ],
    mallocSettings,
    1,
  )
  const stderr: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => stderr.length < 16 && stderr.push(chunk))
  // The exit status is reported.
  child.stdin.on('error', () => {})
  const stop = () => child.kill()
  signal.addEventListener('abort', stop, { once: true })

  const answers = openStreamReader(child.stdio[3] as unknown as Readable)
  const announcements = openStreamReader(child.stdout)
  let failure: Error | undefined
  const over = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = error
      resolve()
    })
    // A stream that is read on demand would keep the process from closing.
    child.once('exit', () => {
      for (const stream of [answers, announcements]) stream.leave()
    })
    child.once('close', (status, killed) => {
      signal.removeEventListener('abort', stop)
      const output = Buffer.concat(stderr).toString().trim()
      if (status !== 0) failure ??= signal.reason ?? new Error(`git fast-import failed (${status ?? killed}): ${output}`)
      resolve()
      wake()
    })
  })

  let pending = Buffer.allocUnsafe(batch)
  let length = 0
  let seen = 0
  let ahead = 0
  let wake = () => {}

  /** Commands in the syntax of git-fast-import(1). Waits while git is behind. */
  function write(chunk: string | Buffer): Promise<void> | void {
    const size = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
    if (size <= batch - length) {
      length += typeof chunk === 'string' ? pending.write(chunk, length) : chunk.copy(pending, length)
      return
    }
    return flush().then(() => (size <= batch ? write(chunk) : send(Buffer.from(chunk as Buffer))))
  }

  async function flush() {
    if (length === 0) return
    const some = pending.subarray(0, length)
    // A small batch is copied, so that the buffer can be reused.
    const small = length < batch / 4
    if (!small) pending = Buffer.allocUnsafe(batch)
    length = 0
    await send(small ? Buffer.from(some) : some)
  }

  async function send(bytes: Buffer) {
    if (failure) throw failure
    ahead += bytes.length
    child.stdin.write(bytes, () => {
      ahead -= bytes.length
      wake()
    })
    while (ahead > maxAhead && !failure) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    if (failure) throw failure
  }

  /** Writes a `data` command. */
  async function data(content: Buffer | { size: number; chunks: AsyncIterable<Buffer> }) {
    const whole = Buffer.isBuffer(content)
    await write(`data ${whole ? content.length : content.size}\n`)
    if (whole) await write(content)
    else {
      let left = content.size
      for await (const chunk of content.chunks) {
        left -= chunk.length
        await write(chunk)
      }
      if (left !== 0) throw new Error(`${left} of ${content.size} bytes of content are missing`)
    }
    await write('\n')
  }

  /** The entry at a path of a commit or tree, or of the commit that is being written. */
  async function ls(dataref: string | undefined, path: Buffer | string): Promise<Entry | undefined> {
    await write(dataref === undefined ? 'ls ' : `ls ${dataref} `)
    await write(quotePath(path))
    await write('\n')
    await flush()
    const line = (await required(answers.line())).toString('latin1')
    if (line.startsWith('missing ')) return
    const [mode = '', type = '', rest = ''] = line.split(' ', 3)
    return { mode, type: type as Entry['type'], id: rest.slice(0, rest.indexOf('\t')) }
  }

  /** The content of a blob. It must be read to the end before the next command. */
  async function* catBlob(id: string) {
    await write(`cat-blob ${id}\n`)
    await flush()
    const [, type, size] = (await required(answers.line())).toString('latin1').split(' ')
    if (type !== 'blob') throw new Error(`${id} is not a blob of git fast-import`)
    for (let left = Number(size); left > 0; ) {
      const chunk = await required(answers.some(left))
      left -= chunk.length
      yield chunk
    }
    await required(answers.some(1))
  }

  async function required(answer: Promise<Buffer | undefined>): Promise<Buffer> {
    const bytes = await answer
    if (bytes) return bytes
    await over
    throw failure ?? new Error('git fast-import ended before it answered')
  }

  /** When it resolves, all objects, refs and marks so far survive a kill. Not allowed inside a commit. */
  async function checkpoint() {
    const wanted = String(++seen)
    await write(`checkpoint\nprogress ${wanted}\n`)
    await flush()
    while (!(await required(announcements.line())).equals(Buffer.from(`progress ${wanted}`)));
  }

  async function end() {
    await write('done\n')
    await flush()
    child.stdin.end()
    await over
    if (failure) throw failure
  }

  return { write, data, ls, catBlob, checkpoint, end, stop }
}

/** A running `git fast-import`. One caller at a time, because answers have no ids. */
export type FastImport = ReturnType<typeof openFastImport>

/** Removes the files of a killed run. Nothing refers to them. */
export function removeLeftovers(repository: string, marks?: string) {
  const packs = join(repository, 'objects', 'pack')
  for (const name of existsSync(packs) ? readdirSync(packs) : []) {
    if (/^tmp_|\.keep$/.test(name)) rmSync(join(packs, name), { force: true })
  }
  for (const name of readdirSync(repository)) {
    if (/^fast_import_crash_|\.lock$/.test(name)) rmSync(join(repository, name), { force: true })
  }
  const refs = join(repository, 'refs')
  for (const name of existsSync(refs) ? readdirSync(refs, { recursive: true, encoding: 'utf8' }) : []) {
    if (name.endsWith('.lock')) rmSync(join(refs, name), { force: true })
  }
  if (marks) rmSync(`${marks}.lock`, { force: true })
}

/** Quotes a path for a command. */
export function quotePath(path: string): string
export function quotePath(path: Buffer | string): Buffer | string
export function quotePath(path: Buffer | string): Buffer | string {
  if (Buffer.isBuffer(path)) return Buffer.from(quotePath(path.toString('latin1')), 'latin1')
  return `"${path.replace(/["\\\n]/g, (special) => (special === '\n' ? '\\n' : `\\${special}`))}"`
}

/** `Name <email>`, valid for git. */
export function describePerson(name: string, email: string) {
  const valid = validPerson(name, email)
  return `${valid.name} <${valid.email}>`
}

/** Removes the characters that git does not allow in a name or email; git has no way to quote them. */
export function validPerson(name: string, email: string) {
  return { name: bare(name) || 'unknown', email: bare(email).replace(/\s/g, '_') || 'unknown' }
}

/** What git removes from the ends of a name. The rest are the other spaces of Unicode. */
const edges = ` .,:;"'\\\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`

function bare(text: string) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what git refuses.
  return trimBoth(text.replace(/[<>\u0000-\u001f\u007f]/g, ''), edges)
}
