import { publish } from '#activity/publish.ts'
import type { Author, Choice, Kind, LeftOut } from '#importer/source.ts'
import type { LargeFile } from '#importer/steps.ts'
import { type Database, json, sql, type Transaction } from '#platform/database.ts'
import type { Import, KeptReport } from './import-row.ts'
import { type Changes, changeStatus, lockImport } from './import-store.ts'
import { storeLargeFiles } from './large-files.ts'
import { hasFailed, type ImportEvent, type RunEvent } from './states.ts'

/** The values that an event of a run comes with. */
export interface Outcome {
  vcs?: Kind
  /** After redirects. */
  vcs_url?: string
  svn_root?: string
  tfvc_project?: string
  commit_count?: number
  project_choices?: Choice[]
  large_files?: LargeFile[]
  report?: KeptReport
  published?: Record<string, string> | null
  message?: string
}

const maxMessageLength = 2000

/** Applies an event of a run. Returns undefined if the import is gone or was restarted. */
export async function applyEvent(
  db: Transaction,
  import_id: number,
  run: number,
  event: RunEvent,
  { large_files, ...outcome }: Outcome = {},
): Promise<Import | undefined> {
  const imported = await lockImport(db, sql`id = ${import_id} and run = ${run}`)
  if (!imported) return undefined
  const applied = event === 'mapped' && imported.correcting ? 'mapped_too_early' : event
  const counts = large_files && (await storeLargeFiles(db, imported, large_files))
  const { message, vcs_url, ...rest } = outcome
  const actor = { id: imported.requester_id ?? 0 }
  const next = await changeStatus(db, actor, imported, applied, {
    ...rest,
    ...counts,
    ...(vcs_url && { vcs_url: withoutCredentials(vcs_url) }),
    ...(message !== undefined && { message: message.slice(0, maxMessageLength).toWellFormed().replaceAll('\0', '') }),
    ...consequencesOf(imported, applied, db.now),
  })
  if (hasFailed(next.status)) {
    await publish(db, actor, { id: imported.repo_id }, { act: 'import.failed', status: 'failure' })
  }
  return next
}

/** Whether the import has more to do, its progress, and whether it still needs the credentials. */
function consequencesOf({ status, use_lfs, correcting }: Import, event: ImportEvent, now: Date): Changes {
  switch (event) {
    case 'found':
    case 'imported':
      return { active: true, percent: event === 'found' ? 0 : 100 }
    case 'mapped':
      return { active: true, push_percent: 0 }
    case 'mapped_too_early':
      return { active: true }
    // The preference may have been set while the files were searched.
    case 'waits':
      return { active: use_lfs !== 'undecided' }
    case 'pushed':
      return { active: correcting, credentials: null, moving: null, finished_at: now }
    case 'corrected':
      return { active: correcting, moving: null, message: null }
    case 'failed':
      // Another correction was made meanwhile, so the rewrite is tried again.
      if (status === 'complete') return correcting ? { active: true, message: null } : { active: false }
      return { active: false, correcting: false, credentials: null, failed_step: status, finished_at: now }
    case 'needs_auth':
    case 'auth_failed':
      return { active: false, credentials: null }
    default:
      return { active: false }
  }
}

function withoutCredentials(address: string) {
  const url = new URL(address)
  return Object.assign(url, { username: '', password: '' }).href
}

export interface ProgressUpdate {
  percent?: number
  commit_count?: number
  push_percent?: number
  authors?: Author[]
  left_out?: LeftOut[]
}

/** Records the progress of a run; false if the import is gone or was restarted. Numbers never decrease. */
export function recordProgress(db: Database, import_id: number, run: number, progress: ProgressUpdate): Promise<boolean> {
  const { percent, commit_count, push_percent, authors = [], left_out } = progress
  const left = left_out ? json(left_out).replaceAll('\\u0000', '') : null
  return db.transaction(async (transaction) => {
    const updated = await transaction.query(sql`
      update imports set heartbeat_at = ${db.now}, percent = greatest(percent, ${clampPercent(percent)}::integer),
        commit_count = greatest(commit_count, ${commit_count ?? null}::integer),
        push_percent = greatest(push_percent, ${clampPercent(push_percent)}::integer), left_out = coalesce(${left}::jsonb, left_out)
      where id = ${import_id} and run = ${run}`)
    if (updated.rowCount && authors.length) await insertAuthors(transaction, import_id, authors)
    return updated.rowCount === 1
  })
}

const clampPercent = (percent: number | undefined) =>
  percent === undefined || Number.isNaN(percent) ? null : Math.min(100, Math.max(0, Math.floor(percent)))

/** In the order in which they first appear. */
async function insertAuthors(db: Transaction, import_id: number, authors: Author[]) {
  const authorsJson = json(authors).replaceAll('\\u0000', '')
  await db.query(sql`
    insert into import_authors (import_id, remote_id, remote_name, original_name, original_email, name, email)
    select ${import_id}, author->>'remote_id', author->>'remote_name', author->>'name', author->>'email', author->>'name', author->>'email'
    from jsonb_array_elements(${authorsJson}::jsonb) with ordinality as listed (author, place) order by place
    on conflict (import_id, remote_id) do nothing`)
  await db.query(sql`
    update imports set authors_count = (select count(*) from import_authors where import_id = ${import_id}) where id = ${import_id}`)
}
