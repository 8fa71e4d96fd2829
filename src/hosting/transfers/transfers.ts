import { publish } from '#activity/publish.ts'
import type { Collaborator } from '#hosting/collaborators/collaborators.ts'
import { findMembership } from '#hosting/organizations/organizations.ts'
import { checkName, lockRepository, type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { changingOwner, keepFormerOwner, moveRepository } from '#hosting/repositories/transfers.ts'
import { checkAccess } from '#identity/access.ts'
import { type Account, accountColumns, loadAccount, type Person, type Viewer } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { type Attached, dropAttached, dropCollaborators, dropKeysOfFormerAdmins, listAttached } from './attached.ts'

/** A repository that is offered to another account, and changes hands when the receiver accepts. */
export interface Transfer {
  id: number
  repo_id: number
  /** Null: the repository keeps its name. */
  new_name: string | null
  created_at: Date
  expires_at: Date
  receiver: Person
  requester: Person
}

export interface WantedTransfer {
  new_owner: string
  new_name?: string | undefined
}

/** Gives the repository at once to an account where the caller may create repositories, and offers it to any other. */
export async function transferRepository(
  db: Transaction,
  viewer: Viewer,
  giver: Account,
  repo: Repository,
  { new_owner, new_name }: WantedTransfer,
): Promise<Repository> {
  const owner = await loadReceiver(db, new_owner)
  if (owner.id === repo.owner_id) {
    throw invalid({ resource: 'Repository', code: 'custom', field: 'new_owner', message: `${owner.login} owns it already` })
  }
  checkTransferable(repo)
  const name = new_name === undefined ? null : checkName(new_name)
  // A fine-grained token is for the account that the repository leaves, and creates nothing in another.
  const bounded = viewer.token_id != null
  if (!bounded && (await mayCreateIn(db, owner, giver))) await give(db, viewer, giver, repo, owner, name)
  else await offer(db, viewer, giver, repo, owner, name)
  // The giver may no longer see the repository.
  const [given] = await readRepositories(db, giver.id, [repo.id])
  if (!given) throw missing()
  return given
}

async function loadReceiver(db: Queryable, login: string): Promise<Account> {
  return loadAccount(db, login).catch((error) => {
    if (!(error instanceof Refusal)) throw error
    throw invalid({ resource: 'Repository', code: 'invalid', field: 'new_owner', message: `there is no account '${login}'` })
  })
}

/** A private fork belongs to its parent, so that its owner cannot give it away. */
function checkTransferable({ forked_from_private }: Repository) {
  if (!forked_from_private) return
  throw invalid({ resource: 'Repository', code: 'custom', message: 'A fork of a private repository cannot be transferred' })
}

async function mayCreateIn(db: Queryable, owner: Account, user: Account): Promise<boolean> {
  return owner.id === user.id || (owner.type === 'Organization' && (await findMembership(db, owner, user)) !== undefined)
}

async function give(db: Transaction, viewer: Viewer, giver: Account, repo: Repository, owner: Account, name: string | null) {
  await changingOwner(db, repo, owner, async () => {
    const held = await lockAsAdmin(db, viewer, repo)
    if (!(await mayCreateIn(db, owner, giver))) throw missing()
    await moveRepository(db, giver, held, owner, name ?? held.name)
    await keepFormerOwner(db, held)
    await dropKeysOfFormerAdmins(db, held)
    await publish(db, giver, held, { act: 'repo.transferred', former_owner_id: held.owner_id })
  })
}

async function lockAsAdmin(db: Transaction, viewer: Viewer, repo: Repository) {
  const held = await lockRepository(db, viewer, repo.id)
  checkAccess(held.access, 'admin')
  return held
}

/** Does not check whether the name is free there: only the receiver may learn that. */
async function offer(db: Transaction, viewer: Viewer, giver: Account, repo: Repository, owner: Account, name: string | null) {
  const held = await lockAsAdmin(db, viewer, repo)
  await db.query(sql`delete from transfers where repo_id = ${held.id}`)
  const made = await db.first<{ id: number }>(sql`
    insert into transfers (repo_id, receiver_id, requester_id, new_name, created_at)
    values (${held.id}, ${owner.id}, ${giver.id}, ${name}, ${db.now}) returning id`)
  const people = await db.rows<{ id: number }>(sql`
    select id from accounts where id = ${owner.id} and type = 'User'
    union select user_id from memberships where org_id = ${owner.id} and role = 'admin'`)
  const facts = { transfer_id: made?.id ?? 0, people: people.map(({ id }) => id) }
  await publish(db, giver, held, { act: 'transfer.offered', ...facts })
}

const goodFor = sql`interval '7 days'`

/** Whether the transfer `f` can still be accepted: in time, and from someone who may still give the repository away. */
const isOpen = (db: Queryable) => sql`f.created_at > ${db.now}::timestamptz - ${goodFor} and exists (
  select from repositories given join accounts giver on giver.id = f.requester_id
  where given.id = f.repo_id and given.owner_id <> f.receiver_id and giver.suspended_at is null
    and access_by_name(f.requester_id, given) >= 5)`

/** Whether a person may answer the transfer `f`: its receiver, or an owner of the organization that receives. */
export const offeredTo = (db: Queryable, user: { id: number }) => sql`(f.receiver_id = ${user.id} or f.receiver_id in (
  select m.org_id from memberships m where m.user_id = ${user.id} and m.role = 'admin')) and ${isOpen(db)}`

const columns = sql`f.id, f.repo_id, f.new_name, f.created_at, f.created_at + ${goodFor} as expires_at,
  json_build_object('id', a.id, 'type', a.type, 'login', a.login, 'site_admin', a.site_admin) as receiver,
  json_build_object('id', b.id, 'type', b.type, 'login', b.login, 'site_admin', b.site_admin) as requester`
const source = sql`transfers f join accounts a on a.id = f.receiver_id join accounts b on b.id = f.requester_id`

export function listOffered(db: Queryable, user: { id: number }, slice: Slice): Promise<Listed<Transfer>> {
  return listed(db, { columns, source: sql`${source} where ${offeredTo(db, user)}`, order: sql`f.id` }, slice)
}

const findBy = (db: Queryable, condition: Sql) => db.first<Transfer>(sql`select ${columns} from ${source} where ${condition}`)

export async function loadOffered(db: Queryable, user: { id: number }, id: number): Promise<Transfer> {
  const found = await findBy(db, sql`f.id = ${id} and ${offeredTo(db, user)}`)
  if (!found) throw missing()
  return found
}

/** The open offer of a repository, for those who administer it. */
export const findTransferOf = (db: Queryable, repo: { id: number }) => findBy(db, sql`f.repo_id = ${repo.id} and ${isOpen(db)}`)

export interface Acceptance {
  new_name?: string | undefined
  /** The former owner may push from then on. */
  keep_former_owner?: boolean | undefined
  keep_collaborators?: boolean | undefined
}

export interface Accepted {
  repo: Repository
  /** What was removed. */
  dropped: Attached
}

/**
 * Takes an offered repository. What its former side attached to it is dropped: webhooks, deploy keys, open invitations, and unless the
 * receiver wants to keep them, collaborators.
 */
export async function acceptTransfer(db: Transaction, accepter: Account, id: number, wanted: Acceptance): Promise<Accepted> {
  const { repo_id, receiver, requester, new_name } = await loadOffered(db, accepter, id)
  const owner = await db.load<Account>(sql`select ${accountColumns} from accounts a where a.id = ${receiver.id}`)
  const dropped = await changingOwner(db, { id: repo_id }, owner, async () => {
    const repo = await lockRepository(db, { viewer_id: requester.id, sees_private: true }, repo_id)
    // Checked again, because access is locked only now.
    const { rowCount } = await db.query(sql`delete from transfers f where f.id = ${id} and ${offeredTo(db, accepter)}`)
    if (!rowCount) throw missing()
    checkTransferable(repo)
    const name = wanted.new_name === undefined ? (new_name ?? repo.name) : checkName(wanted.new_name)
    const attached = await listAttached(db, repo)
    if (!wanted.keep_collaborators) await dropCollaborators(db, accepter, repo, receiver)
    await moveRepository(db, accepter, repo, owner, name)
    await dropAttached(db, repo)
    if (wanted.keep_former_owner) await keepFormerOwner(db, repo)
    await publish(db, accepter, repo, { act: 'repo.transferred', former_owner_id: repo.owner_id })
    const others = (people: Collaborator[]) => people.filter((person) => person.id !== receiver.id)
    const collaborators = wanted.keep_collaborators ? [] : others(attached.collaborators)
    return { ...attached, collaborators, invitations: others(attached.invitations) }
  })
  const [repo] = await readRepositories(db, accepter.id, [repo_id])
  if (!repo) throw missing()
  return { repo, dropped }
}

export async function declineTransfer(db: Transaction, user: Account, id: number) {
  const { repo_id } = await loadOffered(db, user, id)
  await endTransfer(db, { id: repo_id }, id)
}

export async function cancelTransfer(db: Transaction, repo: Repository) {
  const found = await findTransferOf(db, repo)
  if (!found) throw missing()
  await endTransfer(db, repo, found.id)
}

async function endTransfer(db: Transaction, repo: { id: number }, id: number) {
  // The repository first, as when it is deleted, so that the two do not deadlock.
  await db.query(sql`select from repositories where id = ${repo.id} for no key update`)
  const { rowCount } = await db.query(sql`delete from transfers where id = ${id}`)
  if (!rowCount) throw missing()
}
