import { findLayoutError, namesIn } from '#importer/layout-patterns.ts'
import { ImportFailure, type LayoutPatterns } from '#importer/source.ts'
import { fixedFolder } from '#importer/staging/arrange/path-pattern.ts'

/** The folders of branches and tags, from the root of the repository. */
export interface Layout {
  /** The folder that becomes the default branch. */
  trunk: string
  /** Each subfolder of these is a branch or tag, or each folder that matches if there is a `*`. */
  branches: string[]
  tags: string[]
}

export function joinPath(...parts: string[]) {
  return parts.filter((part) => part !== '').join('/')
}

/** Whether a folder is the trunk, a branch or a tag, or inside one. */
export function isInside({ trunk, branches, tags }: Layout, path: string) {
  const folders = [trunk, ...branches.map(fixedFolder), ...tags.map(fixedFolder)]
  return path === trunk || folders.some((folder) => folder === '' || path.startsWith(`${folder}/`))
}

/** The layout of a project that the user chose. */
export function chosenLayout(project: string, layout: LayoutPatterns): Layout {
  const wrong = findLayoutError(layout)
  if (wrong !== undefined) throw new ImportFailure(wrong)
  const below = (path: string) => joinPath(project, ...namesIn(path))
  const { trunk, branches, tags } = layout
  return { trunk: below(trunk), branches: branches.map(below), tags: tags.map(below) }
}

/** Finds the layout from the names of a project's folders; undefined if there is no trunk. */
export function findLayout(project: string, folders: string[]): Layout | undefined {
  const called = (pattern: RegExp) => folders.filter((name) => pattern.test(name)).map((name) => joinPath(project, name))
  const branches = called(/^branch(es)?$/i)
  const tags = called(/^(tags?|releases?)$/i)
  // Common names, which mean a trunk only next to branches or tags.
  const others = branches.length > 0 || tags.length > 0 ? called(/^(main|master|mainline)$/i) : []
  const [trunk] = [...called(/^trunk$/), ...called(/^trunk$/i), ...others]
  return trunk === undefined ? undefined : { trunk, branches, tags }
}

/** The whole folder is the default branch. */
export function plainLayout(path: string): Layout {
  return { trunk: path, branches: [], tags: [] }
}

/** Whether an address is one branch of a project. */
export function isOneBranch(path: string) {
  return /(^|\/)trunk$|(^|\/)branch(es)?\/[^/]+$|(^|\/)tags?\/[^/]+$/i.test(path)
}
