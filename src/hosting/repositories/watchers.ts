import type { Person } from '#hosting/people/people.ts'
import { type Sql, sql, type Transaction } from '#platform/database.ts'

/** From this level on, see access.ts, one works here, and wants to hear what happens. */
const push = 3

/**
 * Runs an act that may change who has which access. Whoever comes to push by it watches from then on, unless they have made up their
 * mind before; whoever can see a private repository no more stops watching it. `pairs` are those whom it may concern, as a query of
 * `user_id, repo_id`; `owners`, a query of `owner_id`, are the accounts whose repositories these are.
 */
export async function changingAccess<T>(db: Transaction, owners: Sql, pairs: Sql, act: () => Promise<T>): Promise<T> {
  await takeTurn(db, owners, sql`pg_advisory_xact_lock`)
  const noted = await note(db, pairs)
  const result = await act()
  for (const each of noted) await (each.watching ? stopBlind : startPushing)(db, each)
  return result
}

/** Access to these owners' repositories stays what it is until the transaction ends. */
export async function keepAccess(db: Transaction, owners: Sql) {
  await takeTurn(db, owners, sql`pg_advisory_xact_lock_shared`)
}

/**
 * Access follows from rows of five tables, and two acts that each end one of the ways to a repository would each find the other way
 * open. So acts take turns by the account that owns the repositories, while those who only rely on access share.
 */
async function takeTurn(db: Transaction, owners: Sql, lock: Sql) {
  const turn = sql`
    select ${lock}(${turns}, hashint8(owner_id)) from (select owner_id from (${owners}) listed group by owner_id order by owner_id) o`
  await db.query(turn)
  // A repository may have come to another owner while the first lock was waited for.
  await db.query(turn)
}
const turns = 0x61636373

/** Pairs as two lists, in the database's own spelling: they only go back to it. */
interface Noted {
  /** Those who watch; the others neither could push nor had made up their mind. */
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
    where access_of(p.user_id, r) >= ${push}
    on conflict do nothing`)
}

export const whoOwns = (repo: { id: number }) => sql`select owner_id from repositories where id = ${repo.id}`
export const thisOwner = (owner: { id: number }) => sql`select ${owner.id}::bigint as owner_id`

export const onePair = (user: { id: number }, repo: { id: number }) => sql`
  select ${user.id}::bigint as user_id, ${repo.id}::bigint as repo_id`
export const watchersOf = (repo: { id: number }) => sql`select user_id, repo_id from subscriptions where repo_id = ${repo.id}`

/** Watches for someone who comes to work here; who has made up their mind before is left alone. */
export async function watch(db: Transaction, user: Pick<Person, 'id'>, repo: { id: number }) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select ${user.id}, r.id, ${db.now} from repositories r where r.id = ${repo.id} and access_of(${user.id}, r) > 0
    on conflict do nothing`)
}

/** A new repository of an organization is watched by all who come to push there; there are no teams and collaborators yet. */
export async function watchByMembers(db: Transaction, repo: { id: number }) {
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select m.user_id, r.id, ${db.now}
    from repositories r join accounts o on o.id = r.owner_id join memberships m on m.org_id = o.id
    where r.id = ${repo.id} and (m.role = 'admin' or o.member_access >= ${push})
    on conflict do nothing`)
}
