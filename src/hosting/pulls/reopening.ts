import { mayCopy } from '#hosting/repositories/crossing.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { enqueueCatchUp } from './queue.ts'

interface Ends {
  id: number
  repo_id: number
  head_repo_id: number | null
  head_ref: string
  /** The recorded head, and the tip of the branch. */
  before: string
  head_sha: string
  head_login: string | null
  base_ref: string
  merged_at: Date | null
  base_there: boolean
  author_id: number | null
}

/**
 * A merged pull request stays merged. To be reopened, one needs a base, and must be the only open one from its head into its base. It then catches up
 * with its branch, if its author and the user who reopens it, with their token, may both see that branch.
 */
export async function reopenPull(db: Transaction, viewer: Viewer, pull_id: number, { id: actor_id }: { id: number }) {
  // Concurrent openings and pushes take turns.
  await db.query(sql`
    select from repositories where id in (select unnest(array[repo_id, head_repo_id]) from pulls where id = ${pull_id})
    order by id for no key update`)
  const pull = await db.first<Ends>(sql`
    select p.id, p.repo_id, p.head_repo_id, p.head_ref, p.head_sha as before, a.login as head_login, p.base_ref, p.merged_at, i.author_id,
      coalesce((select sha from refs f where f.repo_id = p.head_repo_id and f.name = 'refs/heads/' || p.head_ref), p.head_sha) as head_sha,
      exists (select from refs f where f.repo_id = p.repo_id and f.name = 'refs/heads/' || p.base_ref) as base_there
    from pulls p join issues i on i.id = p.issue_id left join accounts a on a.id = p.head_owner_id where p.id = ${pull_id}`)
  if (!pull) return
  if (pull.merged_at) throw refused('state', 'The pull request cannot be reopened because it was merged')
  if (!pull.base_there) throw refused('base', `The ${pull.base_ref} branch was deleted.`)
  await checkAlone(db, pull, pull.head_login ?? 'ghost')
  const { before, repo_id, head_repo_id, author_id } = pull
  const follows = head_repo_id !== null && (await mayCopy(db, head_repo_id, repo_id, [author_id, actor_id], viewer))
  await enqueueCatchUp(db, { pull_id, before, head_sha: follows ? pull.head_sha : before, actor_id })
}

const refused = (field: string, message: string) => invalid({ resource: 'PullRequest', code: 'custom', field, message })

/** There is at most one open pull request from one branch into another. */
export async function checkAlone(
  db: Queryable,
  {
    id = 0,
    repo_id,
    head_repo_id,
    head_ref,
    base_ref,
  }: Pick<Ends, 'repo_id' | 'head_repo_id' | 'head_ref' | 'base_ref'> & { id?: number },
  head_login: string,
) {
  const { rowCount } = await db.query(sql`
    select from pulls p join issues i on i.id = p.issue_id
    where p.head_repo_id = ${head_repo_id} and p.head_ref = ${head_ref} and p.repo_id = ${repo_id} and p.base_ref = ${base_ref}
      and i.state = 'open' and p.id <> ${id} limit 1`)
  if (!rowCount) return
  const message = `A pull request already exists for ${head_login}:${head_ref}.`
  throw invalid({ resource: 'PullRequest', code: 'custom', message })
}
