import type { CommitComment } from '#hosting/commit-comments/commit-comments.ts'
import type { Comment } from '#hosting/issues/comments/comments.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ReviewComment } from '#hosting/reviews/comments/comments.ts'
import type { Person } from '#identity/accounts.ts'
import { type Database, sql } from '#platform/database.ts'
import type { TimelineEvent } from './event-rows.ts'
import type { IssueFacts, PullFacts } from './facts.ts'

type Owner = 'owner_id' | 'owner_login' | 'owner_type' | 'owner_site_admin'
export type NamedRepository = Pick<Repository, 'id' | 'name' | 'private' | Owner>

/** A comment without the author, whom the event knows by id. */
type Row<C> = Omit<C, 'author' | 'author_association' | 'created_at' | 'updated_at'> & { created_at: number; updated_at: number }

/** Rows of a table as JSON, by id. They are parsed when they are needed. */
export class JsonRows<T> {
  readonly #texts = new Map<number, string>()
  readonly #parsed = new Map<number, T>()

  set(id: number, text: string | null) {
    this.#texts.set(id, text ?? 'null')
  }

  text(id: number): string | undefined {
    return this.#texts.get(id)
  }

  get(id: number): T | undefined {
    const text = this.#texts.get(id)
    if (text === undefined || this.#parsed.has(id)) return this.#parsed.get(id)
    const value = JSON.parse(text)
    this.#parsed.set(id, value)
    return value
  }
}

/** The parts of events that are shown as they are now, by id: names and visibility of accounts and repositories, and texts. */
export interface CurrentRows {
  accounts: JsonRows<Person>
  repositories: JsonRows<NamedRepository>
  issues: JsonRows<string | null>
  milestones: JsonRows<string | null>
  reviews: JsonRows<string>
  releases: JsonRows<string | null>
  comments: JsonRows<Row<Omit<Comment, 'issue_id' | 'issue_number' | 'pull_id'>>>
  review_comments: JsonRows<Row<Omit<ReviewComment, 'pull_number' | 'review_state'>>>
  commit_comments: JsonRows<Row<CommitComment>>
}

/** A row that an event refers to. */
export interface Reference {
  table: keyof CurrentRows
  id: number
}

/** The ids in a payload. */
export type References = Partial<Record<`${Referenced}_id`, number>>
type Referenced =
  | 'member'
  | 'assignee'
  | 'forkee'
  | 'issue'
  | 'pull'
  | 'review'
  | 'release'
  | `${'' | 'review_' | 'commit_'}comment`

/** One statement for all tables: each round trip to the database takes longer than the index lookups. */
export async function loadCurrent(db: Database, references: Reference[]): Promise<CurrentRows> {
  const current: CurrentRows = byTable(() => new JsonRows<never>())
  // Pushes, stars and the like refer to nothing else.
  if (!references.length) return current
  const ids = byTable(() => new Set<number>())
  for (const { table, id } of references) ids[table].add(id)
  const dates = sql`'created_at', epoch(c.created_at), 'updated_at', epoch(c.updated_at)`
  const rows = await db.genericPlanRows<{ source: keyof CurrentRows; id: number; value: string | null }>(sql`
    select c.source, c.id, c.value::text as value from (
    select 'accounts' as source, a.id, json_build_object('id', a.id, 'type', a.type, 'login', a.login, 'site_admin', a.site_admin) as value
    from accounts a where a.id = any(${[...ids.accounts]}::bigint[])
    union all select 'repositories', r.id, json_build_object('id', r.id, 'name', r.name, 'private', r.private,
      'owner_id', o.id, 'owner_login', o.login, 'owner_type', o.type, 'owner_site_admin', o.site_admin)
    from repositories r join accounts o on o.id = r.owner_id where r.id = any(${[...ids.repositories]}::bigint[])
    union all select 'issues', id, to_json(body) from issues where id = any(${[...ids.issues]}::bigint[])
    union all select 'milestones', id, to_json(description) from milestones where id = any(${[...ids.milestones]}::bigint[])
    union all select 'reviews', id, to_json(body) from reviews where id = any(${[...ids.reviews]}::bigint[])
    union all select 'releases', id, to_json(body) from releases where id = any(${[...ids.releases]}::bigint[])
    union all select 'comments', c.id, json_build_object('id', c.id, 'body', c.body, ${dates})
    from comments c where c.id = any(${[...ids.comments]}::bigint[])
    union all select 'review_comments', c.id, json_build_object('id', c.id, 'body', c.body, ${dates}, 'pull_id', c.pull_id,
      'review_id', c.review_id, 'in_reply_to_id', c.in_reply_to_id, 'path', c.path, 'commit_id', c.commit_id,
      'original_commit_id', c.original_commit_id, 'diff_hunk', c.diff_hunk, 'position', c.position, 'line', c.line,
      'start_line', c.start_line, 'side', c.side, 'start_side', c.start_side, 'subject_type', c.subject_type)
    from review_comments c where c.id = any(${[...ids.review_comments]}::bigint[])
    union all select 'commit_comments', c.id, json_build_object('id', c.id, 'body', c.body, ${dates}, 'commit_id', c.commit_id,
      'path', c.path, 'position', c.position, 'line', c.line)
    from commit_comments c where c.id = any(${[...ids.commit_comments]}::bigint[])) c`)
  for (const { source, id, value } of rows) current[source].set(id, value)
  return current
}

function byTable<T>(make: () => T) {
  return {
    ...{ accounts: make(), repositories: make(), issues: make(), milestones: make(), reviews: make() },
    ...{ releases: make(), comments: make(), review_comments: make(), commit_comments: make() },
  }
}

export function referencesOf({ payload, facts }: TimelineEvent): Reference[] {
  const references: Reference[] = []
  const add = (table: keyof CurrentRows, ...ids: (number | undefined)[]) => {
    for (const id of ids) if (id !== undefined) references.push({ table, id })
  }
  const addIssue = ({ author_id, closed_by_id, assignees = [], milestone }: IssueFacts) => {
    add('accounts', author_id, closed_by_id, milestone?.creator_id, ...assignees)
    add('milestones', milestone?.id)
  }
  const addPull = (pull: PullFacts) => {
    addIssue(pull)
    add('accounts', pull.head_owner_id, pull.merged_by_id, ...(pull.requested_reviewers ?? []))
    add('issues', pull.issue_id)
    if (pull.head) add('repositories', pull.head_repo_id)
  }
  const named = payload as References
  const authors = [facts?.review, facts?.comment, facts?.release].map((one) => one?.author_id)
  add('accounts', named.member_id, named.assignee_id, ...authors)
  add('repositories', named.forkee_id)
  add('issues', named.issue_id)
  add('reviews', named.review_id)
  add('releases', named.release_id)
  add('comments', named.comment_id)
  add('review_comments', named.review_comment_id)
  add('commit_comments', named.commit_comment_id)
  if (facts?.issue) addIssue(facts.issue)
  if (facts?.pull) addPull(facts.pull)
  return references
}
