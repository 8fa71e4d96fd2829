import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
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
