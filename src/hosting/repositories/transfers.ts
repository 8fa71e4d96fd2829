import { unaddressed } from '#hosting/announcements/addresses.ts'
import { announce } from '#hosting/announcements/announcements.ts'
import { simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { type Account, loadAccount, type Sight } from '#hosting/people/people.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { checkName, endRedirect, hold, type Repository, readRepositories, redirectFrom, writeNamed } from './repositories.ts'
import { changingAccess, thisOwner, watchersOf, whoOwns } from './watchers.ts'

/** Gives the repository to another account. The person it came from keeps the right to push. */
export async function transferRepository(
  db: Transaction,
  sight: Sight,
  giver: Account,
  repo: Repository,
  owner: Account,
  new_name: string | undefined,
): Promise<Repository> {
  const receivers = sql`
    select id as user_id, ${repo.id}::bigint as repo_id from accounts where id = ${owner.id} and type = 'User'
    union select user_id, ${repo.id} from memberships where org_id = ${owner.id}`
  return changingAccess(db, sql`${whoOwns(repo)} union ${thisOwner(owner)}`, sql`${watchersOf(repo)} union ${receivers}`, () =>
    writeTransfer(db, sight, giver, repo, owner, new_name),
  )
}

async function writeTransfer(
  db: Transaction,
  sight: Sight,
  giver: Account,
  { id }: Repository,
  owner: Account,
  new_name: string | undefined,
): Promise<Repository> {
  const repo = await hold(db, sight, id)
  if (owner.id === repo.owner_id) {
    throw invalid({ resource: 'Repository', code: 'custom', field: 'new_owner', message: `${owner.login} owns it already` })
  }
  const name = new_name === undefined ? repo.name : checkName(new_name)
  await redirectFrom(db, repo)
  await endRedirect(db, owner.id, name)
  await writeNamed(
    db,
    name,
    sql`update repositories set owner_id = ${owner.id}, name = ${name}, updated_at = ${db.now} where id = ${repo.id}`,
  )
  // Teams are of one organization, and nobody collaborates on what is their own.
  await db.query(sql`delete from team_repositories where repo_id = ${repo.id}`)
  await db.query(sql`delete from collaborators where repo_id = ${repo.id} and user_id = ${owner.id}`)
  await db.query(sql`delete from invitations where repo_id = ${repo.id} and invitee_id = ${owner.id}`)
  if (repo.owner_type === 'User') {
    await db.query(sql`
      insert into collaborators (repo_id, user_id, access, created_at) values (${repo.id}, ${repo.owner_id}, 3, ${db.now})
      on conflict do nothing`)
  }
  const from = await tellOwner(db, repo)
  await announce(db, giver, repo, { event: 'repository', payload: { action: 'transferred', changes: { owner: { from } } } })
  // Who gave it away may be one who sees it no more.
  const [given] = await readRepositories(db, sight.viewer_id, [repo.id])
  if (!given) throw missing()
  return given
}

async function tellOwner(db: Transaction, { owner_login }: Repository) {
  const former = await loadAccount(db, owner_login)
  if (former.type === 'User') return { user: userJson(former, unaddressed) }
  return { organization: simpleOrganizationJson(former, unaddressed) }
}
