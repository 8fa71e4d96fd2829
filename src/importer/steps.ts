import type { Choice, Found, Kind, Notes, Origin, Progress, Verification } from './source.ts'

/** An order for a worker process: a line of JSON on its standard input. When the input ends, the worker and its children end. */
export type Order = StepContext &
  (
    | { step: 'detect'; vcs: Kind | null }
    | { step: 'import'; vcs: Kind }
    /** Makes the branches and tags to publish. */
    | { step: 'map'; vcs: Kind; use_lfs: 'undecided' | 'opt_in' | 'opt_out'; authors: Correction[]; verify_all: boolean }
    /** Copies the objects into the repository. The caller moves the refs. */
    | { step: 'push'; vcs: Kind; target: string }
    /** After the end: rewrites the published branches and tags with other authors. */
    | { step: 'correct'; target: string; authors: Correction[] }
  )

export interface StepContext {
  origin: Origin
  /** The private folder of this import, on the same disk as the repositories. */
  folder: string
  default_branch: string
  /** The addresses that may be connected to, in the syntax of the setting. */
  addresses: string
  /** Additional CA certificates to trust, in PEM. */
  certificates: string | null
  /** The folder of LFS objects. */
  lfs_store: string
}

export interface Correction {
  original_name: string
  original_email: string
  name: string
  email: string
}

export type WorkerProgress = Progress & { push_percent?: number }

/** A message of a worker: a line of JSON on its standard output. The last one is a result or a failure. */
export type WorkerMessage =
  | { progress: WorkerProgress }
  | { result: Result }
  /** A fault is a bug; details are on standard error. */
  | { failure: { kind: 'error' | 'auth' | 'fault'; message: string } }

export type Result =
  | { step: 'detect'; found: Found & { vcs: Kind } }
  | { step: 'detect'; found_multiple: Choice[] }
  | { step: 'detect'; nothing: true }
  | { step: 'detect'; needs_auth: true }
  | { step: 'import'; commit_count: number }
  | { step: 'map'; waits_for_lfs: true; large_files: LargeFile[] }
  | {
      step: 'map'
      default_branch: string | null
      notes: Notes
      verification: Verification
      large_files: LargeFile[]
      lfs_objects: { oid: string; size: number }[]
    }
  /** Branches and tags by name. */
  | { step: 'push'; refs: Record<string, string>; default_branch: string | null }
  | { step: 'correct'; refs: Record<string, string> }

export interface LargeFile {
  ref_name: string
  path: string
  oid: string
  size: number
}
