import { publish } from '#activity/publish.ts'
import type { Storage } from '#git/storage.ts'
import { forgetLater, withdrawLater } from '#hosting/pushes/import-refs.ts'
import { checkWritable } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import { findLayoutError } from '#importer/layout-patterns.ts'
import type { Choice, Kind, LayoutPatterns } from '#importer/source.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import { type GivenCredentials, openCredentials, readCredentials, sealCredentials } from './credentials.ts'
import type { Import, LfsPreference } from './import-row.ts'
import {
  type Changes,
  changeStatus,
  checkUntouched,
  deleteImport,
  insertImport,
  lockImport,
  lockImportOf,
  refused,
  reserveId,
} from './import-store.ts'
import { hasContents } from './page-queries.ts'
import { readSourceUrl } from './source-url.ts'
import { type ImportEvent, isOver, isUnderWay } from './states.ts'

type Target = { id: number; archived: boolean }

export interface ImportDeps {
  vault: Vault
  storage: Storage
  policy: Policy
  /** The default for large files. */
  use_lfs: LfsPreference
}

export interface NewImport extends GivenCredentials {
  vcs_url: string
  vcs?: Kind | undefined
  tfvc_project?: string | undefined
  verify_all?: boolean
  svn_ignore?: boolean | undefined
  gitattributes?: boolean | undefined
  svn_layout?: LayoutPatterns | null | undefined
  keep_deleted?: boolean | undefined
}

/** Starts an import into an empty repository. It replaces an earlier import that failed or waits for input. */
export async function startImport(
  db: Transaction,
  deps: ImportDeps,
  repo: Target,
  requester: Account,
  wanted: NewImport,
): Promise<Import> {
  const { vcs = null, verify_all = false, svn_ignore = false, gitattributes = false } = wanted
  const { svn_layout = null, keep_deleted = false } = wanted
  checkLayout(svn_layout)
  const { vcs_url, credentials } = readSourceUrl(wanted.vcs_url, vcs, deps.policy)
  const named = readCredentials(wanted, credentials)
  const tfvc_project = readProject(wanted.tfvc_project) ?? null
  await checkTarget(db, deps.storage, repo)
  await deleteFormerImport(db, requester, repo)
  const id = await reserveId(db)
  const sealed = sealCredentials(deps.vault, id, named)
  return insertImport(db, repo, requester, {
    id,
    vcs,
    vcs_url,
    svn_ignore,
    gitattributes,
    svn_layout,
    keep_deleted,
    tfvc_project,
    verify_all,
    use_lfs: deps.use_lfs,
    credentials: sealed,
  })
}

function readProject(name: string | undefined) {
  if (name !== undefined && !/^[^\p{Cc}/\\]{1,255}$/u.test(name)) {
    throw refused('tfvc_project must be the name of a project', 'tfvc_project')
  }
  return name
}

/** The same rules as in the importer, so that a wrong layout is refused before the import starts. */
function checkLayout(layout: LayoutPatterns | null) {
  if (!layout) return
  const wrong = findLayoutError(layout)
  if (wrong) throw refused(wrong, 'svn_layout')
}

/** Locks the repository until the transaction ends, so that no push is recorded in between. */
async function checkTarget(db: Transaction, storage: Storage, { id }: Target) {
  const repo = await db.first<{ archived: boolean; automation: boolean }>(sql`
    select archived, automation from repositories where id = ${id} for no key update`)
  if (!repo) throw missing()
  checkWritable(repo)
  if (repo.automation)
    throw refused('The repository has automation enabled, and an import would trigger it. Disable automation first.')
  if (!storage.has(id)) {
    throw new Refusal('unavailable', 'The contents of this repository are still being copied. Try again in a moment.')
  }
  if (await hasContents(db, { id })) throw refused('The repository is not empty. Import into a new one.')
}

async function deleteFormerImport(db: Transaction, requester: Account, repo: Target) {
  const present = await lockImport(db, sql`repo_id = ${repo.id}`)
  if (!present) return
  if (isUnderWay(present.status)) throw refused('An import into this repository is in progress. Cancel it first.')
  await deleteImport(db, requester, present)
  await forgetLater(db, repo.id)
}

