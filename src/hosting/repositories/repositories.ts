import { Moved } from '#http/moved.ts'
import { checkNotSuspended } from '#identity/access.ts'
import { type Account, loadAccountById, type Person, type Viewer } from '#identity/accounts.ts'
import { codeOf, empty, type Queryable, type Reader, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { checkHomepage } from './homepage.ts'
import { accessTo, hasAccessByName, ownerSuspended, visible } from './visibility.ts'
import { keepAccess, thisOwner, watch, watchByMembers } from './watchers.ts'

export interface Repository {
  id: number
  owner_id: number
  owner_login: string
  owner_type: Account['type']
  owner_site_admin: boolean
  /** The owner is a suspended organization, so the repository is read-only. Not in every list. */
  owner_suspended?: boolean
  name: string
  description: string | null
  homepage: string | null
  private: boolean
  network_id: number
  parent_id: number | null
  /** It is private, and readable only with access to its parent. */
  forked_from_private: boolean
  allow_forking: boolean
  /** The template that it was generated from. */
  template_id: number | null
  default_branch: string
  archived: boolean
  /** Another system runs when this is pushed to, see automation.ts. */
  automation: boolean
  is_template: boolean
  has_issues: boolean
  has_projects: boolean
  has_wiki: boolean
  allow_rebase_merge: boolean
  allow_squash_merge: boolean
  allow_merge_commit: boolean
  topics: string[]
  /** The main language of the default branch, and the key of its license. */
  language: string | null
  license: string | null
  size: number
  /** The forks that the viewer may see. */
  forks_count: number
  stargazers_count: number
  subscribers_count: number
  open_issues_count: number
  pushed_at: Date | null
  created_at: Date
  updated_at: Date
  /** The viewer's level of access, see access.ts. */
  access: number
  /** Whether its network has other repositories. Not in every list. */
  forked?: boolean
}

/** Counts public forks, and private ones to which the viewer has access. */
const forksSeen = (viewer: Viewer) =>
  viewer.viewer_id === null || !viewer.sees_private
    ? sql`r.public_forks_count`
    : sql`r.public_forks_count + (
        select count(*) from repositories f where f.parent_id = r.id and f.private and ${hasAccessByName(viewer, sql`f`)})`

const columns = (viewer: Viewer) => sql`
  r.*, o.login as owner_login, o.type as owner_type, o.site_admin as owner_site_admin, ${ownerSuspended} as owner_suspended,
  ${accessTo(viewer)} as access,
  ${forksSeen(viewer)} as forks_count`

/** The fields of a repository that a list of notifications or subscriptions shows. */
export type RepositoryName = Pick<
  Repository,
  'id' | 'name' | 'owner_id' | 'owner_login' | 'owner_type' | 'owner_site_admin' | 'private' | 'description' | 'parent_id'
>

const nameColumns = sql`r.id, r.name, r.owner_id, o.login as owner_login, o.type as owner_type, o.site_admin as owner_site_admin, r.private,
  r.description, r.parent_id`

/** Whether its network has other repositories. Most have none, and their network needs no count. */
export const forkedColumn = sql`exists (select from repositories n where n.network_id = r.network_id and n.id <> r.id) as forked`

const source = sql`repositories r join accounts o on o.id = r.owner_id`

/** The one rule of visibility, for a row. In the statement it would compute the access twice. */
const isVisible = (viewer: Viewer, repo: Repository) => !repo.private || (viewer.sees_private && repo.access > 0)

async function findRepository(db: Reader, viewer: Viewer, condition: Sql): Promise<Repository | undefined> {
  const [found] = await db.genericPlanRows<Repository>(
    sql`select ${columns(viewer)}, ${forkedColumn} from ${source} where ${condition}`,
  )
  return found && isVisible(viewer, found) ? found : undefined
}

/** A hidden repository is refused like a missing one. */
export async function loadRepository(db: Reader, viewer: Viewer, owner: string, name: string): Promise<Repository> {
  // The owner is a scalar, so that the index of names is always used with both of its columns.
  const found = await findRepository(
    db,
    viewer,
    sql`r.owner_id = (select a.id from accounts a where lower(a.login) = lower(${owner})) and lower(r.name) = lower(${name})`,
  )
  if (found) return found
  // The owner, the repository, or both may have had another name.
  const moved = await db.first<Moved['to'] & { place: number }>(sql`
    with former as (select account_id as id from former_logins where login = lower(${owner})),
      owners as (select id from accounts where lower(login) = lower(${owner}) union all select id from former),
      found as (
        select r.id, 0 as place from repositories r join accounts a on a.id = r.owner_id
        where lower(a.login) = lower(${owner}) and lower(r.name) = lower(${name})
        union all
        select r.id, 1 from repositories r join former on former.id = r.owner_id where lower(r.name) = lower(${name})
        union all
        select d.repo_id, 2 from repository_redirects d join owners on owners.id = d.owner_id where d.name = lower(${name}))
    select r.id, o.login as owner, r.name, found.place from found join ${source} on r.id = found.id where ${visible(viewer)}
    order by found.place limit 1`)
  if (!moved) throw missing()
  const { place, ...to } = moved
  // A rename that ended after the first statement gave it this name, and ended the redirect.
  if (place === 0) return loadRepositoryById(db, viewer, to.id)
  throw new Moved(to)
}

export async function loadRepositoryById(db: Reader, viewer: Viewer, id: number): Promise<Repository> {
  const found = await findRepository(db, viewer, sql`r.id = ${id}`)
  if (!found) throw missing()
  return found
}

export interface ListOptions {
  columns?: Sql
  /** Rows `s` of repositories, such as the stars of a user. */
  among?: Sql
  /** An index has the list in its order, see Database.genericPlanRows. */
  indexed?: boolean
}

/** A page of the repositories that meet `condition` (on `r`) and are visible to the viewer. */
export function listRepositories<More extends object = object>(
  db: Queryable,
  viewer: Viewer,
  condition: Sql,
  order: Sql,
  slice: Slice,
  options: ListOptions = {},
): Promise<Listed<Repository & More>> {
  return listed(
    db,
    { ...shownTo(viewer, condition, options), columns: sql`${columns(viewer)}${options.columns ?? empty}`, order },
    slice,
  )
}

/** The same with the fields of RepositoryName only. */
export function listRepositoryNames(
  db: Queryable,
  viewer: Viewer,
  condition: Sql,
  order: Sql,
  slice: Slice,
  options: ListOptions = {},
): Promise<Listed<RepositoryName>> {
  return listed(db, { ...shownTo(viewer, condition, options), columns: nameColumns, order }, slice)
}

/**
 * With `among`, the repository of each row is looked up by its id. The lateral query and the subquery of the count force that: in a join, the
 * planner starts from all repositories of the server while they are few (1.5 ms instead of 0.3).
 */
function shownTo(viewer: Viewer, condition: Sql, { among, indexed = false }: ListOptions) {
  if (!among) {
    const shown = sql`where ${condition} and ${visible(viewer)}`
    return { source: sql`${source} ${shown}`, counted: sql`repositories r ${shown}`, indexed }
  }
  return {
    source: sql`${among} cross join lateral (select * from repositories where id = s.repo_id offset 0) r join accounts o on o.id = r.owner_id
      where ${condition} and ${visible(viewer)}`,
    counted: sql`${among} where ${condition} and (select ${visible(viewer)} from repositories r where r.id = s.repo_id)`,
    indexed,
  }
}

/** A repository without a viewer's access, for callers that have checked it: computing access takes three times as long. */
export const repositoryColumns = sql`r.*, o.login as owner_login, o.type as owner_type, o.site_admin as owner_site_admin, 0 as access,
  r.public_forks_count as forks_count`
export { source as repositorySource }

/** Repositories by id, without a check of visibility: for example, an invitation shows a hidden repository. */
export function readRepositories(db: Queryable, viewer_id: number | null, ids: number[]): Promise<Repository[]> {
  return db.rows(sql`select ${columns({ viewer_id, sees_private: true })} from ${source} where r.id = any(${ids})`)
}

export interface NewRepository {
  name: string
  description?: string | null
  homepage?: string | null
  private?: boolean
  is_template?: boolean
  has_issues?: boolean
  has_projects?: boolean
  has_wiki?: boolean
  allow_rebase_merge?: boolean
  allow_squash_merge?: boolean
  allow_merge_commit?: boolean
  allow_forking?: boolean
}

/** Taken before the transaction when contents must be written to disk first. */
export async function reserveId(db: Queryable): Promise<number> {
  const row = await db.first<{ id: number }>(sql`select nextval(pg_get_serial_sequence('repositories', 'id')) as id`)
  if (!row) throw new Error('no id was reserved')
  return row.id
}

export async function createRepository(db: Transaction, viewer: Viewer, owner: Person, wanted: NewRepository, id?: number) {
  const name = checkName(wanted.name)
  checkHomepage(wanted.homepage)
  if (owner.type === 'Organization') checkNotSuspended(await loadAccountById(db, owner.id))
  const repo_id = id ?? (await reserveId(db))
  await keepAccess(db, thisOwner(owner))
  await writeNamed(
    db,
    name,
    sql`
    insert into repositories (id, owner_id, name, description, homepage, private, network_id, is_template, has_issues, has_projects,
      has_wiki, allow_rebase_merge, allow_squash_merge, allow_merge_commit, allow_forking, created_at, updated_at, pushed_at)
    values (${repo_id}, ${owner.id}, ${name}, ${wanted.description ?? null}, ${wanted.homepage ?? null}, ${wanted.private ?? false}, ${repo_id},
      ${wanted.is_template ?? false}, ${wanted.has_issues ?? true}, ${wanted.has_projects ?? true}, ${wanted.has_wiki ?? true},
      ${wanted.allow_rebase_merge ?? true}, ${wanted.allow_squash_merge ?? true}, ${wanted.allow_merge_commit ?? true},
      ${wanted.allow_forking ?? true}, ${db.now}, ${db.now}, ${db.now})`,
  )
  await endRedirect(db, { id: repo_id, owner_id: owner.id }, name, viewer.viewer_id)
  if (owner.type === 'Organization') await makeCreatorAdmin(db, owner, repo_id, viewer.viewer_id)
  if (viewer.viewer_id !== null) await watch(db, { id: viewer.viewer_id }, { id: repo_id })
  if (owner.type === 'Organization') await watchByMembers(db, { id: repo_id }, { id: viewer.viewer_id })
  return loadRepositoryById(db, { ...viewer, sees_private: true }, repo_id)
}

/** A member who creates a repository in an organization becomes its admin; owners are admins anyway. */
async function makeCreatorAdmin(db: Transaction, org: Person, repo_id: number, creator_id: number | null) {
  await db.query(sql`
    insert into collaborators (repo_id, user_id, access, created_at)
    select ${repo_id}, user_id, 5, ${db.now} from memberships where org_id = ${org.id} and user_id = ${creator_id} and role = 'member'
    for key share`)
}

/** Locks the repository until the transaction ends, so that concurrent changes take turns. */
export async function lockRepository(db: Transaction, viewer: Viewer, id: number): Promise<Repository> {
  await db.query(sql`select from repositories where id = ${id} for no key update`)
  return loadRepositoryById(db, viewer, id)
}

/** Runs a statement that sets the name of a repository, and refuses when the name is taken. */
export async function writeNamed(db: Transaction, name: string, statement: Sql) {
  try {
    await db.query(statement)
  } catch (error) {
    throw codeOf(error) === '23505' ? nameTaken(name) : error
  }
}

export function nameTaken(name: string) {
  const message = `name already exists on this account: ${name}`
  return invalid({ resource: 'Repository', code: 'custom', field: 'name', message })
}

export async function redirectFrom(db: Transaction, repo: Repository) {
  await db.query(sql`
    insert into repository_redirects (owner_id, name, repo_id) values (${repo.owner_id}, lower(${repo.name}), ${repo.id})
    on conflict (owner_id, name) do update set repo_id = excluded.repo_id`)
}

/**
 * Ends the redirect from a name that a repository gets. If it leads to another repository, only an owner of the account may end it, and for
 * everyone else the name is taken, because they must not divert users who follow the redirect. Called after the name is written, because a
 * concurrent rename may have freed it.
 */
export async function endRedirect(
  db: Transaction,
  repo: { id: number; owner_id: number },
  name: string,
  actor_id: number | null,
) {
  const redirect = sql`d.owner_id = ${repo.owner_id} and d.name = lower(${name})`
  const found = await db.first<{ owned: boolean }>(sql`
    select d.repo_id = ${repo.id} or coalesce(d.owner_id = ${actor_id}, false) or exists (
      select from memberships m where m.org_id = d.owner_id and m.user_id = ${actor_id} and m.role = 'admin') as owned
    from repository_redirects d where ${redirect}`)
  if (found && !found.owned) throw nameTaken(name)
  if (found) await db.query(sql`delete from repository_redirects d where ${redirect}`)
}

/** Characters that a name may not contain become hyphens, as clients expect. */
export function checkName(wanted: string) {
  const name = wanted.trim().replaceAll(/[^a-z0-9._-]+/gi, '-')
  if (name === '' || name === '.' || name === '..' || name.length > 100 || /\.(git|wiki|atom)$/i.test(name)) {
    const message = 'name must be 1 to 100 letters, digits, dots, hyphens or underscores, and not end in .git, .wiki or .atom'
    throw invalid({ resource: 'Repository', code: 'invalid', field: 'name', message })
  }
  return name
}
