import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ImportFailure, type Kind, type LayoutPatterns, type Origin } from '#importer/source.ts'
import { openLocalSource } from './local-source.ts'

export interface WantedSource {
  /** An address, or a path of this machine. */
  source: string
  kind: Kind | null
  /** The folder of a Subversion project, or the name of a TFVC project. */
  project: string | null
  username: string | null
  password: string | null
  svn_ignore: boolean
  gitattributes: boolean
  layout: LayoutPatterns | null
  keep_deleted: boolean
  /** Whether each project becomes a repository of its own. */
  projects: boolean
}

export interface OpenedSource extends AsyncDisposable {
  /** For people, and the same in each run. */
  name: string
  detection: { vcs: Kind | null; origin: Origin }
}

/** Finds out how the importer reaches a source. `folder` is private. */
export async function openSource(wanted: WantedSource, folder: string): Promise<OpenedSource> {
  const { source, kind, project, svn_ignore, gitattributes, layout, keep_deleted, projects } = wanted
  const choices = {
    svn_ignore,
    gitattributes,
    layout,
    keep_deleted,
    projects,
    svn_root: kind === 'tfvc' ? null : project,
    tfvc_project: kind === 'subversion' ? null : project,
  }
  const path = pathOf(source)
  if (path === undefined) {
    const { username, password } = wanted
    const origin = { url: source, username, password, ...choices }
    return { name: source, detection: { vcs: kind, origin }, async [Symbol.asyncDispose]() {} }
  }
  if (!existsSync(path)) throw new ImportFailure(`There is no file or folder ${path}.`)
  const local = await openLocalSource(path, folder)
  if (kind && kind !== local.vcs) {
    await local[Symbol.asyncDispose]()
    throw new ImportFailure(`${path} is a ${local.vcs} repository, not a ${kind} one.`)
  }
  return {
    name: pathToFileURL(path).href,
    detection: { vcs: local.vcs, origin: { ...local.origin, ...choices } },
    [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
  }
}

function pathOf(source: string): string | undefined {
  if (source.startsWith('file:')) return fileURLToPath(source)
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(source) ? undefined : resolve(source)
}