export interface ImportChanges extends GivenCredentials {
  vcs?: Kind | undefined
  tfvc_project?: string | undefined
  svn_root?: string | undefined
  svn_ignore?: boolean | undefined
  gitattributes?: boolean | undefined
  svn_layout?: LayoutPatterns | null | undefined
  keep_deleted?: boolean | undefined
  human_name?: string | undefined
}

/** Resumes the import with the given values. Without values, or if it did not wait for them, it restarts. */
export async function updateImport(
  db: Transaction,
  deps: ImportDeps,
  editor: Account,
  repo: Target,
  changes: ImportChanges,
): Promise<Import> {
  checkWritable(repo)
  const imported = await lockImportOf(db, repo)
  if (imported.status === 'complete') checkUntouched(imported)
  const { svn_layout = imported.svn_layout, keep_deleted = imported.keep_deleted } = changes
  checkLayout(svn_layout)
  const choice = imported.status === 'detection_found_multiple' ? findChoice(imported, changes) : undefined
  const project = choice ?? { vcs: changes.vcs ?? imported.vcs, ...ownProject(imported, changes) }
  const { vcs_url } = readSourceUrl(imported.vcs_url, project.vcs, deps.policy)
  return changeStatus(db, editor, imported, eventOf(imported, changes, choice), {
    ...resetRun(imported),
    vcs_url,
    vcs: project.vcs,
    svn_root: project.svn_root ?? null,
    svn_ignore: changes.svn_ignore ?? imported.svn_ignore,
    gitattributes: changes.gitattributes ?? imported.gitattributes,
    svn_layout,
    keep_deleted,
    tfvc_project: project.tfvc_project ?? null,
    credentials: changeCredentials(deps.vault, imported, changes),
  })
}

/** The choice that matches all given keys; undefined if no key is given. */
function findChoice({ project_choices }: Import, changes: ImportChanges): Choice | undefined {
  const named = (['vcs', 'tfvc_project', 'svn_root', 'human_name'] as const).filter((key) => changes[key] !== undefined)
  if (!named.length) return undefined
  const meant = (project_choices ?? []).filter((each) => named.every((key) => each[key] === changes[key]))
  const [choice] = meant
  if (!choice || meant.length > 1) throw refused('The choice is ambiguous. Send one of project_choices with all its keys.')
  return choice
}

/** The folder of a Subversion project is meaningless for another kind. */
function ownProject(imported: Import, changes: ImportChanges) {
  const same = changes.vcs === undefined || changes.vcs === imported.vcs
  const tfvc_project = readProject(changes.tfvc_project) ?? imported.tfvc_project
  return { svn_root: same ? imported.svn_root : null, tfvc_project }
}

const hasCredentials = ({ vcs_username, vcs_password }: GivenCredentials) =>
  vcs_username !== undefined || vcs_password !== undefined

function eventOf({ status, vcs }: Import, changes: ImportChanges, choice: Choice | undefined): ImportEvent {
  if (choice) return 'project_chosen'
  const asked = status === 'auth_failed' || status === 'detection_needs_auth'
  const event = asked && hasCredentials(changes) ? 'credentials_given' : 'restarted'
  return (changes.vcs ?? vcs) ? event : `${event}_without_kind`
}

/** The run number grows, so that events of an earlier run are ignored. */
function resetRun({ run }: Import): Changes {
  return {
    ...{ run: run + 1, active: true, correcting: false, commit_count: null, percent: null, push_percent: null },
    ...{ failed_step: null, message: null, project_choices: null, report: null, left_out: null, finished_at: null },
  }
}

function changeCredentials(vault: Vault, imported: Import, changes: GivenCredentials): Buffer | null {
  if (!hasCredentials(changes)) return imported.credentials
  return sealCredentials(vault, imported.id, readCredentials(changes, openCredentials(vault, imported)))
}

/** Deletes the import. The published refs stay; the work in progress is dropped. */
export async function cancelImport(db: Transaction, canceller: Account, repo: { id: number }) {
  const imported = await lockImportOf(db, repo)
  await deleteImport(db, canceller, imported)
  await forgetLater(db, repo.id)
  // The runner may have moved refs that are not recorded yet.
  if (imported.status === 'pushing') await withdrawLater(db, repo.id)
  if (!isOver(imported.status)) {
    await publish(db, canceller, repo, { act: 'import.cancelled', status: 'cancelled' })
  }
}
