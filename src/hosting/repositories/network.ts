import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { loadRepositoryById, type Repository } from './repositories.ts'

/** A repository of the same network, by its owner and, if the owner has several, its name; undefined if it is missing or hidden. */
export async function findInNetwork(
  db: Queryable,
  viewer: Viewer,
  repo: Repository,
  owner: string,
  name: string | undefined,
): Promise<Repository | undefined> {
  const same = owner.toLowerCase() === repo.owner_login.toLowerCase()
  if (same && (name === undefined || name.toLowerCase() === repo.name.toLowerCase())) return repo
  const found = await db.first<{ id: number }>(sql`
    select r.id from repositories r join accounts o on o.id = r.owner_id
    where r.network_id = ${repo.network_id} and lower(o.login) = lower(${owner})
      and lower(r.name) = coalesce(lower(${name ?? null}), lower(r.name)) order by r.id limit 1`)
  return found && loadRepositoryById(db, viewer, found.id).catch(nothing)
}

function nothing(error: unknown) {
  if (error instanceof Refusal) return undefined
  throw error
}

/** A lock for transactions that change several repositories of a network: without it, two of them would deadlock. */
export async function takeNetworkTurn(db: Transaction, id: number) {
  const turn = sql`select pg_advisory_xact_lock(${networkTurns}, hashint8(network_id)) from repositories where id = ${id}`
  await db.query(turn)
  // The repository may have gone to another network while we waited for the first lock.
  await db.query(turn)
}
const networkTurns = 0x64656c65

/**
 * Locks a repository with its parent, which counts its public forks, and with all forks below it. In the order of ids, like pull requests, so that
 * there is no deadlock.
 */
export async function lockRelatives(db: Transaction, id: number) {
  await takeNetworkTurn(db, id)
  await db.query(sql`
    with recursive branch (id) as (
      select ${id}::bigint union all select r.id from repositories r join branch b on r.parent_id = b.id)
    select from repositories where id in (select id from branch union all select parent_id from repositories where id = ${id})
    order by id for no key update`)
}

/**
 * Ends the relation of a locked repository to its forks, when it changes its visibility. Public forks remain together: the oldest becomes the
 * root of their network. Each private fork stands alone. So a fork is private whenever its parent is, and then `forked_from_private`.
 */
export async function detachForks(db: Transaction, { id }: { id: number }) {
  const open = await db.rows<{ id: number }>(sql`
    select id from repositories where parent_id = ${id} and not private order by created_at, id`)
  const heir = open[0]
  if (heir) {
    await db.query(
      sql`update repositories set parent_id = ${heir.id} where parent_id = ${id} and not private and id <> ${heir.id}`,
    )
    await db.query(sql`
      update repositories set public_forks_count = case when id = ${id} then 0 else public_forks_count + ${open.length - 1}::integer end
      where id in (${id}, ${heir.id})`)
  }
  await db.query(sql`select detach_fork(id) from repositories where parent_id = ${id}`)
}
