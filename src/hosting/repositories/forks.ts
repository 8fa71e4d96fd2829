import { publish } from '#activity/publish.ts'
import { copyObjects } from '#hosting/lfs/objects.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { enqueue } from '#platform/queue.ts'
import { createRepository, listRepositories, loadRepositoryById, lockRepository, type Repository } from './repositories.ts'
import { visible } from './visibility.ts'

export interface ForkOptions {
  name?: string | undefined
  default_branch_only?: boolean | undefined
}

/** Forking again returns the existing fork. A job copies the contents. */
export async function forkRepository(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  forker: Account,
  owner: Account,
  options: ForkOptions,
): Promise<Repository> {
  if (owner.id === repo.owner_id) throw forbidden('A repository cannot be forked into the account that owns it.')
  // Concurrent forks take turns, so that the second finds the first.
  await db.query(sql`select from accounts where id = ${owner.id} for no key update`)
  const existing = await db.first<{ id: number }>(sql`
    select id from repositories where network_id = ${repo.network_id} and owner_id = ${owner.id} order by id limit 1`)
  if (existing) return loadRepositoryById(db, viewer, existing.id)
  const fork = await createRepository(db, viewer, owner, {
    name: options.name ?? repo.name,
    description: repo.description,
    homepage: repo.homepage,
    private: repo.private,
    has_issues: false,
  })
  // It may have become private, or hidden from the caller, since the caller named it.
  const parent = await lockRepository(db, viewer, repo.id)
  if (parent.private) await checkMayFork(db, parent)
  await db.query(sql`
    update repositories set parent_id = ${repo.id}, network_id = ${repo.network_id}, default_branch = ${parent.default_branch},
      pushed_at = ${parent.pushed_at}, size = ${parent.size}, language = ${parent.language},
      license = ${parent.license}, private = ${parent.private}, forked_from_private = ${parent.private}
    where id = ${fork.id}`)
  if (!parent.private) await countPublicForks(db, repo.id, 1)
  await copyObjects(db, repo.id, fork.id)
  await publish(db, forker, repo, { act: 'repo.forked', forkee_id: fork.id })
  await publish(db, forker, fork, { act: 'repo.created_as_fork' })
  await enqueue(db, 'copy_repository', {
    from_id: repo.id,
    to_id: fork.id,
    branch: options.default_branch_only ? parent.default_branch : null,
    forker_id: forker.id,
  })
  return loadRepositoryById(db, { ...viewer, sees_private: true }, fork.id)
}

/** The setting of a private repository, and that of its organization. Public repositories can always be forked. */
async function checkMayFork(db: Transaction, { id, owner_login, name }: Repository) {
  const { rowCount } = await db.query(sql`
    select from repositories r join accounts o on o.id = r.owner_id
    where r.id = ${id} and r.allow_forking and o.members_can_fork_private_repositories`)
  if (rowCount) return
  throw forbidden(
    `Forks of ${owner_login}/${name} are not allowed. Ask an admin of the repository or an owner of the organization.`,
  )
}

/** Changes the number of public forks of a parent, when a fork comes, goes or changes its visibility. The caller must have locked the parent. */
export async function countPublicForks(db: Transaction, parent_id: number, more: number) {
  await db.query(sql`update repositories set public_forks_count = public_forks_count + ${more}::integer where id = ${parent_id}`)
}

const orders: Record<string, Sql> = {
  newest: sql`r.created_at desc, r.id desc`,
  oldest: sql`r.created_at, r.id`,
  stargazers: sql`r.stargazers_count desc, r.id desc`,
  watchers: sql`r.stargazers_count desc, r.id desc`,
}

export function listForks(
  db: Queryable,
  viewer: Viewer,
  repo: Repository,
  sort: string,
  slice: Slice,
): Promise<Listed<Repository>> {
  return listRepositories(db, viewer, sql`r.parent_id = ${repo.id}`, orders[sort] ?? sql`r.created_at desc, r.id desc`, slice)
}

/** The repositories of a network that belong to one of these accounts: the repository itself, or forks. */
export function listNetworkOf(db: Queryable, viewer: Viewer, repo: Repository, owners: Account[]): Promise<Listed<Repository>> {
  const ids = owners.map(({ id }) => id)
  const inNetwork = sql`r.network_id = ${repo.network_id} and r.owner_id = any(${ids})`
  return listRepositories(db, viewer, inNetwork, sql`r.id`, { limit: ids.length, offset: 0 })
}

/** The most starred repositories of a network that the viewer may see. */
export function listNetwork(db: Queryable, viewer: Viewer, repo: Repository, slice: Slice): Promise<Listed<Repository>> {
  return listRepositories(db, viewer, sql`r.network_id = ${repo.network_id}`, sql`r.stargazers_count desc, r.id`, slice)
}

/** The root of the network and the parent, if visible to the viewer. */
export async function loadAncestors(db: Queryable, viewer: Viewer, repo: Repository) {
  if (repo.parent_id === null) return undefined
  const related = await listRepositories(
    db,
    viewer,
    sql`(r.id = ${repo.parent_id} or (r.network_id = ${repo.network_id} and r.parent_id is null))`,
    sql`r.id`,
    { limit: 2, offset: 0 },
  )
  const parent = related.rows.find((row) => row.id === repo.parent_id)
  const root = related.rows.find((row) => row.parent_id === null)
  return parent && root ? { parent, source: root } : undefined
}

/** The template that a repository was generated from, if visible to the viewer. */
export async function findTemplate(db: Queryable, viewer: Viewer, repo: Repository): Promise<Repository | undefined> {
  return (await findTemplates(db, viewer, [repo])).get(repo.template_id ?? 0)
}

/** The templates of a page of repositories that are visible to the viewer, by id. */
export async function findTemplates(db: Queryable, viewer: Viewer, repos: Repository[]): Promise<Map<number, Repository>> {
  const ids = [...new Set(repos.flatMap(({ template_id }) => template_id ?? []))]
  if (!ids.length) return new Map()
  const { rows } = await listRepositories(db, viewer, sql`r.id = any(${ids})`, sql`r.id`, { limit: ids.length, offset: 0 })
  return new Map(rows.map((row) => [row.id, row]))
}

/** How many repositories of each network the viewer may see, by the network's id. A network that is not listed has one. */
export async function countNetworks(db: Queryable, viewer: Viewer, repos: Repository[]): Promise<Map<number, number>> {
  const ids = [...new Set(repos.flatMap((repo) => (repo.forked === false ? [] : repo.network_id)))]
  if (!ids.length) return new Map()
  const rows = await db.rows<{ network_id: number; total: number }>(sql`
    select r.network_id, count(*) as total from repositories r where r.network_id = any(${ids}) and ${visible(viewer)} group by r.network_id`)
  return new Map(rows.map((row) => [row.network_id, row.total]))
}
