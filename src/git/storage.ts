import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolders, syncFile, syncFolder, type Timestamp, takeTimestamp } from '#platform/durable.ts'
import { syncObjects, syncRefs, syncRepository } from './fsync.ts'
import { git } from './git.ts'
import { type GitLimits, usualLimits } from './limits.ts'
import { moveManyRefs } from './packed-refs.ts'
import { type Command, noObject } from './ref-command.ts'
import { Slots } from './slots.ts'

export type { Command }

export interface Commit {
  author: { name: string; email: string }
  at: Date
  message: string
  /** Whole contents by path; null deletes a file. Other files stay unchanged. */
  files: Record<string, string | null>
}

/** This many names fit on a command line, whatever their length. */
const fewNames = 100
/** In bytes: about two million refs. */
const longestRefs = 1 << 28
/** Milliseconds to copy or pack a whole repository. */
const longTimeout = 6 * 3_600_000
/** Milliseconds that a request waits for a slot. */
const [fetchPatience, readPatience] = [30_000, 15_000]

/** Tried again, because a process may add a file to a folder that is being removed. */
const removal = { recursive: true, force: true, maxRetries: 10 }

/** The bare repositories on disk, by id, so that a rename or transfer moves no files. */
export class Storage {
  readonly #root: string
  readonly limits: GitLimits
  /** For fetches and pushes, and for requests to the API and pages, so that slow clones do not block reads. */
  readonly fetching: Slots
  readonly reading: Slots
  /** What is remembered of these repositories belongs to it. */
  edition: object = {}

  constructor(data: string, limits = usualLimits) {
    this.#root = join(data, 'repositories')
    this.limits = limits
    this.fetching = new Slots(limits.processes, fetchPatience)
    this.reading = new Slots(limits.processes, readPatience)
  }

  /** Call this when the repositories were put back into an earlier state: they may lack objects that they had. */
  noteRewound() {
    this.edition = {}
  }

  /** 256 folders, so that none has too many entries. */
  pathOf(repo_id: number) {
    return join(this.#root, (repo_id % 256).toString(16).padStart(2, '0'), `${repo_id}.git`)
  }

  has(repo_id: number) {
    return existsSync(this.pathOf(repo_id))
  }

  /** Whether names of files that differ in case are one file. */
  ignoresCase() {
    return existsSync(join(dirname(this.#root), basename(this.#root).toUpperCase()))
  }

  /** The repository appears complete or not at all. An existing one stays unchanged. */
  async create(repo_id: number, default_branch: string) {
    await this.#createAtomically(repo_id, (draft) => initBare(draft, default_branch))
  }

  /**
   * Copies all branches and tags of a repository, or one branch. Objects on the same disk are linked. `prepare` gets the refs before the
   * copy is visible.
   */
  async copy(
    from_id: number,
    to_id: number,
    default_branch: string,
    only_branch: string | null,
    prepare?: (refs: Map<string, string>) => Promise<void>,
  ) {
    const only = only_branch ? ['--single-branch', '--branch', only_branch] : []
    const source = this.pathOf(from_id)
    const empty = only_branch ? !(await this.hasBranch(from_id, only_branch)) : !this.has(from_id)
    if (empty) return this.create(to_id, default_branch)
    await this.#createAtomically(to_id, async (draft) => {
      await git(['clone', '--quiet', '--bare', '--template=', ...only, source, draft], { timeout: longTimeout })
      await git(['-C', draft, 'remote', 'remove', 'origin'])
      await git(['-C', draft, 'symbolic-ref', 'HEAD', `refs/heads/${default_branch}`])
      await prepare?.(await readRefs(draft))
    })
  }

  /** Creates a repository with contents that `write` writes. `prepare` gets its refs before it is visible. */
  async fill(
    repo_id: number,
    default_branch: string,
    write: (path: string) => Promise<unknown>,
    prepare: (refs: Map<string, string>) => Promise<void>,
  ) {
    await this.#createAtomically(repo_id, async (draft) => {
      await initBare(draft, default_branch)
      await write(draft)
      await prepare(await readRefs(draft))
    })
  }

  /** Refs on disk by name: all, or those of `names` that exist. */
  async refsOf(repo_id: number, names?: string[]): Promise<Map<string, string>> {
    const refs = await readRefs(this.pathOf(repo_id), names && names.length <= fewNames ? names : [])
    if (!names) return refs
    return new Map(names.flatMap((name) => (refs.has(name) ? [[name, refs.get(name) ?? '']] : [])))
  }

  /** Moves all refs or none. Fails when one is not at `before`. */
  async moveRefs(repo_id: number, commands: Command[]) {
    const input = commands.map(({ ref, before, after }) => `update ${ref}\0${after}\0${before}\0`).join('')
    await git(['-C', this.pathOf(repo_id), 'update-ref', '-z', '--stdin'], { input })
  }

  /** Moves any number of refs, see packed-refs.ts. */
  async moveManyRefs(repo_id: number, commands: Command[], options?: { exclusive?: boolean }) {
    await moveManyRefs(this.pathOf(repo_id), commands, options)
  }

  /** Packs loose objects if there are many, and indexes history. */
  async maintain(repo_id: number) {
    await git(['-C', this.pathOf(repo_id), '-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet'], { timeout: longTimeout })
    // With it, git counts 50,000 commits in 10 ms instead of 200, and finds those of a path without reading trees.
    const graph = [
      'commit-graph',
      'write',
      '--reachable',
      '--split',
      '--changed-paths',
      '--max-new-filters=20000',
      '--no-progress',
    ]
    await git(['-C', this.pathOf(repo_id), '-c', 'core.fsync=all', ...graph], { timeout: longTimeout })
    await this.sync(repo_id, [])
  }

