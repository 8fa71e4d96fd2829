import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { syncFolder } from '#platform/durable.ts'
import { git, startGit } from './git.ts'
import { type Command, noObject } from './ref-command.ts'

/**
 * Moves many refs, all or none, by rewriting `packed-refs`; the file is synced when this resolves. Git itself would write and sync a file
 * for each ref, see docs/dependencies.md. Fails when a ref is not at `before`. `exclusive` is for refs that no one else can move: it skips
 * locking each ref, which takes longer than the rest.
 */
export async function moveManyRefs(path: string, commands: Command[], { exclusive = false } = {}) {
  if (!commands.length) return
  const peeled = await peel(path, commands)
  for (let tries = 0; tries < mostTries; tries++) {
    if (await hasLoose(path, commands)) await packRefs(path)
    await using _ = exclusive ? undefined : await lockRefs(path, commands)
    // A loose ref overrides the packed one. From now on none can be created.
    if (!exclusive && (await hasLoose(path, commands))) continue
    return await rewrite(path, commands, peeled)
  }
  throw new Error('refs keep moving')
}

const mostTries = 3
/** Milliseconds for git processes that handle all refs of an import. */
const gitTimeout = 600_000

/** The objects that annotated tags point to, by tag id; `packed-refs` contains them. Fails when an object is missing. */
async function peel(path: string, commands: Command[]): Promise<Map<string, string>> {
  const branches = new Set(commands.filter(({ ref }) => ref.startsWith('refs/heads/')).map(({ after }) => after))
  const ids = [...new Set(commands.map(({ after }) => after))].filter((id) => id !== noObject)
  const input = ids.map((id) => `${id}^{}\n`).join('')
  const look = ['-C', path, 'cat-file', '--batch-check=%(objectname) %(objecttype)']
  const output = await git(look, { input, limit: 100 * ids.length + 1000, timeout: gitTimeout })
  const ends = output.split('\n').map((line) => line.split(' '))
  const peeled = new Map<string, string>()
  for (const [index, id] of ids.entries()) {
    const [end = '', type] = ends[index] ?? []
    if (end.startsWith(id) && type !== 'commit' && type !== 'tree' && type !== 'blob') throw new Error(`${id} is missing`)
    if (branches.has(id) && (end !== id || type !== 'commit')) throw new Error(`${id} is not a commit, so it cannot be a branch`)
    if (end !== id) peeled.set(id, end)
  }
  return peeled
}

async function hasLoose(path: string, commands: Command[]): Promise<boolean> {
  const there = commands.filter(({ before }) => before !== noObject)
  if (!there.length) return false
  // Git removes empty folders while we read.
  const found = await readdir(join(path, 'refs'), { recursive: true, withFileTypes: true }).catch(() => undefined)
  const files = new Set(found?.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])))
  return !found || there.some(({ ref }) => files.has(join(path, ref)))
}

async function packRefs(path: string) {
  await removeStaleLock(path)
  await git(['-C', path, 'pack-refs', '--all'], { timeout: gitTimeout })
}

/** Locks the refs until disposed of, and checks that each is at `before`. */
async function lockRefs(path: string, commands: Command[]): Promise<AsyncDisposable> {
  const { stdin, stdout, stderr, closed } = await startGit(['-C', path, 'update-ref', '-z', '--stdin'], {}, false)
  let complaint = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000)
  })
  const checks = lockable(commands).map(({ ref, before }) => `verify ${ref}\0${before}\0`)
  stdin.write(`start\0${checks.join('')}prepare\0`)
  let output = ''
  const prepared = new Promise<boolean>((resolve) => {
    stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes('prepare: ok')) resolve(true)
    })
  })
  if (!(await Promise.race([prepared, closed.then(() => false)]))) throw new Error(`git update-ref failed: ${complaint.trim()}`)
  return {
    async [Symbol.asyncDispose]() {
      stdin.end('abort\0')
      await closed
    },
  }
}

