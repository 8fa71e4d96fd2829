import type { Notes } from '#importer/notes.ts'
import type { Choice, Kind, LayoutPatterns, LeftOut, Remark, Verification } from '#importer/source.ts'
import type { State } from './states.ts'

export type LfsPreference = 'undecided' | 'opt_in' | 'opt_out'

export interface KeptReport {
  default_branch: string | null
  notes: Notes
  /** Missing in reports of older versions. */
  remarks?: Remark[]
  /** Missing in reports of older versions. */
  left_out?: LeftOut[]
  verification: Verification
  /** Set when they are published. */
  branches_count?: number
  /** In git. The source counts its revisions. */
  commits_count?: number
  tags_count?: number
}

export interface Import {
  id: number
  repo_id: number
  requester_id: number | null
  vcs: Kind | null
  vcs_url: string
  svn_root: string | null
  tfvc_project: string | null
  credentials: Buffer | null
  use_lfs: LfsPreference
  verify_all: boolean
  svn_ignore: boolean
  gitattributes: boolean
  svn_layout: LayoutPatterns | null
  keep_deleted: boolean
  /** Known before the report, for Subversion. */
  left_out: LeftOut[] | null
  status: State
  run: number
  active: boolean
  commit_count: number | null
  percent: number | null
  push_percent: number | null
  failed_step: string | null
  message: string | null
  project_choices: Choice[] | null
  large_files_count: number
  large_files_size: number
  authors_count: number
  report: KeptReport | null
  published: Record<string, string> | null
  moving: { from: Record<string, string>; to: Record<string, string> } | null
  correcting: boolean
  created_at: Date
  updated_at: Date
  step_at: Date
  heartbeat_at: Date | null
  finished_at: Date | null
  /** In seconds, without waiting for the user. Null for imports of older versions. */
  worked: number | null
}

export interface CommitAuthor {
  id: number
  remote_id: string
  remote_name: string
  name: string
  email: string
}

export interface Report extends Import {
  report: KeptReport
  /** The authors that were corrected. */
  mapped_authors: CommitAuthor[]
}

/** In seconds. Null until the end. */
export const durationOf = ({ worked, created_at, finished_at }: Import) =>
  finished_at && (worked ?? (finished_at.getTime() - created_at.getTime()) / 1000)

/** Why the last author correction after the end failed; null if it succeeded or is under way. */
export const correctionFailure = ({ status, message }: Import) => (status === 'complete' ? message : null)
