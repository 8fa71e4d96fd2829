import { type CheckSummary, summarizeChecks } from '#hosting/checks/summaries.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { icon } from '#web/components/icon.ts'
import { type Html, html } from '#web/html.ts'

interface PullFacts {
  issue_id: number
  head_sha: string
  verdict: 'APPROVED' | 'CHANGES_REQUESTED' | null
  requested: boolean
}

/** What reviews and checks say about the pull requests of a list, by the ids of their issues. */
export async function describePulls(db: Queryable, repo: Repository, issues: Issue[]): Promise<Map<number, Html>> {
  const ids = issues.flatMap(({ id, state }) => (state === 'open' ? id : []))
  if (!ids.length) return new Map()
  const rows = await db.rows<PullFacts>(sql`
    select p.issue_id, p.head_sha, exists (select from review_requests q where q.pull_id = p.id) as requested,
      (select max(last.state) from (
        select distinct on (v.author_id) v.state from reviews v
        where v.pull_id = p.id and v.state in ('APPROVED', 'CHANGES_REQUESTED', 'DISMISSED')
        order by v.author_id, v.submitted_at desc, v.id desc) last where last.state <> 'DISMISSED') as verdict
    from pulls p where p.issue_id = any(${ids})`)
  const checks = await summarizeChecks(
    db,
    repo,
    rows.map(({ head_sha }) => head_sha),
  )
  return new Map(rows.map((row) => [row.issue_id, html`${review(row)}${sign(checks.get(row.head_sha))}`]))
}

function review({ verdict, requested }: PullFacts): Html | undefined {
  if (verdict === 'CHANGES_REQUESTED') return html` · Changes requested`
  if (verdict === 'APPROVED') return html` · Approved`
  return requested ? html` · Review requested` : undefined
}

const signs = {
  success: ['check', 'success'],
  failure: ['x', 'danger'],
  pending: ['dot-fill', 'attention'],
} as const

function sign(summary: CheckSummary | undefined): Html | undefined {
  if (!summary) return undefined
  const [name, tone] = signs[summary.state]
  const text = `${summary.succeeded} of ${summary.total} checks passed`
  return html` · <span class="check-sign ${tone}" title="${text}">${icon(name, { label: text })}</span>`
}
