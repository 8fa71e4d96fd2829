import type { Egress } from '#platform/outbound/egress.ts'
import type { Notes } from './notes.ts'
import type { Blob } from './staging/blobs.ts'

export const kinds = ['git', 'subversion', 'mercurial', 'tfvc'] as const
export type Kind = (typeof kinds)[number]

export interface Origin {
  /** Without user name and password. */
  url: string
  username: string | null
  password: string | null
  /** The folder of the project, if the repository has several. */
  svn_root: string | null
  tfvc_project: string | null
  /** Whether `svn:ignore` properties become `.gitignore` files. */
  svn_ignore?: boolean
  /** Whether `svn:eol-style` and the like become `.gitattributes` files. */
  gitattributes?: boolean
  /** Whether the address may be a file of this machine. A server never sets it. */
  local?: boolean
  /** The folders of branches and tags, if they are not to be detected. */
  layout?: LayoutPatterns | null
  /**
   * Whether each project of a Subversion repository becomes a repository of its own; see `Part`. In a layout, `{project}` then stands for the
   * name of a project.
   */
  projects?: boolean
  /**
   * Whether deleted branches and tags of Subversion are kept, as tags `deleted/<name>@<revision>`, and closed branches of Mercurial, as
   * branches `closed/<name>`.
   */
  keep_deleted?: boolean
}

/**
 * Folders of a Subversion project, relative to it. A name in `branches` and `tags` may have `*`, as in `users/*`: each folder that matches
 * is a branch. A folder without `*` is searched for branches.
 */
export interface LayoutPatterns {
  trunk: string
  branches: string[]
  tags: string[]
}

/** One of the repositories that a source with several projects becomes. The history is read once for all of them. */
export interface Part {
  /** The name for its repository, without `.git`. It is the same in each run. */
  name: string
  /** The folder of the project. */
  path: string
  /** Whether it is what belongs to no project. */
  rest?: true
  /** The project no longer exists in the source, so its repository stays as it is. */
  gone?: true
  /** It has no branch and no tag. */
  empty?: true
}

/** A kind of source. */
export interface Source {
  /** Checks whether there is a repository at an address. Reads little and changes nothing. */
  probe(origin: Origin, network: Network): Promise<Finding>
  /** The authors, if they can be listed without the contents. */
  listAuthors?(origin: Origin, workspace: Workspace): Promise<Author[]>
  /**
   * Converts the whole history into the bare repository of the workspace, or resumes a killed run. The results are the refs below
   * `refs/import/orig/heads/` and `refs/import/orig/tags/`; other refs are for `arrange`.
   */
  convert(origin: Origin, workspace: Workspace): Promise<Converted>
  /** Finds out what `convert` and `arrange` will make, without reading contents. */
  preview?(origin: Origin, workspace: Workspace): Promise<Preview>
  /** Makes branches and tags of the converted revisions, if `convert` does not. Repeating it gives the same result. */
  arrange?(origin: Origin, workspace: Workspace): Promise<Arranged>
  /** Compares branches and tags, and a sample of revisions or all, with the contents that the source reports. */
  verify(origin: Origin, workspace: Workspace, all: boolean): Promise<Verification>
}

/** The network access of a step. */
export interface Network {
  egress: Egress
  /** Aborted when the import is cancelled or exceeds a limit. */
  signal: AbortSignal
}

export interface Workspace extends Network {
  /** The private folder of this import. It survives a killed run and holds the checkpoints. */
  folder: string
  /** The folder of what was read: the same one, unless several parts share it. */
  history: string
  /** The name of the part that the step is for. */
  part?: string
  /** The bare repository in the folder of the history. */
  repository: string
  /** The store of LFS objects, see `hosting/lfs`. */
  lfs_store: string
  /** The name of the default branch, if the source has none. */
  default_branch: string
  /** Whether to go on to what is newest in the source, instead of to where an earlier run was to end. */
  extend?: boolean
  onProgress(progress: Progress): void
}

export interface Progress {
  percent?: number
  commit_count?: number
  authors?: Author[]
  /** Known before contents are read. */
  left_out?: LeftOut[]
}

