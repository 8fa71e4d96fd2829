/** Where branches and tags are: paths from the repository's root on. */
export interface Layout {
  /** The folder that becomes the default branch. */
  trunk: string
  /** Folders of which each folder in them is a branch, or a tag. */
  branches: string[]
  tags: string[]
}

export function joinPath(...parts: string[]) {
  return parts.filter((part) => part !== '').join('/')
}

/** Whether a folder is in the trunk, in a branch or in a tag, or is one. */
export function isInside({ trunk, branches, tags }: Layout, path: string) {
  return trunk === '' || path === trunk || [trunk, ...branches, ...tags].some((folder) => path.startsWith(`${folder}/`))
}

/** What a project's folders say: undefined when it has no trunk. */
export function findLayout(project: string, folders: string[]): Layout | undefined {
  const called = (pattern: RegExp) => folders.filter((name) => pattern.test(name)).map((name) => joinPath(project, name))
  const branches = called(/^branch(es)?$/i)
  const tags = called(/^(tags?|releases?)$/i)
  // These are ordinary names, but not beside branches or tags.
  const others = branches.length > 0 || tags.length > 0 ? called(/^(main|master|mainline)$/i) : []
  const [trunk] = [...called(/^trunk$/), ...called(/^trunk$/i), ...others]
  return trunk === undefined ? undefined : { trunk, branches, tags }
}

/** One folder that is everything. */
export function plainLayout(path: string): Layout {
  return { trunk: path, branches: [], tags: [] }
}

/** Whether an address names one branch of a project, rather than a project. */
export function isOneBranch(path: string) {
  return /(^|\/)trunk$|(^|\/)branch(es)?\/[^/]+$|(^|\/)tags?\/[^/]+$/i.test(path)
}
