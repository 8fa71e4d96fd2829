import type { Egress } from '#platform/outbound/egress.ts'
import type { Blob } from './staging/blobs.ts'

export const kinds = ['git', 'subversion', 'mercurial', 'tfvc'] as const
export type Kind = (typeof kinds)[number]

/** Where a repository is to come from. */
export interface Origin {
  /** Without a user name or password. */
  url: string
  username: string | null
  password: string | null
  /** Below the repository's root, where there is more than one project. */
  svn_root: string | null
  tfvc_project: string | null
  /** Whether lists of what Subversion is to ignore become `.gitignore` files. */
  svn_ignore?: boolean
}

/** One kind of repository elsewhere. */
export interface Source {
  /** Whether there is one at an address; reads little, and changes nothing. */
  probe(origin: Origin, network: Network): Promise<Finding>
  /**
   * Brings the whole history into the workshop's bare repository, or goes on where an earlier run was killed. What is left there is for
   * `arrange`, or for nobody: the refs that count are those below `refs/import/orig/heads/` and `refs/import/orig/tags/`.
   */
  convert(origin: Origin, workspace: Workspace): Promise<Converted>
  /** Makes branches and tags of what was converted, where that is not done with it; can be done again, and gives the same. */
  arrange?(origin: Origin, workspace: Workspace): Promise<Arranged>
  /** Compares branches and tags, and a sample of revisions or all, with what the source itself says of their contents. */
  verify(origin: Origin, workspace: Workspace, all: boolean): Promise<Verification>
}

/** What a step may use. */
export interface Network {
  egress: Egress
  /** Aborted when the import is cancelled, or over its limits. */
  signal: AbortSignal
}

export interface Workspace extends Network {
  /** A private folder of this import. It outlives a killed run: checkpoints are kept here. */
  folder: string
  /** The bare repository in it; nobody else sees it. */
  repository: string
  /** Where contents of large files are kept, see `hosting/lfs`. */
  lfs_store: string
  /** What the branch is called that a clone checks out, where the source has no name for it. */
  default_branch: string
  onProgress(progress: Progress): void
}

/** What is told while it happens; each of these as often as there is something new. */
export interface Progress {
  percent?: number
  commit_count?: number
  authors?: Author[]
}

export type Finding =
  | { found: Found }
  /** Several projects, of which one must be chosen. */
  | { found_multiple: Choice[] }
  | 'nothing'
  /** Something is there that asks who we are, or does not believe it. */
  | 'needs_auth'

export interface Found {
  /** The address that it is really at, when it differs. */
  url?: string
  svn_root?: string
  tfvc_project?: string
  commit_count?: number
}

/** What a caller is shown, and sends back to choose it. */
export interface Choice {
  vcs: Kind
  human_name: string
  svn_root?: string
  tfvc_project?: string
}

/** Somebody whose commits came along: as the source names them, and as our commits do until that is corrected. */
export interface Author {
  remote_id: string
  remote_name: string
  name: string
  email: string
}

export interface Converted {
  commit_count: number
  /** What the default branch is called, where the source says so. */
  default_branch?: string
  notes: Notes
}

export interface Arranged {
  default_branch?: string
  /** Contents that are large, where they are known already. */
  large_blobs?: Blob[]
  /** What came along for the store of large files. */
  lfs_objects?: { oid: string; size: number }[]
  notes: Notes
}

/** What a person should know of the result: how many of what was left out or changed, by a short name such as `empty folders`. */
export type Notes = Record<string, number>

export interface Verification {
  branches: number
  tags: number
  revisions: number
  files: number
  /** Where the source and git differ; the first hundred. */
  mismatches: { where: string; path: string; what: string }[]
  /** What was seen on the way that a person should know of as well. */
  notes?: Notes
}

/** Why a step could not be done, in words that tell a person what to do. Anything else that is thrown is a fault of ours. */
export class ImportFailure extends Error {
  readonly kind: 'error' | 'auth'

  constructor(message: string, kind: 'error' | 'auth' = 'error') {
    super(message)
    this.kind = kind
  }
}
