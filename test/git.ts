import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from '#git/ref-command.ts'
import { sql } from '#platform/database.ts'
import { launch } from '#platform/launcher.ts'
import { type Forge, openForge, type Person } from '#test/forge.ts'

interface Whoever {
  login: string
  token: string
}

/** How a git ended, and what it said. */
export interface Ended {
  status: number
  stdout: string
  stderr: string
}

/** A folder for clones, in which the real git client runs without anybody's settings. */
export class Desk implements AsyncDisposable {
  readonly folder: string
  readonly #web: string
  #clones = 0

  static async open({ web }: { web: string }) {
    return new Desk(await mkdtemp(join(tmpdir(), 'belfry-desk-')), web)
  }

  constructor(folder: string, web: string) {
    this.folder = folder
    this.#web = web
  }

  /** The address of a repository, with what shows who a person is. */
  url(whoever: Whoever | null, full_name: string, password = whoever?.token) {
    const url = new URL(`${this.#web}/${full_name}.git`)
    if (whoever) [url.username, url.password] = [whoever.login, encodeURIComponent(password ?? '')]
    return url.href
  }

  /** An empty folder that knows the repository as `origin`; nothing is fetched. */
  async begin(whoever: Whoever | null, full_name: string) {
    return initWorktree(await this.#place(), whoever?.login ?? 'nobody', this.url(whoever, full_name))
  }

  async clone(whoever: Whoever | null, full_name: string, ...options: string[]) {
    const folder = await this.#place()
    const work = new Worktree(folder, whoever?.login ?? 'nobody')
    await work.git('clone', '--quiet', ...options, this.url(whoever, full_name), '.')
    return work
  }

  async #place() {
    const folder = join(this.folder, `${++this.#clones}`)
    await mkdir(folder)
    return folder
  }

