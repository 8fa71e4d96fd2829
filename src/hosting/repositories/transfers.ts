import { checkNotSuspended } from '#identity/access.ts'
import { loadAccountById, type Person } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { endRedirect, type Repository, redirectFrom, writeNamed } from './repositories.ts'
import { endTeamAccess } from './team-access.ts'
import { changingAccess, thisOwner, watchersOf, whoOwns } from './watchers.ts'

/** Runs an act that gives a repository to `owner`. Other transactions cannot change access to the repositories of either side meanwhile. */
export function changingOwner<T>(
  db: Transaction,
  repo: { id: number },
  owner: { id: number },
  act: () => Promise<T>,
): Promise<T> {
  const receivers = sql`
    select id as user_id, ${repo.id}::bigint as repo_id from accounts where id = ${owner.id} and type = 'User'
    union select user_id, ${repo.id} from memberships where org_id = ${owner.id}`
  return changingAccess(db, sql`${whoOwns(repo)} union ${thisOwner(owner)}`, sql`${watchersOf(repo)} union ${receivers}`, act)
}

/** Moves a locked repository. Its teams, its pending transfer and an invitation of the new owner end. */
export async function moveRepository(db: Transaction, mover: { id: number }, repo: Repository, owner: Person, name: string) {
  if (owner.type === 'Organization') checkNotSuspended(await loadAccountById(db, owner.id))
  // Teams are of one organization. They lose access first, because payloads show where the repository was.
  await endTeamAccess(db, mover, { id: repo.owner_id }, sql`repo_id = ${repo.id}`)
  await redirectFrom(db, repo)
  await writeNamed(
    db,
    name,
    sql`update repositories set owner_id = ${owner.id}, name = ${name}, updated_at = ${db.now} where id = ${repo.id}`,
  )
  // A transfer never ends a redirect to another repository, not even if an owner makes it.
  await endRedirect(db, { id: repo.id, owner_id: owner.id }, name, null)
  await db.query(sql`delete from transfers where repo_id = ${repo.id}`)
  // Nobody collaborates on what is their own.
  await db.query(sql`delete from collaborators where repo_id = ${repo.id} and user_id = ${owner.id}`)
  await db.query(sql`delete from invitations where repo_id = ${repo.id} and invitee_id = ${owner.id}`)
}

/** The former owner may push from now on. An organization is no collaborator. */
export async function keepFormerOwner(db: Transaction, repo: Repository) {
  if (repo.owner_type !== 'User') return
  await db.query(sql`
    insert into collaborators (repo_id, user_id, access, created_at) values (${repo.id}, ${repo.owner_id}, 3, ${db.now})
    on conflict do nothing`)
}
