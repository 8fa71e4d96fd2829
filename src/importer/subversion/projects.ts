import { type Connection, elsewhere } from './connection.ts'
import type { DumpFile } from './dump-file.ts'
import { findLayout, isOneBranch, joinPath, type Layout, plainLayout } from './layout.ts'
import { AccessDenied, type RaSession, text } from './ra-svn.ts'
import { isWord, NoRepository } from './ra-svn-items.ts'
import { findElements, findInside } from './xml.ts'

/** The limits of the search for projects. */
const deepest = 3
const maxFolders = 200
const concurrency = 8

export interface Repository {
  /** The address for Subversion's programs. */
  root: string
  uuid: string
  head: number
  /** The path of the given address in the repository. */
  path: string
}

export function openRepositoryReader(connection: Connection, session: RaSession | undefined) {
  if (connection.file) return readDumpFile(connection.url, connection.file)
  async function quickly<T>(ask: (session: RaSession) => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    try {
      return await (session ? ask(session) : otherwise())
    } catch (error) {
      if (error instanceof AccessDenied || error instanceof NoRepository) return otherwise()
      throw error
    }
  }
  return {
    describe: () =>
      quickly(
        (session) => describeBySession(session, connection.url),
        () => describeBySvn(connection),
      ),
    /** The names of the subfolders. Throws if the folder does not exist. */
    listFolders: (repository: Repository, path: string) =>
      quickly(
        (session) => listBySession(session, repository, path),
        () => listBySvn(connection, repository, path),
      ),
  }
}

function readDumpFile(root: string, { uuid, head, tree }: DumpFile) {
  return {
    describe: async (): Promise<Repository> => ({ root, uuid, head, path: '' }),
    listFolders: async (_repository: Repository, path: string) =>
      tree.list(path, head).entries.flatMap(({ name, folder }) => (folder ? [name] : [])),
  }
}

/** Reads facts about a repository: over ra_svn if possible, otherwise with `svn`, which also reports errors better. */
export type RepositoryReader = ReturnType<typeof openRepositoryReader>

/** Takes only the path from the server's answer, not the host. Later calls are relative to the root. */
async function describeBySession(session: RaSession, url: string): Promise<Repository> {
  const [[head]] = await Promise.all([session.ask('get-latest-rev', ''), session.ask('reparent', text(session.root))])
  const [here, root] = [namesIn(url), namesIn(session.root)]
  if (typeof head !== 'number' || !root.every((name, place) => name === here[place])) throw new NoRepository()
  const path = here.slice(root.length).join('/')
  return { root: joinPath(`svn://${new URL(url).host}`, ...root.map(encodeURIComponent)), uuid: session.uuid, head, path }
}

function namesIn(url: string): string[] {
  try {
    return (URL.parse(url)?.pathname ?? '').split('/').flatMap((name) => (name === '' ? [] : [decodeURIComponent(name)]))
  } catch {
    // Left to `svn`, which handles other encodings.
    throw new NoRepository()
  }
}

async function describeBySvn(connection: Connection): Promise<Repository> {
  const [entry] = findElements(await connection.svn(['info', '--xml'], connection.url), 'entry')
  const text = (name: string) => (entry && findInside(entry, name)?.text) ?? ''
  const path = decodeURIComponent(text('relative-url').replace(/^\^?\/?/, ''))
  const [here, root] = [connection.url, text('root')].map((address) => URL.parse(address))
  // Reported by the server: for svn:// it could name a local file.
  if (root?.protocol !== here?.protocol || root?.host !== here?.host) throw elsewhere()
  return { root: text('root'), uuid: text('uuid'), head: Number(entry?.attributes.revision ?? 0), path }
}

async function listBySession(session: RaSession, { head }: Repository, path: string): Promise<string[]> {
  const [, , entries] = await session.ask('get-dir', `${text(path)} ( ${head} ) false true ( kind )`)
  return (Array.isArray(entries) ? entries : []).flatMap((entry) => {
    const [name, kind] = Array.isArray(entry) ? entry : []
    return typeof name === 'string' && isWord(kind, 'dir') ? [name] : []
  })
}

async function listBySvn(connection: Connection, repository: Repository, path: string): Promise<string[]> {
  const listed = await connection.svn(['list', '--xml', '--revision', String(repository.head)], addressOf(repository, path))
  const folders = findElements(listed, 'entry').filter(({ attributes }) => attributes.kind === 'dir')
  return folders.map((folder) => findInside(folder, 'name')?.text ?? '')
}

export interface Project {
  path: string
  layout: Layout
}

/** The projects below a path; the path itself if it has a trunk or there are no projects. Throws if the folder does not exist. */
export async function findProjects(
  reader: RepositoryReader,
  repository: Repository,
  path: string,
  most = maxFolders,
): Promise<Project[]> {
  if (isOneBranch(path)) {
    await reader.listFolders(repository, path)
    return [{ path, layout: plainLayout(path) }]
  }
  const found: Project[] = []
  let asked = 0
  let level = [path]
  for (let depth = 0; depth <= deepest && level.length > 0 && asked < most; depth++) {
    const folders = level.splice(0, most - asked)
    asked += folders.length
    const next: string[] = []
    for (let at = 0; at < folders.length; at += concurrency) {
      const some = folders.slice(at, at + concurrency)
      const listed = await Promise.all(some.map((folder) => reader.listFolders(repository, folder)))
      for (const [index, names] of listed.entries()) {
        const folder = some[index] ?? ''
        const layout = findLayout(folder, names)
        if (layout) found.push({ path: folder, layout })
        else next.push(...names.filter((name) => !/^(branch(es)?|tags?)$/i.test(name)).map((name) => joinPath(folder, name)))
      }
    }
    // Projects are not nested.
    if (depth === 0 && found.length > 0) break
    level = next
  }
  return found.length > 0 ? found : [{ path, layout: plainLayout(path) }]
}

export function addressOf({ root }: Repository, path: string) {
  return joinPath(root, path.split('/').map(encodeURIComponent).join('/'))
}
