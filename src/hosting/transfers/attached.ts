import { publish } from '#activity/publish.ts'
import type { Collaborator } from '#hosting/collaborators/collaborators.ts'
import { personColumns } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'

/** What the former side of a transfer attached to a repository. */
export interface Attached {
  webhooks: { id: number; host: string }[]
  deploy_keys: { id: number; title: string; read_only: boolean }[]
  collaborators: Collaborator[]
  /** Who is invited, and could accept after the transfer. */
  invitations: Collaborator[]
}

/** How many of each are named; all of them are dropped. */
const most = 100

/** Lists only the host of a webhook, because its address may contain a secret of the former owner. */
export async function listAttached(db: Queryable, { id }: { id: number }): Promise<Attached> {
  const hooks = await db.rows<{ id: number; url: string }>(sql`
    select id, url from hooks where repo_id = ${id} and deleted_at is null order by id limit ${most}`)
  const deploy_keys = await db.rows<Attached['deploy_keys'][number]>(sql`
    select id, title, read_only from ssh_keys where repo_id = ${id} order by id limit ${most}`)
  const collaborators = await db.rows<Collaborator>(sql`
    select ${personColumns}, c.access from collaborators c join accounts a on a.id = c.user_id
    where c.repo_id = ${id} order by lower(a.login) limit ${most}`)
  const invitations = await db.rows<Collaborator>(sql`
    select ${personColumns}, i.access from invitations i join accounts a on a.id = i.invitee_id
    where i.repo_id = ${id} order by lower(a.login) limit ${most}`)
  return { webhooks: hooks.map((hook) => ({ id: hook.id, host: hostOf(hook.url) })), deploy_keys, collaborators, invitations }
}

/** `belfry:listen` has no host. */
const hostOf = (url: string) => URL.parse(url)?.host || url

/** Removes all collaborators. Called before the repository moves, because hooks of the former side learned that they were added. */
export async function dropCollaborators(
  db: Transaction,
  accepter: { id: number },
  repo: { id: number },
  receiver: { id: number },
) {
  const gone = await db.rows<{ member_id: number }>(sql`
    delete from collaborators where repo_id = ${repo.id} and user_id <> ${receiver.id} returning user_id as member_id`)
  if (gone.length) await publish(db, accepter, repo, ...gone.map((facts) => ({ act: 'member.removed' as const, ...facts })))
}

/** Drops everything but collaborators. Deliveries from before the transfer are still sent. */
export async function dropAttached(db: Transaction, repo: { id: number }) {
  await db.query(sql`update hooks set deleted_at = ${db.now} where repo_id = ${repo.id} and deleted_at is null`)
  await db.query(sql`delete from ssh_keys where repo_id = ${repo.id}`)
  await db.query(sql`delete from invitations where repo_id = ${repo.id}`)
  // An import that is under way would fill the receiver's repository with what the former side chose.
  await db.query(sql`delete from imports where repo_id = ${repo.id} and status <> 'complete'`)
}

/** A deploy key ends when the user who added it is no longer an admin. */
export async function dropKeysOfFormerAdmins(db: Transaction, repo: { id: number }) {
  await db.query(sql`
    delete from ssh_keys k using repositories r
    where k.repo_id = ${repo.id} and r.id = k.repo_id and coalesce(access_by_name(k.added_by, r), 0) < 5`)
}