  /** Syncs the objects and refs that changed since `since`, or all of them. */
  async sync(repo_id: number, refs: string[], since?: Timestamp) {
    await syncObjects(this.pathOf(repo_id), since)
    await syncRefs(this.pathOf(repo_id), refs, since)
  }

  async hasBranch(repo_id: number, branch: string) {
    if (!this.has(repo_id)) return false
    const ref = `refs/heads/${branch}`
    // For one name, git also lists refs below it or matching it as a pattern.
    const found = await git(['-C', this.pathOf(repo_id), 'for-each-ref', '--format=%(refname)', ref])
    return found.split('\n').includes(ref)
  }

  /** Sets the branch that a clone checks out. */
  async pointHead(repo_id: number, branch: string) {
    await git(['-C', this.pathOf(repo_id), 'symbolic-ref', 'HEAD', `refs/heads/${branch}`])
    // Git does not sync symbolic refs.
    await syncFile(join(this.pathOf(repo_id), 'HEAD'))
    await syncFolder(this.pathOf(repo_id))
  }

  /** The folder disappears as a whole, so that git finds all of it or nothing. A process that works in it may still add files. */
  async erase(repo_id: number) {
    const [path, draft] = [this.pathOf(repo_id), this.#draftOf(repo_id)]
    await rm(draft, removal)
    if (!this.has(repo_id)) return
    await rename(path, draft)
    await rm(draft, removal)
  }

  /** The folders that contain repositories. */
  async folders(): Promise<string[]> {
    const names = await readdir(this.#root).catch(() => [])
    return names.filter((name) => /^[0-9a-f]{2}$/.test(name)).map((name) => join(this.#root, name))
  }

  async eraseFolder(path: string) {
    await rm(path, { recursive: true, force: true })
  }

  /** Deletes refs even if their object is missing. */
  async dropRefs(repo_id: number, names: string[]) {
    const input = names.map((name) => `delete ${name}\0\0`).join('')
    if (names.length) await git(['-C', this.pathOf(repo_id), 'update-ref', '-z', '--stdin'], { input })
  }

  async #createAtomically(repo_id: number, make: (draft: string) => Promise<unknown>) {
    const path = this.pathOf(repo_id)
    if (this.has(repo_id)) return
    await makeFolders(dirname(path))
    const draft = this.#draftOf(repo_id)
    await rm(draft, removal)
    try {
      await make(draft)
      await syncRepository(draft)
      await rename(draft, path)
    } catch (error) {
      await rm(draft, removal)
      throw error
    }
    await syncFolder(dirname(path))
  }

  /** Folders with this name are leftovers, see hosting/repositories/sweeping.ts. */
  #draftOf(repo_id: number) {
    return `${this.pathOf(repo_id)}.new`
  }

  /** Adds commits to a branch, oldest first. */
  async commit(repo_id: number, branch: string, commits: Commit[]): Promise<{ head: string; size: number }> {
    const ref = `refs/heads/${branch}`
    const head = await this.#import(repo_id, ref, (await this.refsOf(repo_id, [ref])).get(ref), commits)
    return { head, size: await this.sizeOf(repo_id) }
  }

  /** Writes commits without moving a branch. Returns the last one, which the caller pushes. */
  async draft(repo_id: number, onto: string | undefined, commits: Commit[]): Promise<string> {
    const ref = `refs/drafts/${randomUUID()}`
    const head = await this.#import(repo_id, ref, onto, commits)
    await this.moveRefs(repo_id, [{ ref, before: head, after: noObject }])
    return head
  }

  async #import(repo_id: number, ref: string, onto: string | undefined, commits: Commit[]) {
    const path = this.pathOf(repo_id)
    const since = takeTimestamp()
    await git(['-C', path, 'fast-import', '--quiet'], {
      input: commits.map((commit, index) => describe(ref, commit, index === 0 && onto)).join(''),
      timeout: longTimeout,
    })
    await syncObjects(path, since)
    await syncRefs(path, [ref], since)
    return (await git(['-C', path, 'rev-parse', ref])).trim()
  }

  /** In kilobytes. */
  async sizeOf(repo_id: number): Promise<number> {
    const counted = await git(['-C', this.pathOf(repo_id), 'count-objects', '-v'])
    return [...counted.matchAll(/^size(?:-pack)?: (\d+)$/gm)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0)
  }
}

const initBare = (path: string, default_branch: string) =>
  git(['init', '--quiet', '--bare', '--template=', `--initial-branch=${default_branch}`, path])

async function readRefs(path: string, names: string[] = []) {
  const found = await git(['-C', path, 'for-each-ref', '--format=%(objectname) %(refname)', '--', ...names], {
    limit: longestRefs,
  })
  return new Map([...found.matchAll(/^(\w+) (.+)$/gm)].map(([, sha = '', name = '']) => [name, sha]))
}

function describe(ref: string, { author, at, message, files }: Commit, onto: string | false | undefined) {
  const who = `${author.name.replaceAll(/[\p{Cc}<>]/gu, '')} <${author.email.replaceAll(/[\p{Cc}<>]/gu, '')}> ${Math.floor(at.getTime() / 1000)} +0000`
  const changes = Object.entries(files).map(([path, text]) =>
    text === null ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`,
  )
  return `commit ${ref}\nauthor ${who}\ncommitter ${who}\n${data(message)}${onto ? `from ${onto}\n` : ''}${changes.join('')}\n`
}

function data(text: string) {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}