/** A ref cannot be locked beside a deleted ref above or below its name. No one else can create it while that one exists. */
function lockable(commands: Command[]): Command[] {
  const gone = commands.filter(({ after }) => after === noObject).map(({ ref }) => ref)
  const [names, folders] = [new Set(gone), new Set(gone.flatMap(foldersOf))]
  return commands.filter(
    ({ ref, before }) => before !== noObject || !(folders.has(ref) || foldersOf(ref).some((folder) => names.has(folder))),
  )
}

/** `refs/heads/a/b`: `refs/heads/a`, `refs/heads`, `refs`. */
function foldersOf(ref: string): string[] {
  const parts = ref.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

const header = '# pack-refs with: peeled fully-peeled sorted \n'

async function rewrite(path: string, commands: Command[], peeled: Map<string, string>) {
  const file = join(path, 'packed-refs')
  await using _ = await lockPackedRefs(path)
  const entries = read(await readFile(file, 'latin1').catch(() => header))
  for (const { ref, before, after } of commands) {
    const name = Buffer.from(ref).toString('latin1')
    const end = peeled.get(after)
    if ((entries.get(name)?.slice(0, 40) ?? noObject) !== before) throw new Error(`${ref} is not at its expected commit`)
    if (after === noObject) entries.delete(name)
    else entries.set(name, `${after} ${name}\n${end === undefined ? '' : `^${end}\n`}`)
  }
  // By bytes, as git searches them.
  const names = [...entries.keys()].sort((one, other) => (one < other ? -1 : 1))
  const draft = await open(`${file}.new`, 'w')
  try {
    await draft.writeFile(header + names.map((name) => entries.get(name)).join(''), 'latin1')
    await draft.sync()
  } finally {
    await draft.close()
  }
  await rename(`${file}.new`, file)
  await syncFolder(path)
}

/** The lines of each ref, by name. */
function read(text: string): Map<string, string> {
  const first = /^#.*\n/.exec(text)?.[0] ?? ''
  // Only very old versions of git write other headers.
  if (!(first.includes(' fully-peeled ') && first.includes(' sorted '))) throw new Error('packed-refs has an unknown format')
  const lines = text.slice(first.length).matchAll(/^[0-9a-f]{40} (.+)\n(?:\^[0-9a-f]{40}\n)?/gm)
  return new Map([...lines].map(([entry, name = '']) => [name, entry]))
}

/** In milliseconds. The first is twice as long as git itself waits. */
const staleAfter = 2000
const patience = 10_000

async function lockPackedRefs(path: string): Promise<AsyncDisposable> {
  const lock = join(path, 'packed-refs.lock')
  const started = performance.now()
  for (;;) {
    const file = await open(lock, 'wx').catch((error) => (error.code === 'EEXIST' ? undefined : Promise.reject(error)))
    if (file) {
      await file.close()
      return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) }
    }
    if (performance.now() - started > patience) throw new Error('packed-refs stays locked')
    await removeStaleLock(path)
  }
}

/**
 * Waits until `packed-refs` is unlocked, and removes a lock that does not change for two seconds: its owner was killed, and git would
 * never get the lock.
 */
export async function removeStaleLock(path: string) {
  const names = ['packed-refs.new', 'packed-refs.lock'].map((name) => join(path, name))
  const look = () => Promise.all(names.map((name) => stat(name, { bigint: true }).catch(() => undefined)))
  const mark = (files: Awaited<ReturnType<typeof look>>) =>
    files.map((file) => file && `${file.ino} ${file.size} ${file.mtimeNs}`).join()
  const first = await look()
  for (const started = performance.now(); performance.now() - started < staleAfter; ) {
    const now = await look()
    if (now.every((file) => !file) || mark(now) !== mark(first)) return
    await sleep(50)
  }
  for (const name of names) await rm(name, { force: true })
}
