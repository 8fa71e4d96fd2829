import { execFile, spawn } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { detect } from '#importer/detection.ts'
import type { Kind, LeftOut, Origin } from '#importer/source.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { checkMercurial } from './check-mercurial.ts'
import { checkProjects, checkSubversion } from './check-subversion.ts'

export interface Checked {
  revisions: number
  /** The number of branches, tags and revisions whose files were compared. */
  compared: number
  refs: number
  left_out: LeftOut[]
  /** What differs from the source. */
  differences: string[]
}

export interface Outcome extends Checked {
  name: string
  kind: 'subversion' | 'mercurial'
}

export interface CheckOptions {
  /** The most revisions whose files are compared, besides branches and tags. */
  revisions: number
  keep_deleted?: boolean
  /** Whether the folders in a single trunk are projects. */
  projects?: boolean
}

type Found = { name: string; path: string; kind: 'svn dump' | 'svn' | 'hg' }

/** The dumps and repositories in a folder, by name. */
export async function findConversions(folder: string): Promise<Found[]> {
  const root = resolve(folder)
  const names = isRepository(root) ? [''] : (await readdir(root)).toSorted()
  const found = await Promise.all(names.map((name) => describe(join(root, name))))
  return found.filter((one) => one !== undefined)
}

const isRepository = (path: string) => existsSync(join(path, '.hg')) || isSvnRepository(path)
const isSvnRepository = (path: string) => existsSync(join(path, 'format')) && existsSync(join(path, 'db', 'uuid'))

async function describe(path: string): Promise<Found | undefined> {
  const name = basename(path)
  if ((await stat(path)).isDirectory())
    return existsSync(join(path, '.hg'))
      ? { name, path, kind: 'hg' }
      : isSvnRepository(path)
        ? { name, path, kind: 'svn' }
        : undefined
  await using file = await open(path)
  const { buffer } = await file.read({ buffer: Buffer.alloc(27) })
  const isDump = buffer.toString('latin1').startsWith('SVN-fs-dump-format-version:') || /\.(dump|svn)\.gz$/.test(name)
  return isDump ? { name, path, kind: 'svn dump' } : undefined
}

/** Converts each of them, and compares the results with the sources by the programs of the sources. */
export async function* checkConversions(found: Found[], options: CheckOptions): AsyncGenerator<Outcome> {
  for (const { name, path, kind } of found) {
    try {
      yield* kind === 'hg' ? checkHg(name, path, options) : checkSvn(name, path, kind === 'svn dump', options)
    } catch (error) {
      const failed = { name, kind: kind === 'hg' ? 'mercurial' : 'subversion' } as const
      const nothing = { revisions: 0, compared: 0, refs: 0, left_out: [] }
      yield { ...failed, ...nothing, differences: [`the conversion failed: ${error instanceof Error ? error.message : error}`] }
    }
  }
}

async function* checkHg(name: string, path: string, options: CheckOptions): AsyncGenerator<Outcome> {
  await using server = await startHgServer(path)
  const origin = withOptions(originOf(server.url), options)
  yield { name, kind: 'mercurial', ...(await checkMercurial(path, origin, options)) }
}

async function* checkSvn(name: string, path: string, isDump: boolean, options: CheckOptions): AsyncGenerator<Outcome> {
  await using folder = await openSvnFolder()
  const repository = isDump ? join(folder.path, 'repository') : path
  if (isDump) await loadDump(path, repository)
  try {
    await using server = await startSvnserve(resolve(repository, '..'))
    const origin = withOptions(originOf(`${server.url}${encodeURIComponent(basename(repository))}`), options)
    const projects = await findProjects(origin)
    if (projects.length > 1 || options.projects)
      for await (const { name: part, ...checked } of checkProjects(repository, origin, options))
        yield { name: `${name} (${part}.git)`, kind: 'subversion', ...checked }
    if (options.projects) return
    for (const project of projects) {
      const checked = await checkSubversion(repository, { ...origin, svn_root: project }, options)
      yield { name: project ? `${name} ${project}` : name, kind: 'subversion', ...checked }
    }
  } finally {
    if (isDump) await rm(repository, { recursive: true, force: true })
  }
}

const withOptions = (origin: Origin, { keep_deleted = false }: CheckOptions): Origin => ({ ...origin, keep_deleted })

/** Null for a repository that is one project. */
async function findProjects(origin: Origin): Promise<(string | null)[]> {
  await using workspace = await openWorkspace()
  const detected = await detect(origin, 'subversion' satisfies Kind, workspace)
  if (typeof detected === 'object' && 'found_multiple' in detected)
    return detected.found_multiple.map(({ svn_root = '' }) => svn_root)
  return [typeof detected === 'object' && 'found' in detected ? (detected.found.svn_root ?? null) : null]
}

async function loadDump(path: string, repository: string) {
  await promisify(execFile)('svnadmin', ['create', '--compatible-version', '1.9', repository])
  const load = spawn('svnadmin', ['load', '--quiet', '--bypass-prop-validation', '--no-flush-to-disk', repository], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const errors: Buffer[] = []
  load.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  const ended = new Promise<number | null>((over) => load.once('close', over))
  const source = path.endsWith('.gz') ? [createReadStream(path), createGunzip()] : [createReadStream(path)]
  await pipeline([...source, load.stdin] as unknown as [NodeJS.ReadableStream, NodeJS.WritableStream]).catch(() => {})
  if ((await ended) !== 0) throw new Error(`svnadmin cannot load it: ${Buffer.concat(errors).toString().trim().slice(0, 200)}`)
}

/** The folder of a project in its repository. */
export const pathOfOrigin = ({ svn_root }: Origin) => svn_root ?? ''
