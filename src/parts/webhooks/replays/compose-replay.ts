import { actionOf } from '#activity/outbox/outbox.ts'
import { writePayload } from '#hosting/payloads/compose-payloads.ts'
import type { News } from '#hosting/payloads/news.ts'
import { ghost } from '#hosting/payloads/payload-context.ts'
import { loadMentioned, type Mentioned } from '#hosting/payloads/referenced-records.ts'
import { loadToldPulls } from '#hosting/pulls/pulls.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'

/** What somebody did some time ago. */
export interface Happened {
  repo_id: number
  actor_id: number
  news: News[]
}

/** What is told of it now. */
export interface Composed {
  repo_id: number
  event: string
  action: string | null
  body: string
}

/** Writes what is told of each, from what there is now; nothing of what is about something that is gone. */
export async function compose(db: Queryable, happened: Happened[]): Promise<Composed[][]> {
  const repos = byId(await readRepositories(db, null, [...new Set(happened.map(({ repo_id }) => repo_id))]))
  const ids = [...happened.map(({ actor_id }) => actor_id), ...[...repos.values()].map(({ owner_id }) => owner_id)]
  const people = byId(await db.rows<Account>(sql`select ${accountColumns} from accounts a where a.id = any(${ids})`))
  const namings = happened.flatMap(({ repo_id, news }) => news.map(({ payload }) => ({ repo_id, payload })))
  const mentioned = await loadMentioned(db, namings, loadToldPulls)
  return happened.map(({ repo_id, actor_id, news }) => {
    const repo = repos.get(repo_id)
    if (!repo) return []
    const [sender, owner] = [people.get(actor_id) ?? ghost, people.get(repo.owner_id) ?? ghost]
    return news
      .filter((one) => isThere(one, repo, mentioned))
      .map((one) => ({
        ...{ repo_id, event: one.event, action: actionOf(one) },
        body: writePayload(one, { repo, mentioned }, { sender, owner }),
      }))
  })
}

function byId<Row extends { id: number }>(rows: Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** Where what is named by id is found. */
const places: Record<string, keyof Mentioned> = {
  forkee_id: 'repositories',
  member_id: 'people',
  assignee_id: 'people',
  release_id: 'releases',
  issue_id: 'issues',
  comment_id: 'comments',
  label_id: 'labels',
  pull_id: 'pulls',
  review_id: 'reviews',
  review_comment_id: 'review_comments',
  commit_comment_id: 'commit_comments',
}

function isThere({ payload }: News, repo: Repository, mentioned: Mentioned) {
  const named = Object.entries(payload).every(([key, id]) => {
    const place = places[key]
    return !place || mentioned[place].has(id as number)
  })
  // A fork that was made private is no more for everyone who has the repository to see.
  const forkee = 'forkee_id' in payload ? mentioned.repositories.get(payload.forkee_id) : undefined
  return named && (!forkee?.private || repo.private)
}
