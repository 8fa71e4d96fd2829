import { publishInOrganization } from '#activity/publish-in-organization.ts'
import { type Sql, sql, type Transaction } from '#platform/database.ts'

/** Ends the access of teams of an organization to repositories. `condition` is about `team_repositories`. */
export async function endTeamAccess(db: Transaction, remover: { id: number }, org: { id: number }, condition: Sql) {
  const ended = await db.rows<{ team_id: number; repo_id: number; access: number }>(sql`
    delete from team_repositories where ${condition} returning team_id, repo_id, access`)
  const removed = ended.map((facts) => ({ act: 'team.removed_from_repository' as const, ...facts }))
  await publishInOrganization(db, remover, org, ...removed)
}
