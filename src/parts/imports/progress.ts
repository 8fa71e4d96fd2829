import { publish } from '#activity/publish.ts'
import type { Author, Choice, Kind } from '#importer/source.ts'
import type { LargeFile } from '#importer/worker/steps.ts'
import { type Database, json, sql, type Transaction } from '#platform/database.ts'
import { type Changes, changeStatus, holdImport, type Import, type KeptReport } from './changing.ts'
import { storeLargeFiles } from './large-files.ts'
import { hasFailed, type ImportEvent, type Told } from './states.ts'

export type { Told }

/** What comes with it. */
export interface Outcome {
  vcs?: Kind
  /** The address that it is really at. */
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

const longestMessage = 2000

/** What a run tells of its import. One that was begun for an earlier number, or of an import that is gone, changes nothing. */
export async function applyEvent(
  db: Transaction,
  import_id: number,
  run: number,
  event: Told,
  { large_files, ...outcome }: Outcome = {},
): Promise<Import | undefined> {
  const held = await holdImport(db, sql`id = ${import_id} and run = ${run}`)
  if (!held) return undefined
  const happened = event === 'mapped' && held.correcting ? 'mapped_too_early' : event
  const counts = large_files && (await storeLargeFiles(db, held, large_files))
  const { message, vcs_url, ...rest } = outcome
  const actor = { id: held.requester_id ?? 0 }
  const next = await changeStatus(db, actor, held, happened, {
    ...rest,
    ...counts,
    ...(vcs_url && { vcs_url: withoutCredentials(vcs_url) }),
    ...(message !== undefined && { message: message.slice(0, longestMessage).toWellFormed().replaceAll('\0', '') }),
    ...consequencesOf(held, happened, db.now),
  })
  if (hasFailed(next.status)) {
    await publish(db, actor, { id: held.repo_id }, { act: 'import.failed', status: 'failure' })
  }
  return next
}

/** Whether there is more to do by itself, how far that is, and whether the credentials have been of use. */
function consequencesOf({ status, use_lfs, correcting }: Import, event: ImportEvent, now: Date): Changes {
  switch (event) {
    case 'found':
    case 'imported':
      return { active: true, percent: event === 'found' ? 0 : 100 }
    case 'mapped':
      return { active: true, push_percent: 0 }
    case 'mapped_too_early':
      return { active: true }
    // The choice may have been made while it was found out that there is one.
    case 'waits':
      return { active: use_lfs !== 'undecided' }
    case 'pushed':
      return { active: correcting, credentials: null, moving: null, finished_at: now }
    case 'corrected':
      return { active: correcting, moving: null, message: null }
    case 'failed':
      // Who corrected another in the meantime has it tried again.
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

export interface Progressed {
  percent?: number
  commit_count?: number
  push_percent?: number
  authors?: Author[]
}

/** How far a run has come; false when it has nothing more to say. Nothing ever goes back. */
export function recordProgress(db: Database, import_id: number, run: number, progress: Progressed): Promise<boolean> {
  const { percent, commit_count, push_percent, authors = [] } = progress
  return db.transaction(async (transaction) => {
    const heard = await transaction.query(sql`
      update imports set heartbeat_at = ${db.now}, percent = greatest(percent, ${whole(percent)}::integer),
        commit_count = greatest(commit_count, ${commit_count ?? null}::integer),
        push_percent = greatest(push_percent, ${whole(push_percent)}::integer)
      where id = ${import_id} and run = ${run}`)
    if (heard.rowCount && authors.length) await noteAuthors(transaction, import_id, authors)
    return heard.rowCount === 1
  })
}

const whole = (percent: number | undefined) =>
  percent === undefined || Number.isNaN(percent) ? null : Math.min(100, Math.max(0, Math.floor(percent)))

/** In the order in which they first appeared. */
async function noteAuthors(db: Transaction, import_id: number, authors: Author[]) {
  const told = json(authors).replaceAll('\\u0000', '')
  await db.query(sql`
    insert into import_authors (import_id, remote_id, remote_name, original_name, original_email, name, email)
    select ${import_id}, author->>'remote_id', author->>'remote_name', author->>'name', author->>'email', author->>'name', author->>'email'
    from jsonb_array_elements(${told}::jsonb) with ordinality as listed (author, place) order by place
    on conflict (import_id, remote_id) do nothing`)
  await db.query(sql`
    update imports set authors_count = (select count(*) from import_authors where import_id = ${import_id}) where id = ${import_id}`)
}
