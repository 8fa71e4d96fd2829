import type { Choice, Found, Kind, Notes, Origin, Progress, Verification } from './source.ts'

/** What a worker process is asked to do, as one line of JSON on its standard input. Its end ends the worker, and all it started. */
export type Order = StepContext &
  (
    | { step: 'detect'; vcs: Kind | null }
    | { step: 'import'; vcs: Kind }
    /** From what was imported to branches and tags as they are to be published. */
    | { step: 'map'; vcs: Kind; use_lfs: 'undecided' | 'opt_in' | 'opt_out'; authors: Correction[]; verify_all: boolean }
    /** Puts the objects into the repository itself; its refs are moved by whoever asked. */
    | { step: 'push'; vcs: Kind; target: string }
    /** After the end: the published branches and tags with other authors, in the repository itself. */
    | { step: 'correct'; target: string; authors: Correction[] }
  )

export interface StepContext {
  origin: Origin
  /** A private folder of this import, on the same disk as the repositories. */
  folder: string
  default_branch: string
  /** What may be connected to, as the setting has it. */
  addresses: string
  /** Whose certificates are trusted besides those that the system knows, in PEM form. */
  certificates: string | null
  /** Where contents of large files are kept. */
  lfs_store: string
}

/** Who commits were by, and who they are to be by. */
export interface Correction {
  original_name: string
  original_email: string
  name: string
  email: string
}

export type WorkerProgress = Progress & { push_percent?: number }

/** What a worker says, each a line of JSON on its standard output; the last is a result or a failure. */
export type WorkerMessage =
  | { progress: WorkerProgress }
  | { result: Result }
  /** A fault is ours: what it was is on standard error. */
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
  /** Branches and tags as they are to be, by name. */
  | { step: 'push'; refs: Record<string, string>; default_branch: string | null }
  | { step: 'correct'; refs: Record<string, string> }

export interface LargeFile {
  ref_name: string
  path: string
  oid: string
  size: number
}
