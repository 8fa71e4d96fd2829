import { json, type Sql, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** Why somebody is told of something, the strongest first. */
export const reasons = [
  'mention',
  'review_requested',
  'assign',
  'team_mention',
  'author',
  'state_change',
  'comment',
  'invitation',
  'manual',
  'subscribed',
] as const
export type Reason = (typeof reasons)[number]

/** What people are told about, by its id. */
export type Subject =
  | { type: 'Issue' | 'PullRequest'; issue_id: number }
  | { type: 'Release'; release_id: number }
  | { type: 'RepositoryInvitation'; invitation_id: number }
  | { type: 'RepositoryTransfer'; transfer_id: number }
  | { type: 'RepositoryImport'; import_id: number; title: string }
  | { type: 'Webhook'; hook_id: number; title: string }
  /** Of a commit the database knows nothing: the first line of its message, and whose it is when that is somebody here. */
  | { type: 'Commit'; commit_id: string; title: string; author_id: number | null }

export interface Rule {
  /** Whether those hear of it who watch the repository or take part, or only those whom it concerns and who are mentioned. */
  audience: 'everyone' | 'concerned'
  /** Whoever does it takes part from then on, for this reason. */
  joins?: Reason
  /** Why those are told whom it concerns. */
  concerns?: Reason
  /** The person it concerns did it: it changes the reason of their thread, which stays read or unread. */
  own?: true
}

export const rules = {
  opened: { audience: 'everyone', joins: 'author', concerns: 'assign' },
  commented: { audience: 'everyone', joins: 'comment' },
  reviewed: { audience: 'everyone', joins: 'comment' },
  closed: { audience: 'everyone', joins: 'state_change' },
  reopened: { audience: 'everyone', joins: 'state_change' },
  merged: { audience: 'everyone', joins: 'state_change' },
  pushed: { audience: 'everyone' },
  published: { audience: 'everyone', joins: 'author' },
  imported: { audience: 'everyone' },
  assigned: { audience: 'concerned', concerns: 'assign' },
  review_requested: { audience: 'concerned', concerns: 'review_requested' },
  // The spec has no reason for a request that waits for an answer.
  invited: { audience: 'concerned', concerns: 'subscribed' },
  offered: { audience: 'concerned', concerns: 'subscribed' },
  paused: { audience: 'concerned', concerns: 'subscribed' },
  accepted: { audience: 'concerned', concerns: 'invitation', own: true },
  edited: { audience: 'concerned' },
} satisfies Record<string, Rule>

export type NoticeAct = keyof typeof rules

/** An act that people are told of. */
export interface Notice {
  act: NoticeAct
  /** What was written, in Markdown: those who are mentioned in it hear of it. */
  body?: string | null
  /** What it was before it was changed: who was mentioned there is not told again. */
  body_before?: string | null
  /** Whom it concerns, see `concerns`. */
  people?: number[]
  teams?: number[]
  /** What was said, for the address of the latest comment. */
  said?: { type: 'IssueComment' | 'PullRequestReview' | 'PullRequestReviewComment' | 'CommitComment'; id: number }
}

/**
 * The one door to everybody's inbox: notes, in the transaction of the act itself, that people are to be told of it, and asks for that to be
 * done. Acts on one subject take turns here, so that its notices are told in the order in which they happened.
 */
export async function notify(
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  subject: Subject,
  ...notices: Notice[]
) {
  if (!notices.length) return
  // What is changed is not the newest for that.
  const newest = notices.findLast(({ act, said }) => said && act !== 'edited')
  const subject_id = await putSubject(db, repo, subject, newest?.said)
  const rows = together(notices).map(({ act, body, body_before, people = [], teams = [], said }) => ({
    ...{ act, body, body_before, people, teams },
    ...{ comment_type: said?.type, comment_id: said?.id },
  }))
  const noted = await db.rows<{ id: number }>(sql`
    insert into notification_events (subject_id, actor_id, act, people, teams, body, body_before, comment_type, comment_id, created_at)
    select ${subject_id}, ${actor.id}, act, people, teams, body, body_before, comment_type, comment_id, ${db.now}
    from jsonb_to_recordset(${json(rows)}::jsonb)
      as listed (act text, people bigint[], teams bigint[], body text, body_before text, comment_type text, comment_id bigint)
    returning id`)
  const last = Math.max(...noted.map(({ id }) => id))
  await join(db, subject_id, actor.id, last, ...notices.flatMap((notice) => joiningReasons(notice, actor)))
  // Whoever wrote a commit is told of this very notice.
  if (subject.type === 'Commit' && subject.author_id) await join(db, subject_id, subject.author_id, 0, 'author')
  await enqueue(db, 'tell', { subject_id }, { key: `tell ${subject_id}` })
}

async function putSubject(db: Transaction, repo: { id: number }, subject: Subject, said: Notice['said']): Promise<number> {
  const { column, value, target = column, title = null } = keyOf(subject)
  const row = await db.first<{ id: number }>(sql`
    insert into notification_subjects as s (repo_id, type, ${column}, title, latest_type, latest_id)
    values (${repo.id}, ${subject.type}, ${value}, ${title}, ${said?.type ?? null}, ${said?.id ?? null}::bigint)
    on conflict (${target}) where ${column} is not null do update
      set type = excluded.type, latest_type = coalesce(excluded.latest_type, s.latest_type),
        latest_id = coalesce(excluded.latest_id, s.latest_id)
    returning id`)
  if (!row) throw new Error(`no ${subject.type} to tell of`)
  return row.id
}

/** What it is known by, by itself or with its repository, and what it is called where nothing else says so. */
function keyOf(subject: Subject): { column: Sql; value: number | string; target?: Sql; title?: string } {
  switch (subject.type) {
    case 'Commit':
      return { column: sql`commit_id`, value: subject.commit_id, target: sql`repo_id, commit_id`, title: subject.title }
    case 'Release':
      return { column: sql`release_id`, value: subject.release_id }
    case 'RepositoryInvitation':
      return { column: sql`invitation_id`, value: subject.invitation_id }
    case 'RepositoryTransfer':
      return { column: sql`transfer_id`, value: subject.transfer_id }
    case 'RepositoryImport':
      return { column: sql`import_id`, value: subject.import_id, title: subject.title }
    case 'Webhook':
      return { column: sql`hook_id`, value: subject.hook_id, title: subject.title }
    default:
      return { column: sql`issue_id`, value: subject.issue_id }
  }
}

/** Who is assigned by the same change that mentions them has two reasons, and is told once, for the stronger. */
function together(notices: Notice[]): Notice[] {
  const [edited, assigned] = (['edited', 'assigned'] as const).map((act) => notices.find((notice) => notice.act === act))
  if (!edited || !assigned) return notices
  return notices.flatMap((notice) => (notice === edited ? [] : notice === assigned ? { ...edited, ...assigned } : notice))
}

/** Why an act makes somebody take part who did it: also when it concerns themselves, as when they assign themselves. */
function joiningReasons({ act, people = [] }: Notice, actor: { id: number }): Reason[] {
  const { joins, concerns }: Rule = rules[act]
  return [joins, people.includes(actor.id) ? concerns : undefined].filter((reason) => reason !== undefined)
}

/** Who takes part for several reasons does so for the strongest. What somebody does ends their silence; being an author does not. */
async function join(db: Transaction, subject_id: number, user_id: number, after_notice: number, ...joined: Reason[]) {
  const [strongest] = reasons.filter((reason) => joined.includes(reason))
  if (!strongest) return
  await db.query(sql`
    insert into thread_subscriptions as s (subject_id, user_id, state, reason, created_at, after_notice)
    values (${subject_id}, ${user_id}, 'subscribed', ${strongest}, ${db.now}, ${after_notice})
    on conflict (subject_id, user_id) do update set reason = least(s.reason, excluded.reason),
      state = case when ${joined.includes('comment')} then 'subscribed' else s.state end,
      after_notice = case s.state when 'subscribed' then s.after_notice else excluded.after_notice end`)
}
