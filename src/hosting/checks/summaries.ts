import { type Queryable, sql } from '#platform/database.ts'

/** What statuses and check runs say about a commit. */
export interface CheckSummary {
  state: 'success' | 'failure' | 'pending'
  succeeded: number
  total: number
}

/** The checks of many commits, in one statement. A commit without checks is not in the map. */
export async function summarizeChecks(db: Queryable, repo: { id: number }, shas: string[]): Promise<Map<string, CheckSummary>> {
  if (!shas.length) return new Map()
  const rows = await db.rows<{ sha: string; total: number; failed: number; succeeded: number }>(sql`
    select sha, count(*) as total, count(*) filter (where state = 'failure') as failed, count(*) filter (where state = 'success') as succeeded
    from (
      select t.sha, case t.state when 'error' then 'failure' else t.state end as state
      from status_contexts t where t.repo_id = ${repo.id} and t.sha = any(${shas})
      union all
      select r.head_sha, case when r.status <> 'completed' then 'pending' when r.conclusion in ('success', 'neutral', 'skipped') then 'success'
        else 'failure' end
      from check_runs r where r.repo_id = ${repo.id} and r.head_sha = any(${shas}) and r.latest
    ) checks group by sha`)
  return new Map(
    rows.map(({ sha, total, failed, succeeded }) => [
      sha,
      { state: failed ? 'failure' : succeeded === total ? 'success' : 'pending', succeeded, total },
    ]),
  )
}
