import { publish } from '#activity/publish.ts'
import type { Storage } from '#git/storage.ts'
import { forgetLater, withdrawLater } from '#hosting/pushes/import-refs.ts'
import { checkWritable } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Choice, Kind } from '#importer/source.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import {
  beginImport,
  type Changes,
  changeStatus,
  checkUntouched,
  holdImport,
  holdImportOf,
  type Import,
  type LfsPreference,
  refused,
  removeImport,
  reserveId,
} from './changing.ts'
import { openCredentials, readCredentials, sealCredentials, type WantedCredentials } from './credentials.ts'
import { readLocation } from './locations.ts'
import { hasContents } from './looking.ts'
import { type ImportEvent, isOver, isUnderWay } from './states.ts'

export { type Import, importsTopic, loadImport } from './changing.ts'
export { applyEvent, recordProgress } from './progress.ts'

type Target = { id: number; archived: boolean }

/** What imports need to know and to have. */
export interface Means {
  vault: Vault
  storage: Storage
  policy: Policy
  /** What becomes of large files when nobody says. */
  use_lfs: LfsPreference
}

export interface WantedImport extends WantedCredentials {
  vcs_url: string
  vcs?: Kind | undefined
  tfvc_project?: string | undefined
  verify_all?: boolean
  svn_ignore?: boolean | undefined
}

/** Into a repository that is empty. An earlier import that has come to nothing, or stands still, gives way. */
export async function startImport(
  db: Transaction,
  means: Means,
  repo: Target,
  requester: Account,
  wanted: WantedImport,
): Promise<Import> {
  const { vcs = null, verify_all = false, svn_ignore = false } = wanted
  const { vcs_url, credentials } = readLocation(wanted.vcs_url, vcs, means.policy)
  const named = readCredentials(wanted, credentials)
  const tfvc_project = readProject(wanted.tfvc_project) ?? null
  await checkTarget(db, means.storage, repo)
  await makeRoom(db, requester, repo)
  const id = await reserveId(db)
  const sealed = sealCredentials(means.vault, id, named)
  return beginImport(db, repo, requester, {
    id,
    vcs,
    vcs_url,
    svn_ignore,
    tfvc_project,
    verify_all,
    use_lfs: means.use_lfs,
    credentials: sealed,
  })
}

function readProject(name: string | undefined) {
  if (name !== undefined && !/^[^\p{Cc}/\\]{1,255}$/u.test(name)) {
    throw refused('tfvc_project is not the name of a project', 'tfvc_project')
  }
  return name
}

/** Held until the end of the transaction, so that no push is recorded in between. */
async function checkTarget(db: Transaction, storage: Storage, { id }: Target) {
  const repo = await db.first<{ archived: boolean; automation: boolean }>(sql`
    select archived, automation from repositories where id = ${id} for no key update`)
  if (!repo) throw missing()
  checkWritable(repo)
  if (repo.automation) throw refused('The repository has automation enabled, which an import would set off. Disable it first.')
  if (!storage.has(id)) {
    throw new Refusal('unavailable', 'The contents of this repository are still being copied. Try again in a moment.')
  }
  if (await hasContents(db, { id })) throw refused('The repository is not empty. Import into a new one.')
}

async function makeRoom(db: Transaction, requester: Account, repo: Target) {
  const present = await holdImport(db, sql`repo_id = ${repo.id}`)
  if (!present) return
  if (isUnderWay(present.status)) throw refused('An import into this repository is under way. Cancel it first.')
  await removeImport(db, requester, present)
  await forgetLater(db, repo.id)
}

export interface ImportChanges extends WantedCredentials {
  vcs?: Kind | undefined
  tfvc_project?: string | undefined
  svn_root?: string | undefined
  svn_ignore?: boolean | undefined
  human_name?: string | undefined
}

/** Goes on with what was missing; with nothing given, or nothing missing, it begins again. */
export async function updateImport(
  db: Transaction,
  means: Means,
  editor: Account,
  repo: Target,
  changes: ImportChanges,
): Promise<Import> {
  checkWritable(repo)
  const held = await holdImportOf(db, repo)
  if (held.status === 'complete') checkUntouched(held)
  const choice = held.status === 'detection_found_multiple' ? choose(held, changes) : undefined
  const project = choice ?? { vcs: changes.vcs ?? held.vcs, ...ownProject(held, changes) }
  const { vcs_url } = readLocation(held.vcs_url, project.vcs, means.policy)
  return changeStatus(db, editor, held, eventOf(held, changes, choice), {
    ...afresh(held),
    vcs_url,
    vcs: project.vcs,
    svn_root: project.svn_root ?? null,
    svn_ignore: changes.svn_ignore ?? held.svn_ignore,
    tfvc_project: project.tfvc_project ?? null,
    credentials: changeCredentials(means.vault, held, changes),
  })
}

/** The one that has all that is named of it; none when nothing is. */
function choose({ project_choices }: Import, changes: ImportChanges): Choice | undefined {
  const named = (['vcs', 'tfvc_project', 'svn_root', 'human_name'] as const).filter((key) => changes[key] !== undefined)
  if (!named.length) return undefined
  const meant = (project_choices ?? []).filter((each) => named.every((key) => each[key] === changes[key]))
  const [choice] = meant
  if (!choice || meant.length > 1) throw refused('Which project is meant is not clear: send one of project_choices as it is.')
  return choice
}

/** What was found out about one kind says nothing about another. */
function ownProject(held: Import, changes: ImportChanges) {
  const same = changes.vcs === undefined || changes.vcs === held.vcs
  const tfvc_project = readProject(changes.tfvc_project) ?? held.tfvc_project
  return { svn_root: same ? held.svn_root : null, tfvc_project }
}

const isGiven = ({ vcs_username, vcs_password }: WantedCredentials) => vcs_username !== undefined || vcs_password !== undefined

function eventOf({ status, vcs }: Import, changes: ImportChanges, choice: Choice | undefined): ImportEvent {
  if (choice) return 'project_chosen'
  const asked = status === 'auth_failed' || status === 'detection_needs_auth'
  const event = asked && isGiven(changes) ? 'credentials_given' : 'restarted'
  return (changes.vcs ?? vcs) ? event : `${event}_without_kind`
}

/** Whoever is at work on it for an earlier run has nothing more to say. */
function afresh({ run }: Import): Changes {
  return {
    ...{ run: run + 1, active: true, correcting: false, commit_count: null, percent: null, push_percent: null },
    ...{ failed_step: null, message: null, project_choices: null, report: null, finished_at: null },
  }
}

function changeCredentials(vault: Vault, held: Import, changes: WantedCredentials): Buffer | null {
  if (!isGiven(changes)) return held.credentials
  return sealCredentials(vault, held.id, readCredentials(changes, openCredentials(vault, held)))
}

/** What was imported stays where it is; what was on its way is dropped. */
export async function cancelImport(db: Transaction, canceller: Account, repo: { id: number }) {
  const held = await holdImportOf(db, repo)
  await removeImport(db, canceller, held)
  await forgetLater(db, repo.id)
  // Refs may just have been moved that nobody has heard of.
  if (held.status === 'pushing') await withdrawLater(db, repo.id)
  if (!isOver(held.status)) {
    await publish(db, canceller, repo, { act: 'import.cancelled', status: 'cancelled' })
  }
}
