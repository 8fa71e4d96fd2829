import type { Act } from '#activity/acts.ts'
import { recordAudit } from '#activity/audit.ts'
import { publish } from '#activity/publish.ts'
import { enqueueCurrent } from '#hosting/pulls/queue.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { enqueue } from '#platform/queue.ts'
import { waitForKeepers } from './deletion-lock.ts'
import { countPublicForks } from './forks.ts'
import { checkHomepage } from './homepage.ts'
import { detachForks, lockRelatives, takeNetworkTurn } from './network.ts'
import { enqueueDescription, enqueueErasure } from './queue.ts'
import {
  checkName,
  endRedirect,
  loadRepositoryById,
  lockRepository,
  type NewRepository,
  type Repository,
  redirectFrom,
  writeNamed,
} from './repositories.ts'
import { changingAccess, watchersOf, whoOwns } from './watchers.ts'

export interface RepositoryChanges extends Partial<NewRepository> {
  default_branch?: string
  archived?: boolean
  visibility?: 'public' | 'private'
}

/** Changes the given fields only. A former name redirects here. */
export async function updateRepository(
  db: Transaction,
  viewer: Viewer,
  editor: Account,
  repo: Repository,
  changes: RepositoryChanges,
): Promise<Repository> {
  const change = () => writeChanges(db, viewer, editor, repo, changes)
  const hides = changes.visibility ? changes.visibility === 'private' : changes.private
  return hides ? changingAccess(db, whoOwns(repo), watchersOf(repo), change) : change()
}

async function writeChanges(
  db: Transaction,
  viewer: Viewer,
  editor: Account,
  { id }: Repository,
  changes: RepositoryChanges,
): Promise<Repository> {
  if (changes.private !== undefined || changes.visibility) await lockRelatives(db, id)
  checkHomepage(changes.homepage)
  const repo = await lockRepository(db, viewer, id)
  const next = { ...repo, ...changes }
  if (changes.visibility) next.private = changes.visibility === 'private'
  if (repo.private && !next.private) checkMayPublish(repo)
  const name = changes.name === undefined ? repo.name : checkName(changes.name)
  const renamed = name.toLowerCase() !== repo.name.toLowerCase()
  if (renamed) await redirectFrom(db, repo)
  await writeNamed(
    db,
    name,
    sql`
    update repositories set name = ${name}, description = ${next.description}, homepage = ${next.homepage}, private = ${next.private},
      default_branch = ${next.default_branch}, archived = ${next.archived}, is_template = ${next.is_template},
      has_issues = ${next.has_issues}, has_projects = ${next.has_projects}, has_wiki = ${next.has_wiki},
      allow_rebase_merge = ${next.allow_rebase_merge}, allow_squash_merge = ${next.allow_squash_merge},
      allow_merge_commit = ${next.allow_merge_commit}, allow_forking = ${next.allow_forking}, updated_at = ${db.now}
    where id = ${repo.id}`,
  )
  if (repo.private !== next.private && repo.parent_id !== null) await countPublicForks(db, repo.parent_id, next.private ? -1 : 1)
  if (repo.private !== next.private) await detachForks(db, repo)
  if (repo.allow_forking !== next.allow_forking)
    await recordAudit(db, editor, 'repo.change_forking', `${repo.owner_login}/${repo.name}: ${next.allow_forking ? 'on' : 'off'}`)
  if (repo.private && !next.private) await enqueueCurrent(db, { repo_id: repo.id, pusher_id: editor.id })
  if (renamed) await endRedirect(db, repo, name, editor.id)
  if (next.default_branch !== repo.default_branch) {
    await enqueue(db, 'point_head', { repo_id: repo.id })
    await enqueueDescription(db, repo.id)
  }
  await publish(db, editor, repo, ...actsOf(repo, { ...next, name }))
  return loadRepositoryById(db, viewer, repo.id)
}

function actsOf(before: Repository, after: Repository): Act[] {
  const acts: Act[] = []
  if (after.name !== before.name) acts.push({ act: 'repo.renamed', changes: { repository: { name: { from: before.name } } } })
  const edited = edits.filter((field) => after[field] !== before[field])
  const changes = Object.fromEntries(edited.map((field) => [field, { from: before[field] }]))
  if (edited.length) acts.push({ act: 'repo.edited', changes })
  if (after.archived !== before.archived) acts.push({ act: after.archived ? 'repo.archived' : 'repo.unarchived' })
  if (after.private !== before.private) acts.push({ act: after.private ? 'repo.privatized' : 'repo.publicized' })
  return acts
}

const edits = ['description', 'homepage', 'default_branch'] as const

/** A fork of a private repository cannot become public, because its contents belong to the parent. */
function checkMayPublish({ forked_from_private }: Repository) {
  if (!forked_from_private) return
  const message = 'A fork of a private repository stays private'
  throw invalid({ resource: 'Repository', code: 'custom', field: 'visibility', message })
}

/**
 * Its public forks remain: they become forks of its parent, or the oldest becomes the root of the network. Private forks of a private repository
 * become forks of its private parent. Without one they are readable for no one from now on, and a job deletes each of them.
 */
export async function deleteRepository(
  db: Transaction,
  deleter: { id: number },
  { id, network_id }: Pick<Repository, 'id' | 'network_id'>,
) {
  await waitForKeepers(db, { id })
  await takeNetworkTurn(db, id)
  // A concurrent fork waits for this lock, and then finds the repository deleted.
  const held = await db.load<Kin>(sql`select ${kin} from repositories where id = ${id} for update`)
  await publish(db, deleter, { id }, { act: 'repo.deleted' })
  const forks = await db.rows<Kin>(sql`select ${kin} from repositories where parent_id = ${id} order by created_at, id`)
  const follows = held.forked_from_private && held.parent_id !== null
  const orphans = follows ? [] : forks.filter((fork) => fork.forked_from_private)
  const heir = held.parent_id ?? forks.find((fork) => !fork.forked_from_private)?.id
  for (const fork of orphans) await enqueue(db, 'delete_orphaned_fork', { repo_id: fork.id, deleter })
  if (heir && !orphans.length) {
    await db.query(sql`update repositories set parent_id = nullif(${heir}::bigint, id) where parent_id = ${id}`)
    const [come, gone] = [
      forks.filter((fork) => fork.id !== heir && !fork.private).length,
      held.parent_id && !held.private ? 1 : 0,
    ]
    await countPublicForks(db, heir, come - gone)
  }
  await db.query(sql`update hooks set deleted_at = ${db.now} where repo_id = ${id} and deleted_at is null`)
  await db.query(sql`delete from repositories where id = ${id}`)
  await db.query(sql`insert into deleted_repositories (repo_id, private) values (${id}, ${held.private})`)
  await enqueueErasure(db, { id, network_id })
  await enqueue(db, 'forget_repository', { repo_id: id })
}

type Kin = Pick<Repository, 'id' | 'parent_id' | 'private' | 'forked_from_private'>
const kin = sql`id, parent_id, private, forked_from_private`
