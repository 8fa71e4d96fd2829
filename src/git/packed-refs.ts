import { once } from 'node:events'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { syncFolder } from '#platform/durable.ts'
import { git, startGit } from './git.ts'
import { type Command, noObject } from './ref-command.ts'

/**
 * Moves many refs, all or none: they are written as one file that takes the place of another, and is on disk when this resolves. Git would
 * write a file for each, and wait for the disk each time or not at all. Fails when one is not where `before` says. Where nobody else can
 * be at these refs, `alone` spares to hold each of them, which takes longer than all the rest.
 */
export async function placeRefs(path: string, commands: Command[], { alone = false } = {}) {
  if (!commands.length) return
  const peeled = await peel(path, commands)
  for (let tries = 0; tries < mostTries; tries++) {
    if (await hasLoose(path, commands)) await packRefs(path)
    await using _ = alone ? undefined : await holdRefs(path, commands)
    // A file of its own would go before ours; from now on nobody makes one.
    if (!alone && (await hasLoose(path, commands))) continue
    return await rewrite(path, commands, peeled)
  }
  throw new Error('refs move all the time')
}

const mostTries = 3
/** Milliseconds for what git does with all refs of an import. */
const gitPatience = 600_000

/** What each tag that has words of its own leads to, by its id; git has it in the file too. All that refs are to lead to is there. */
async function peel(path: string, commands: Command[]): Promise<Map<string, string>> {
  const branches = new Set(commands.filter(({ ref }) => ref.startsWith('refs/heads/')).map(({ after }) => after))
  const ids = [...new Set(commands.map(({ after }) => after))].filter((id) => id !== noObject)
  const input = ids.map((id) => `${id}^{}\n`).join('')
  const look = ['-C', path, 'cat-file', '--batch-check=%(objectname) %(objecttype)']
  const told = await git(look, { input, limit: 100 * ids.length + 1000, patience: gitPatience })
  const ends = told.split('\n').map((line) => line.split(' '))
  const peeled = new Map<string, string>()
  for (const [index, id] of ids.entries()) {
    const [end = '', type] = ends[index] ?? []
    if (end.startsWith(id) && type !== 'commit' && type !== 'tree' && type !== 'blob') throw new Error(`${id} is not there`)
    if (branches.has(id) && (end !== id || type !== 'commit')) throw new Error(`${id} is no commit, and cannot be a branch`)
    if (end !== id) peeled.set(id, end)
  }
  return peeled
}

async function hasLoose(path: string, commands: Command[]): Promise<boolean> {
  const there = commands.filter(({ before }) => before !== noObject)
  if (!there.length) return false
  // Folders may go while they are read, with the last that was in them.
  const found = await readdir(join(path, 'refs'), { recursive: true, withFileTypes: true }).catch(() => undefined)
  const files = new Set(found?.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])))
  return !found || there.some(({ ref }) => files.has(join(path, ref)))
}

async function packRefs(path: string) {
  await freePacked(path)
  await git(['-C', path, 'pack-refs', '--all'], { patience: gitPatience })
}

/** Nobody else moves these as long as this is not disposed of; each is where it was said to be. */
async function holdRefs(path: string, commands: Command[]): Promise<AsyncDisposable> {
  const child = startGit(['-C', path, 'update-ref', '-z', '--stdin'], {}, { detached: false })
  const closed = once(child, 'close').then(
    () => false,
    () => false,
  )
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000)
  })
  child.stdin.on('error', () => {})
  const checks = lockable(commands).map(({ ref, before }) => `verify ${ref}\0${before}\0`)
  child.stdin.write(`start\0${checks.join('')}prepare\0`)
  let said = ''
  const prepared = new Promise<boolean>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('prepare: ok')) resolve(true)
    })
  })
  if (!(await Promise.race([prepared, closed]))) throw new Error(`git update-ref failed: ${complaint.trim()}`)
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end('abort\0')
      await closed
    },
  }
}

/** A name below or above one that goes cannot be held beside it. Nobody else can make it either, as long as that one is there. */
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
  await using _ = await holdPacked(path)
  const entries = read(await readFile(file, 'latin1').catch(() => header))
  for (const { ref, before, after } of commands) {
    const name = Buffer.from(ref).toString('latin1')
    const end = peeled.get(after)
    if ((entries.get(name)?.slice(0, 40) ?? noObject) !== before) throw new Error(`${ref} is not where it was`)
    if (after === noObject) entries.delete(name)
    else entries.set(name, `${after} ${name}\n${end === undefined ? '' : `^${end}\n`}`)
  }
  // By their bytes, as git looks for them.
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

/** What the file says of each name. */
function read(text: string): Map<string, string> {
  const first = /^#.*\n/.exec(text)?.[0] ?? ''
  // Only very old versions write others, and never read ours without these words.
  if (!/ fully-peeled .*sorted /.test(first)) throw new Error('packed-refs is of a form that is not known')
  const lines = text.slice(first.length).matchAll(/^[0-9a-f]{40} (.+)\n(?:\^[0-9a-f]{40}\n)?/gm)
  return new Map([...lines].map(([entry, name = '']) => [name, entry]))
}

/** In milliseconds. Twice as long as git itself waits for it, and how long we do. */
const longestHeld = 2000
const patience = 10_000

async function holdPacked(path: string): Promise<AsyncDisposable> {
  const lock = join(path, 'packed-refs.lock')
  const started = performance.now()
  for (;;) {
    const held = await open(lock, 'wx').catch((error) => (error.code === 'EEXIST' ? undefined : Promise.reject(error)))
    if (held) {
      await held.close()
      return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) }
    }
    if (performance.now() - started > patience) throw new Error('packed-refs is held by others all the time')
    await freePacked(path)
  }
}

/** Waits until nobody holds the file of all refs. Whoever holds it for long without writing was killed: without this, no git would ever get it. */
export async function freePacked(path: string) {
  const names = ['packed-refs.new', 'packed-refs.lock'].map((name) => join(path, name))
  const look = () => Promise.all(names.map((name) => stat(name, { bigint: true }).catch(() => undefined)))
  const mark = (files: Awaited<ReturnType<typeof look>>) =>
    files.map((file) => file && `${file.ino} ${file.size} ${file.mtimeNs}`).join()
  const first = await look()
  for (const started = performance.now(); performance.now() - started < longestHeld; ) {
    const now = await look()
    if (now.every((file) => !file) || mark(now) !== mark(first)) return
    await sleep(50)
  }
  for (const name of names) await rm(name, { force: true })
}