  async [Symbol.asyncDispose]() {
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** What `git init` and `git remote add` make, without starting either. */
export async function initWorktree(folder: string, author: string, origin: string) {
  for (const inner of ['objects', 'refs/heads']) await mkdir(join(folder, '.git', inner), { recursive: true })
  await writeFile(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n')
  await writeFile(
    join(folder, '.git/config'),
    `[core]\nbare = false\n[remote "origin"]\nurl = ${origin}\nfetch = +refs/heads/*:refs/remotes/origin/*\n`,
  )
  return new Worktree(folder, author)
}

export class Worktree {
  readonly folder: string
  readonly #author: string

  constructor(folder: string, author: string) {
    this.folder = folder
    this.#author = author
  }

  /** Runs git and gives what it printed; it must succeed. */
  async git(...args: string[]) {
    const ended = await this.attempt(...args)
    if (ended.status !== 0) throw new Error(`git ${args.join(' ')} failed (${ended.status}): ${ended.stderr}`)
    return ended.stdout.trim()
  }

  /** Runs git, whatever comes of it. */
  attempt(...args: string[]): Promise<Ended> {
    return run(this.folder, this.#author, args)
  }

  /** Writes files and commits them; gives the commit's id. */
  async commit(message: string, files: Record<string, string | Buffer> = { 'notes.txt': `${message}\n` }) {
    for (const [path, contents] of Object.entries(files)) {
      await mkdir(dirname(join(this.folder, path)), { recursive: true })
      await writeFile(join(this.folder, path), contents)
    }
    await this.git('add', '--all')
    await this.git('commit', '--quiet', '--allow-empty', '-m', message)
    return this.head()
  }

  /** Read without git where that is simple. */
  async head() {
    const file = (name: string) => readFile(join(this.folder, '.git', name), 'utf8').catch(() => '')
    const [, branch] = /^ref: (.+)$/m.exec(await file('HEAD')) ?? []
    return ((branch && (await file(branch))) || (await this.git('rev-parse', 'HEAD'))).trim()
  }

  push(...args: string[]) {
    return this.git('push', '--quiet', 'origin', ...(args.length ? args : ['HEAD']))
  }
}

async function run(cwd: string, author: string, args: string[]): Promise<Ended> {
  const [name, email] = [author, `${author}@example.com`]
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'true',
    // Otherwise a commit starts two more processes, which find nothing to do.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'maintenance.auto',
    GIT_CONFIG_VALUE_0: 'false',
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
  const program = await launch({ file: 'git', args, cwd, env })
  program.stdin.end()
  const [stdout, stderr, exit] = await Promise.all([text(program.stdout), text(program.stderr), program.closed])
  return { status: exit.status ?? 1, stdout, stderr }
}

/** Puts a hook into a bare repository. */
export async function installHook(path: string, name: string, script: string) {
  await mkdir(join(path, 'hooks'), { recursive: true })
  await writeFile(join(path, 'hooks', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** An event as a timeline shows it. */
export interface Told {
  type: string
  actor: { login: string }
  payload: {
    ref: string
    ref_type: string
    master_branch: string
    before: string
    head: string
    size: number
    distinct_size: number
    push_id: number
    commits: { sha: string; message: string; distinct: boolean; author: { name: string; email: string } }[]
  }
}

/** The timeline of a repository, oldest first, without the making of it. */
export async function eventsOf(person: Person, full_name: string): Promise<Told[]> {
  const events: Told[] = await person.read(`/repos/${full_name}/events`)
  return events.reverse().filter(({ payload }) => payload.ref !== undefined && payload.ref_type !== 'repository')
}

export const lines = (events: Told[]) => events.map(({ type, actor, payload }) => `${actor.login} ${type} ${payload.ref}`)

/** Log, table and disk say the same, and nothing is open. */
export async function assertSettled(forge: Forge, repo_id: number) {
  const { db, storage } = forge.belfry
  const rows = await db.rows<{ name: string; sha: string }>(
    sql`select name, sha from refs where repo_id = ${repo_id} order by name`,
  )
  // Those of pull requests follow from branches, those of imports are kept aside, and nobody pushes either.
  const disk = [...(await storage.refsOf(repo_id))].filter(([name]) => !/^refs\/(pull|import)\//.test(name))
  assert.deepEqual(new Map(rows.map(({ name, sha }) => [name, sha])), new Map(disk))
  assert.deepEqual(await db.rows(sql`select * from pushes`), [])
}

/** A repository of Ada's with nothing in it yet, and a folder to push to it from. */
export async function openEngine(options: { worker?: boolean; settings?: Record<string, string> } = {}) {
  const forge = await openForge(options)
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  const desk = await Desk.open(forge)
  return {
    forge,
    ada,
    id: id as number,
    desk,
    work: await desk.begin(ada, 'ada/engine'),
    async [Symbol.asyncDispose]() {
      await desk[Symbol.asyncDispose]()
      await forge[Symbol.asyncDispose]()
    },
  }
}

/** Commits a folder of so many files, each empty and named by its number, without writing them. */
export async function commitFolder(work: Worktree, files: number) {
  const blob = await work.git('hash-object', '-w', '/dev/null')
  const names = Array.from({ length: files }, (_, file) => `many/${String(file).padStart(6, '0')}`)
  for (let from = 0; from < files; from += 2000) {
    const entries = names.slice(from, from + 2000).flatMap((name) => ['--cacheinfo', `100644,${blob},${name}`])
    await work.git('update-index', '--add', ...entries)
  }
  await work.git('commit', '--quiet', '-m', 'Many')
}

export const zeros = '0'.repeat(40)

/** A line as git sends it: with its length before it. */
export const pkt = (line: string) => `${(Buffer.byteLength(line) + 4).toString(16).padStart(4, '0')}${line}`

const emptyPack = Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex')

/** Sends commands of a push that git itself would not send, for objects that the repository has. */
export async function sendPush({ web }: { web: string }, { token }: Whoever, commands: Command[]) {
  const lines = commands.map(({ ref, before, after }, index) =>
    pkt(`${before} ${after} ${ref}${index ? '' : '\0report-status side-band-64k'}`),
  )
  const answer = await fetch(`${web}/ada/engine.git/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: Buffer.concat([
      Buffer.from(`${lines.join('')}0000`),
      ...(commands.some(({ after }) => after !== zeros) ? [emptyPack] : []),
    ]),
  })
  return { status: answer.status, text: withoutPackets(await answer.text()) }
}

/** Git sends messages in packets of any size, with a length and the number of a band before each. */
const withoutPackets = (text: string) => text.replaceAll(/[0-9a-f]{4}(?!\n)\p{Cc}/gu, '')

/** How many pushes are begun and not over. */
export const openPushes = async ({ belfry: { db } }: Forge) => (await db.rows(sql`select from pushes`)).length
