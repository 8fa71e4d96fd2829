import type { Person } from '#identity/accounts.ts'
import { type Sql, sql, type Transaction } from '#platform/database.ts'

/** Users with at least this level (see access.ts) watch a repository by default. */
const push = 3

/**
 * Runs an act that may change access. A user who gains push access watches the repository, unless they have chosen
 * before; a user who can no longer see a private repository stops watching it. `pairs` are the users and repositories concerned, a query of
 * `user_id, repo_id`; `owners`, a query of `owner_id`, are the accounts whose repositories these are.
 */
export async function changingAccess<T>(db: Transaction, owners: Sql, pairs: Sql, act: () => Promise<T>): Promise<T> {
  await takeTurn(db, owners, sql`pg_advisory_xact_lock`)
  const noted = await note(db, pairs)
  const result = await act()
  for (const each of noted) await (each.watching ? stopBlind : startPushing)(db, each)
  return result
}

/** Keeps access to the repositories of these owners unchanged until the transaction ends. */
export async function keepAccess(db: Transaction, owners: Sql) {
  await takeTurn(db, owners, sql`pg_advisory_xact_lock_shared`)
}

/**
 * Access follows from rows of five tables. Two acts that each remove one source of access would each find the other source
 * in place. So they lock the account that owns the repositories; acts that only rely on access share the lock.
 */
async function takeTurn(db: Transaction, owners: Sql, lock: Sql) {
  const turn = sql`
    select ${lock}(${turns}, hashint8(owner_id)) from (select owner_id from (${owners}) listed group by owner_id order by owner_id) o`
  await db.query(turn)
  // A repository may have moved to another owner while we waited for the first lock.
  await db.query(turn)
}
const turns = 0x61636373

/** Pairs as two lists of text, because they only go back to the database. */
interface Noted {
  /** The user watches; otherwise the user had no push access and no choice of their own. */
  watching: boolean
  users: string
  repos: string
}

function note(db: Transaction, pairs: Sql): Promise<Noted[]> {
  return db.rows(sql`
    select s.user_id is not null as watching, array_agg(p.user_id)::text as users, array_agg(p.repo_id)::text as repos
    from (${pairs}) p join repositories r on r.id = p.repo_id left join subscriptions s on s.user_id = p.user_id and s.repo_id = p.repo_id
    where case when s.user_id is null then access_of(p.user_id, r) < ${push} else not s.ignored end
    group by 1`)
}

async function stopBlind(db: Transaction, { users, repos }: Noted) {
  await db.query(sql`
    delete from subscriptions s using unnest(${users}::bigint[], ${repos}::bigint[]) p (user_id, repo_id), repositories r
    where s.user_id = p.user_id and s.repo_id = p.repo_id and not s.ignored
      and r.id = p.repo_id and r.private and access_of(p.user_id, r) = 0`)
}

async function startPushing(db: Transaction, { users, repos }: Noted) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select p.user_id, p.repo_id, ${db.now}
    from unnest(${users}::bigint[], ${repos}::bigint[]) p (user_id, repo_id) join repositories r on r.id = p.repo_id
    where access_of(p.user_id, r) >= ${push} and ${watchesGiven(sql`p.user_id`)}
    on conflict do nothing`)
}

/** Whether a user wants to watch repositories that they are given push access to. */
const watchesGiven = (user_id: Sql) => sql`not exists (
  select from watching_preferences w where w.user_id = ${user_id} and not w.watches_given)`

export const whoOwns = (repo: { id: number }) => sql`select owner_id from repositories where id = ${repo.id}`
export const thisOwner = (owner: { id: number }) => sql`select ${owner.id}::bigint as owner_id`

export const onePair = (user: { id: number }, repo: { id: number }) => sql`
  select ${user.id}::bigint as user_id, ${repo.id}::bigint as repo_id`
export const watchersOf = (repo: { id: number }) => sql`select user_id, repo_id from subscriptions where repo_id = ${repo.id}`

/** Subscribes the user who created a repository, unless they prefer not to. */
export async function watch(db: Transaction, user: Pick<Person, 'id'>, repo: { id: number }) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select ${user.id}, r.id, ${db.now} from repositories r where r.id = ${repo.id} and access_of(${user.id}, r) > 0
      and not exists (select from watching_preferences w where w.user_id = ${user.id} and not w.watches_created)
    on conflict do nothing`)
}

/** Other members with push access watch a new repository of their organization. It has no teams and collaborators yet. */
export async function watchByMembers(db: Transaction, repo: { id: number }, creator: { id: number | null }) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select m.user_id, r.id, ${db.now}
    from repositories r join accounts o on o.id = r.owner_id join memberships m on m.org_id = o.id
    where r.id = ${repo.id} and (m.role = 'admin' or o.member_access >= ${push}) and m.user_id is distinct from ${creator.id}
      and ${watchesGiven(sql`m.user_id`)}
    on conflict do nothing`)
}
