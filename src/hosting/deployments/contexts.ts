import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

/** Refuses to deploy a commit whose contexts have not succeeded: those that are named, or all that it has. */
export async function checkContexts(
  db: Queryable,
  repo: Repository,
  sha: string,
  { ref, required_contexts }: { ref: string; required_contexts: string[] | undefined },
) {
  if (required_contexts?.length === 0) return
  const reported = await db.rows<{ context: string; succeeded: boolean }>(sql`
    select context, bool_and(succeeded) as succeeded from (
      select t.context, t.state = 'success' as succeeded from status_contexts t where t.repo_id = ${repo.id} and t.sha = ${sha}
      union all
      select r.name, coalesce(r.conclusion in ('success', 'neutral', 'skipped'), false) from check_runs r
      where r.repo_id = ${repo.id} and r.head_sha = ${sha} and r.latest) reported
    group by context order by context limit 1000`)
  const passed = new Set(reported.filter(({ succeeded }) => succeeded).map(({ context }) => context))
  const failed = (required_contexts ?? reported.map(({ context }) => context)).filter((context) => !passed.has(context))
  if (!failed.length) return
  throw new Refusal('conflict', `Conflict: Commit status checks failed for ${ref}.`, [
    {
      resource: 'Deployment',
      code: 'invalid',
      field: 'required_contexts',
      message: `These contexts have not succeeded: ${failed.slice(0, 10).join(', ')}`,
    },
  ])
}
