import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { deflateSync } from 'node:zlib'
import { takeTimestamp } from '#platform/durable.ts'
import { Refusal } from '#platform/errors.ts'
import { toleratedFaults } from './fsck-faults.ts'
import { syncObjects, unpackLimit } from './fsync.ts'
import { runGit, streamGit } from './run-git.ts'
import type { Storage } from './storage.ts'

/** A commit to write. Texts are bytes, one per character, so that texts of other encodings stay as they are. */
export interface Draft {
  tree: string
  parents: string[]
  author: string
  committer: string
  /** Header lines to keep, each with its line end. */
  more?: string
  message: string
}

/** A temporary object folder on top of a repository. Its objects are deleted afterwards, except those that are kept. */
export interface Scratch {
  run(
    args: string[],
    bounds?: { input?: string | AsyncIterable<Buffer>; expected?: number[]; limit?: number },
  ): ReturnType<typeof runGit>
  write(draft: Draft): Promise<string>
  /** Writes the bytes of an annotated tag. */
  writeTag(contents: Buffer): Promise<string>
  /**
   * Copies an object and the objects it needs into the repository, which has everything reachable from `known`. With `local`, objects
   * that the repository has are not copied even if nothing in `known` leads to them.
   */
  keep(sha: string, known: string[], options?: { local?: boolean }): Promise<void>
}

export async function withScratch<T>(
  storage: Storage,
  repo_id: number,
  signal: AbortSignal,
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const path = resolve(storage.pathOf(repo_id))
  // Git's housekeeping removes folders with this name, such as those of a killed server.
  const folder = await mkdtemp(join(path, 'objects', 'tmp_objdir-scratch-'))
  // Relative: git creates missing parents, and must not create a repository again that is deleted meanwhile.
  const bounds = { signal, settings: { GIT_OBJECT_DIRECTORY: relative(path, folder) } }
  // Temporary objects need no sync.
  const passing = ['-c', 'core.fsync=none']
  try {
    await openFolder(folder, path)
    return await work({
      run: (args, more) => runGit(path, [...passing, ...args], { ...bounds, ...more }),
      write: (draft) => writeObject(folder, 'commit', describe(draft)),
      writeTag: (contents) => writeObject(folder, 'tag', contents),
      async keep(sha, known, { local = false } = {}) {
        const input = [sha, ...known.map((each) => `^${each}`), ''].join('\n')
        const args = ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q', ...(local ? ['--local'] : [])]
        const pack = () => streamGit(path, args, { ...bounds, input })
        // Checked in another folder first: git writes objects while it checks them, and a branch could be created at a refused object by
        // its id.
        const checked = await openFolder(await makeFolder(join(folder, 'checked')), path)
        const settings = { GIT_OBJECT_DIRECTORY: relative(path, checked) }
        const check = ['-c', 'core.fsync=none', 'index-pack', '--stdin', `--strict=${toleratedFaults}`]
        await runGit(path, check, { signal, settings, input: pack() }).catch(refuseFaulty)
        const since = takeTimestamp()
        await storePack(path, pack(), signal)
        await syncObjects(path, since)
      },
    })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Stores a few objects as loose objects, more as a pack. */
async function storePack(path: string, pack: AsyncIterable<Buffer>, signal: AbortSignal) {
  const chunks = pack[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  // A pack header has 12 bytes; the last four are the number of objects.
  while (head.length < 12) {
    const { value, done } = await chunks.next()
    if (done) throw new Error('git pack-objects wrote no pack')
    head = Buffer.concat([head, value])
  }
  async function* whole() {
    yield head
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const store = head.readUInt32BE(8) < unpackLimit ? ['unpack-objects', '-q'] : ['index-pack', '--stdin']
  await runGit(path, store, { signal, input: whole() })
}

async function makeFolder(folder: string) {
  await mkdir(folder)
  return folder
}

/** An object folder with the repository's objects as alternates. */
async function openFolder(folder: string, path: string) {
  await mkdir(join(folder, 'info'))
  await writeFile(join(folder, 'info', 'alternates'), `${join(path, 'objects')}\n`)
  return folder
}

/** Passes on git's message for a fault that receive.fsckObjects refuses, such as a `.gitmodules` that runs a command where it is cloned. */
function refuseFaulty(error: Error): never {
  const [, object, fault] = /error: object (\w+): (\w+: .*)/.exec(error.message) ?? []
  throw object ? new Refusal('invalid', `Git refuses ${object}: ${fault}`) : error
}

function describe({ tree, parents, author, committer, more = '', message }: Draft) {
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${author}`, `committer ${committer}`]
  return Buffer.from(`${lines.join('\n')}\n${more}\n${message}`, 'latin1')
}

/** Without a git process for each object, because a rebase writes a thousand. */
async function writeObject(folder: string, type: string, contents: Buffer) {
  const object = Buffer.concat([Buffer.from(`${type} ${contents.length}\0`), contents])
  const sha = createHash('sha1').update(object).digest('hex')
  // Not recursive: the repository may be deleted meanwhile, and must not be created again.
  await mkdir(join(folder, sha.slice(0, 2))).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  await writeFile(join(folder, sha.slice(0, 2), sha.slice(2)), deflateSync(object, { level: 1 }))
  return sha
}