export type Finding =
  | { found: Found }
  /** Several projects, one of which must be chosen. */
  | { found_multiple: Choice[] }
  | 'nothing'
  /** The server asks for credentials, or does not accept those given. */
  | 'needs_auth'

export interface Found {
  /** Set if it differs from the given one. */
  url?: string
  svn_root?: string
  tfvc_project?: string
  commit_count?: number
}

/** The caller sends these values back to choose the project. */
export interface Choice {
  vcs: Kind
  human_name: string
  svn_root?: string
  tfvc_project?: string
}

/** An author of the source, and the name and email in our commits until they are corrected. */
export interface Author {
  remote_id: string
  remote_name: string
  name: string
  email: string
}

/** The result of a conversion, as far as the log of the source tells it. */
export interface Preview {
  commit_count: number
  branches: { name: string; path: string }[]
  tags: { name: string; path: string }[]
  left_out: LeftOut[]
  /** Set if the source lists them without its contents. */
  authors?: Author[]
  /** Set for a source with several projects, with what each of them becomes. Otherwise, the lists above are of all. */
  parts?: PreviewedPart[]
  /** The folders of the trunk, if they may be several projects. */
  likely_projects?: string[]
}

export type PreviewedPart = Part & Omit<Preview, 'parts'>

/** A path whose changes are in no branch and no tag. */
export interface LeftOut {
  /** Ends with a slash if it stands for several paths in a folder. */
  path: string
  /** The first and the last of the revisions that are left out. */
  revisions: [first: number, last: number]
  /** The number of changes. */
  count: number
  reason:
    | 'outside of branches and tags'
    /** The branch was deleted, and no other has its commits. */
    | 'deleted'
    /** The branch was deleted and made again. */
    | 'replaced'
    /** The branch never had a file, so git has no commit for it. */
    | 'empty'
    /** A branch was copied from here, and this folder was changed afterwards. */
    | 'changed after it was copied'
    | 'a name that git refuses'
    /** Changesets of a closed Mercurial branch that was not merged. */
    | 'closed'
}

export interface Converted {
  commit_count: number
  /** The name of the default branch, if the source has one. */
  default_branch?: string
  notes: Notes
  remarks?: Remark[]
  left_out?: LeftOut[]
  parts?: Part[]
}

export interface Arranged {
  default_branch?: string
  /** The large blobs, if they are already known. */
  large_blobs?: Blob[]
  /** The LFS objects that were downloaded. */
  lfs_objects?: { oid: string; size: number }[]
  notes: Notes
  left_out?: LeftOut[]
}

/** Something of the source that git does not have, with its path, for those who go on with the repository. */
export interface Remark {
  what: 'external definition' | 'subrepository' | 'name that is not UTF-8' | 'other line ends'
  path: string
  /** The definition, the address of the subrepository, or the property that asks for other line ends. */
  text: string
  /** The last revision that set it, if the source counts them. */
  revision?: number
}

export const maxRemarks = 200
const maxRemarkText = 1000

/** The latest of a path counts. */
export function addRemark(remarks: Remark[], remark: Remark) {
  dropRemark(remarks, remark.what, remark.path)
  const text = remark.text.slice(0, maxRemarkText).toWellFormed()
  if (remarks.length < maxRemarks) remarks.push({ ...remark, text })
}

export function dropRemark(remarks: Remark[], what: Remark['what'], path: string) {
  const at = remarks.findIndex((each) => each.what === what && each.path === path)
  if (at >= 0) remarks.splice(at, 1)
}

export interface Verification {
  branches: number
  tags: number
  revisions: number
  files: number
  /** How many commits were compared after edits, if there are any; see `compareEdits`. */
  edited?: number
  /** The first differences between source and git. */
  mismatches: { where: string; path: string; what: string }[]
  notes?: Notes
  remarks?: Remark[]
}

export const outOfSpace = 'There is not enough disk space for this repository. Ask an administrator of this server.'

/** A failure with a message that tells the user what to do. Any other error is a bug. */
export class ImportFailure extends Error {
  readonly kind: 'error' | 'auth'

  constructor(message: string, kind: 'error' | 'auth' = 'error') {
    super(message)
    this.kind = kind
  }
}
