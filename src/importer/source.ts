import type { Egress } from '#platform/outbound/egress.ts'
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
}

/** A kind of source. */
export interface Source {
  /** Checks whether there is a repository at an address. Reads little and changes nothing. */
  probe(origin: Origin, network: Network): Promise<Finding>
  /**
   * Converts the whole history into the bare repository of the workspace, or resumes a killed run. The results are the refs below
   * `refs/import/orig/heads/` and `refs/import/orig/tags/`; other refs are for `arrange`.
   */
  convert(origin: Origin, workspace: Workspace): Promise<Converted>
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
  /** The bare repository in the folder. */
  repository: string
  /** The store of LFS objects, see `hosting/lfs`. */
  lfs_store: string
  /** The name of the default branch, if the source has none. */
  default_branch: string
  onProgress(progress: Progress): void
}

export interface Progress {
  percent?: number
  commit_count?: number
  authors?: Author[]
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

export interface Converted {
  commit_count: number
  /** The name of the default branch, if the source has one. */
  default_branch?: string
  notes: Notes
}

export interface Arranged {
  default_branch?: string
  /** The large blobs, if they are already known. */
  large_blobs?: Blob[]
  /** The LFS objects that were downloaded. */
  lfs_objects?: { oid: string; size: number }[]
  notes: Notes
}

/** Counts of what was left out or changed, by a short name such as `empty folders`. */
export type Notes = Record<string, number>

export interface Verification {
  branches: number
  tags: number
  revisions: number
  files: number
  /** The first hundred differences between source and git. */
  mismatches: { where: string; path: string; what: string }[]
  notes?: Notes
}

/** A failure with a message that tells the user what to do. Any other error is a bug. */
export class ImportFailure extends Error {
  readonly kind: 'error' | 'auth'

  constructor(message: string, kind: 'error' | 'auth' = 'error') {
    super(message)
    this.kind = kind
  }
}
