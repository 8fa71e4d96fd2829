import type { Notes } from './notes.ts'
import type { Author, Choice, Found, Kind, LeftOut, Origin, Part, Preview, Progress, Remark, Verification } from './source.ts'

/** An order for a worker process: a line of JSON on its standard input. When the input ends, the worker and its children end. */
export type Order = StepContext &
  (
    | { step: 'detect'; vcs: Kind | null }
    /** Lists the authors, without reading contents where the source allows that. */
    | { step: 'authors'; vcs: Kind }
    /** Reports what the next steps will make, without reading contents. */
    | { step: 'preview'; vcs: Kind }
    /** With `extend`, an import that is complete goes on to what is newest in the source. */
    | { step: 'import'; vcs: Kind; extend?: boolean }
    /** Finds the branches and tags of what was imported, and publishes nothing. */
    | { step: 'arrange'; vcs: Kind }
    /** Makes the branches and tags to publish. */
    | ({ step: 'map'; vcs: Kind; authors: Correction[]; verify_all: boolean } & MapOptions)
    /** Copies the objects into the repository. The caller moves the refs. With `keep_stage`, the stage is made small for a later run. */
    | { step: 'push'; vcs: Kind; target: string; keep_originals?: boolean; keep_stage?: boolean }
    /** After the end: rewrites the published branches and tags with other authors. */
    | { step: 'correct'; target: string; authors: Correction[] }
  )

export interface MapOptions {
  /** `keep` leaves large files in the history. */
  use_lfs: 'undecided' | 'opt_in' | 'opt_out' | 'keep'
  /** The size in bytes beyond which a file is large, if it is not the usual one. */
  large_over?: number
  edits?: EditOptions
}

/** Changes of the history on its way; see `HistoryEdits`. */
export interface EditOptions {
  include: string[]
  exclude: string[]
  since: { revision: number } | { time: number } | null
  /** The address of the source that each commit names, with its revision. */
  source_id: string | null
}

export interface StepContext {
  origin: Origin
  /** The private folder of this import, on the same disk as the repositories. */
  folder: string
  /** The folder of what was read, if it is shared by several parts, and the name of the part; see `Part`. */
  history?: string
  part?: string
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
  | { step: 'authors'; authors: Author[] }
  /** Null for the kinds of sources that cannot tell. */
  | { step: 'preview'; preview: Preview | null }
  | { step: 'import'; commit_count: number; notes: Notes; remarks: Remark[]; parts?: Part[] }
  | { step: 'arrange'; refs: Record<string, string>; left_out: LeftOut[] }
  | { step: 'map'; waits_for_lfs: true; large_files: LargeFile[] }
  | {
      step: 'map'
      default_branch: string | null
      notes: Notes
      remarks: Remark[]
      left_out: LeftOut[]
      verification: Verification
      large_files: LargeFile[]
      lfs_objects: { oid: string; size: number }[]
      /** Branches and tags of which the edits left nothing. */
      dropped: string[]
    }
  /** Branches and tags by name, and how many commits they have. */
  | { step: 'push'; refs: Record<string, string>; default_branch: string | null; commits: number }
  | { step: 'correct'; refs: Record<string, string> }

export interface LargeFile {
  ref_name: string
  path: string
  oid: string
  size: number
}
