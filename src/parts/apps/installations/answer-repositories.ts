import { repositoryJson } from '#hosting/repositories/json.ts'
import { listRepositories } from '#hosting/repositories/repositories.ts'
import { Answer } from '#http/endpoint.ts'
import type { Wire } from '#http/serialization.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Database, type Sql, sql } from '#platform/database.ts'
import type { Slice } from '#platform/listed.ts'
import type { Installation } from './installation.ts'

/** The repositories of an installation, as far as the viewer sees them. */
export async function answerRepositories(
  db: Database,
  viewer: Viewer,
  installation: Installation,
  condition: Sql,
  page: Slice,
  wire: Wire,
) {
  const { rows, total } = await listRepositories(db, viewer, condition, sql`r.id`, page)
  const repositories = rows.map((repo) => repositoryJson(repo, wire, true))
  const repository_selection = installation.all_repositories ? 'all' : 'selected'
  return new Answer({ total_count: total, repository_selection, repositories }, { total })
}
