import { publishInOrganization } from '#activity/publish-in-organization.ts'
import type { Organization } from '#hosting/organizations/organizations.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import { changingAccess, thisOwner } from '#hosting/repositories/watchers.ts'
import type { Account } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { checkSlug, loadTeam, type NewTeam, type Team, taken } from './teams.ts'

export async function updateTeam(db: Transaction, editor: Account, org: Organization, team: Team, wanted: Partial<NewTeam>) {
  const held = await db.load<Required<NewTeam>>(sql`
    select name, description, privacy, access from teams where id = ${team.id} for no key update`)
  const next = { ...held, ...wanted }
  const slug = checkSlug(next.name)
  await db
    .load<{ id: number }>(sql`
    update teams set name = ${next.name.trim()}, slug = ${slug}, description = ${next.description}, privacy = ${next.privacy},
      access = ${next.access}, updated_at = ${db.now}
    where id = ${team.id} returning id`)
    .catch(taken)
  const edited = await loadTeam(db, editor.id, org, slug)
  const changes = changesOf<Required<NewTeam>>(held, edited, 'name', 'description', 'privacy')
  // Payloads have no name for the previous default access.
  if (changes || held.access !== edited.access) {
    await publishInOrganization(db, editor, org, { act: 'team.edited', team_id: team.id, changes: changes ?? {} })
  }
  return edited
}

export async function deleteTeam(db: Transaction, deleter: Account, team: Team) {
  const watching = sql`
    select user_id, repo_id from team_members m join team_repositories t using (team_id) join subscriptions using (user_id, repo_id)
    where team_id = ${team.id}`
  await changingAccess(db, thisOwner({ id: team.org_id }), watching, async () => {
    const { id } = await db.load<{ id: number }>(sql`select id from teams where id = ${team.id} for update`)
    await publishInOrganization(db, deleter, { id: team.org_id }, { act: 'team.deleted', team_id: id })
    await db.query(sql`delete from teams where id = ${id}`)
  })
}
