import { compareAddress, endText } from '#hosting/pulls/comparisons/views/range-bar.ts'
import { loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { buttonLink } from '#web/components/button.ts'
import { moment } from '#web/components/time.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

/** Milliseconds during which a pushed branch is offered for a pull request. */
const recently = 2 * 3_600_000
/** How many events of the visitor are looked at, and how many branches are offered. */
const mostEvents = 100
const most = 2

interface RecentBranch {
  repo_id: number
  branch: string
  pushed_at: Date
}

/** Branches that the visitor pushed lately to the repository or a fork of it, and that no pull request is open for. */
function listRecentBranches(db: Queryable, repo: Repository, { id }: { id: number }): Promise<RecentBranch[]> {
  return db.rows(sql`
    with own as (
      select e.repo_id, regexp_replace(e.payload->>'ref', '^refs/heads/', '') as branch, e.created_at
      from events e
      where e.actor_id = ${id} and e.created_at > ${new Date(+db.now - recently)} and (e.type = 'PushEvent'
        or (e.type = 'CreateEvent' and e.payload->>'ref_type' = 'branch'))
      order by e.created_at desc, e.id desc limit ${mostEvents})
    select own.repo_id, own.branch, max(own.created_at) as pushed_at
    from own join repositories r on r.id = own.repo_id and (r.id = ${repo.id} or r.parent_id = ${repo.id})
      join refs f on f.repo_id = own.repo_id and f.name = 'refs/heads/' || own.branch
    where own.branch <> ${repo.default_branch} and not exists (
      select from pulls p join issues i on i.id = p.issue_id
      where p.head_repo_id = own.repo_id and p.head_ref = own.branch and (i.state = 'open' or p.head_sha = f.sha))
    group by own.repo_id, own.branch order by pushed_at desc limit ${most}`)
}

/** Offers to open pull requests from branches that the visitor just pushed. */
export async function recentBranches(visit: Visit, repo: Repository): Promise<Html | undefined> {
  if (!visit.visitor || repo.archived) return undefined
  const found = await listRecentBranches(visit.db, repo, visit.visitor)
  if (!found.length) return undefined
  const heads = await Promise.all(
    found.map(({ repo_id }) => (repo_id === repo.id ? repo : loadRepositoryById(visit.db, viewerOf(visit), repo_id))),
  )
  const shown = found.map(({ branch, pushed_at }, index) => {
    const head = heads[index] ?? repo
    const name = head.id === repo.id ? branch : `${head.owner_login}:${branch}`
    const address = `${compareAddress({ repo }, repo.default_branch, endText({ repo }, head, branch))}?expand=1`
    return banner(
      html`<div class="recent-branch"><span><strong>${name}</strong> had recent pushes ${moment(pushed_at)}</span>${buttonLink('Compare & pull request', address, { kind: 'primary', size: 'small' })}</div>`,
      'accent',
    )
  })
  return html`<div class="recent-branches">${shown}</div>`
}
