import type { Connection } from './connection.ts'
import { findLayout, isOneBranch, joinPath, type Layout, plainLayout } from './layout.ts'
import { unescapeXml } from './xml.ts'

/** How deep projects are looked for, and in how many folders. */
const deepest = 3
const mostFolders = 200
const atOnce = 8

export interface Repository {
  /** Its address, as Subversion's programs are to call it. */
  root: string
  uuid: string
  /** The newest revision. */
  head: number
  /** Where the address is in it. */
  path: string
}

export async function describeRepository(connection: Connection): Promise<Repository> {
  const info = await connection.svn(['info', '--xml'], connection.url)
  const text = (name: string) => unescapeXml(new RegExp(`<${name}>([^<]*)</${name}>`).exec(info)?.[1] ?? '')
  const relative = text('relative-url').replace(/^\^?\/?/, '')
  const head = Number(/<entry[^>]*revision="(\d+)"/s.exec(info)?.[1] ?? 0)
  return { root: text('root'), uuid: text('uuid'), head, path: decodeURIComponent(relative) }
}

export interface Project {
  path: string
  layout: Layout
}

/** The projects below a path: itself when it has a trunk or there are none. Throws when there is no such folder. */
export async function findProjects(connection: Connection, repository: Repository, path: string): Promise<Project[]> {
  if (isOneBranch(path)) {
    await listFolders(connection, repository, path)
    return [{ path, layout: plainLayout(path) }]
  }
  const found: Project[] = []
  let asked = 0
  let level = [path]
  for (let depth = 0; depth <= deepest && level.length > 0 && asked < mostFolders; depth++) {
    const folders = level.splice(0, mostFolders - asked)
    asked += folders.length
    const next: string[] = []
    for (let at = 0; at < folders.length; at += atOnce) {
      const some = folders.slice(at, at + atOnce)
      const listed = await Promise.all(some.map((folder) => listFolders(connection, repository, folder)))
      for (const [index, names] of listed.entries()) {
        const folder = some[index] ?? ''
        const layout = findLayout(folder, names)
        if (layout) found.push({ path: folder, layout })
        else next.push(...names.filter((name) => !/^(branch(es)?|tags?)$/i.test(name)).map((name) => joinPath(folder, name)))
      }
    }
    // A project has no others in it.
    if (depth === 0 && found.length > 0) break
    level = next
  }
  return found.length > 0 ? found : [{ path, layout: plainLayout(path) }]
}

async function listFolders(connection: Connection, repository: Repository, path: string): Promise<string[]> {
  const listed = await connection.svn(['list', '--xml', '--revision', String(repository.head)], addressOf(repository, path))
  return [...listed.matchAll(/<entry\s+kind="dir">\s*<name>([^<]*)<\/name>/g)].map(([, name = '']) => unescapeXml(name))
}

export function addressOf({ root }: Repository, path: string) {
  return joinPath(root, path.split('/').map(encodeURIComponent).join('/'))
}
