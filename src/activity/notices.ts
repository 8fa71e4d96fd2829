import { json, type Sql, sql, type Transaction } from '#platform/database.ts'
import { type Act, meaningOf, type NoticeName, type NoticeRule, noticeRules, type Reason, reasons } from './acts.ts'
import type { Facts } from './facts.ts'

/** What a thread is about. */
export type Subject =
  | { type: 'Issue' | 'PullRequest'; issue_id: number }
  | { type: 'Release'; release_id: number }
  | { type: 'RepositoryInvitation'; invitation_id: number }
  | { type: 'RepositoryTransfer'; transfer_id: number }
  | { type: 'RepositoryImport'; import_id: number; title: string }
  | { type: 'Webhook'; hook_id: number; title: string }
  /** Commits have no row: `title` is the first line of the message, `author_id` the account with the author's email address. */
  | { type: 'Commit'; commit_id: string; title: string; author_id: number | null }

/** The arguments of the function `store_notices` after the repository: what is stored for those acts that have a notice. */
export interface StoredNotices {
  subject: { id: number } | { issue_id: number; type: string; latest_type: string | null; latest_id: number | null }
  notices: object[]
  participants: { user_id: number; reason: Reason; unmutes: boolean; is_notified: boolean }[]
  /** Whether users may be notified in the transaction of the act. */
  direct: boolean
}

export async function noticesOf(
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  published: Act[],
): Promise<StoredNotices | undefined> {
  const [first, ...others] = published.filter(({ act }) => meaningOf(act).notice)
  if (!first) return undefined
  return prepare(db, actor, repo, subjectOf(first as Partial<Facts>), mergeConcerned([first, ...others].flatMap(noticeOf)))
}

function subjectOf(facts: Partial<Facts>): Subject {
  const { issue_id, pull_id, release_id, invitation_id, transfer_id, import_id, hook_id, commit_id, title = '' } = facts
  if (issue_id) return { type: pull_id ? 'PullRequest' : 'Issue', issue_id }
  if (release_id) return { type: 'Release', release_id }
  if (invitation_id) return { type: 'RepositoryInvitation', invitation_id }
  if (transfer_id) return { type: 'RepositoryTransfer', transfer_id }
  if (import_id) return { type: 'RepositoryImport', import_id, title }
  if (hook_id) return { type: 'Webhook', hook_id, title }
  return { type: 'Commit', commit_id: commit_id ?? '', title, author_id: facts.commit_author_id ?? null }
}

function noticeOf({ act, ...stated }: Act): Notice[] {
  const { notice } = meaningOf(act)
  const { body, changes, people = [], assignee_id, requested_reviewer_id, requested_team_id }: Partial<Facts> = stated
  const edit = changes?.body as { from: string } | undefined
  // An edit notifies only users who are newly mentioned in the text.
  if (!notice || (notice === 'edited' && !edit)) return []
  const comment = commentOf(stated)
  return [
    {
      act: notice,
      ...(body !== undefined && { body }),
      ...(edit && { body_before: edit.from }),
      people: [...people, ...[assignee_id, requested_reviewer_id].filter((id) => id !== undefined)],
      teams: requested_team_id === undefined ? [] : [requested_team_id],
      ...(comment && { comment }),
    },
  ]
}

function commentOf({ comment_id, review_id, review_comment_id, commit_comment_id }: Partial<Facts>): Notice['comment'] {
  if (comment_id) return { type: 'IssueComment', id: comment_id }
  if (review_comment_id) return { type: 'PullRequestReviewComment', id: review_comment_id }
  if (review_id) return { type: 'PullRequestReview', id: review_id }
  return commit_comment_id ? { type: 'CommitComment', id: commit_comment_id } : undefined
}

/** One notice for all users whom a call concerns for the same reason, so that nobody is notified twice of an issue opened with assignees. */
function mergeConcerned(notices: Notice[]): Notice[] {
  const merged: Notice[] = []
  for (const notice of notices) {
    const { concerns } = ruleOf(notice)
    const same = concerns && merged.find((other) => ruleOf(other).concerns === concerns)
    if (same) Object.assign(same, { people: joined(same.people, notice.people), teams: joined(same.teams, notice.teams) })
    else merged.push(notice)
  }
  return merged
}

const joined = (one: number[] = [], other: number[] = []) => [...one, ...other]
const ruleOf = ({ act }: { act: NoticeName }): NoticeRule => noticeRules[act]

export interface Notice {
  act: NoticeName
  /** Markdown: users mentioned in it are notified. */
  body?: string | null
  /** The text before an edit: users mentioned in it are not notified again. */
  body_before?: string | null
  /** Whom the act concerns. */
  people?: number[]
  teams?: number[]
  /** The comment that the address of the latest comment leads to. */
  comment?: { type: 'IssueComment' | 'PullRequestReview' | 'PullRequestReviewComment' | 'CommitComment'; id: number }
}

/** Stores notices of one subject and enqueues the job that notifies users. */
export async function notify(
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  subject: Subject,
  ...notices: Notice[]
) {
  const stored = await prepare(db, actor, repo, subject, notices)
  if (!stored) return
  await db.query(sql`
    select store_notices(${db.now}, ${actor.id}, ${repo.id}, ${json(stored.subject)}::jsonb, ${json(stored.notices)}::jsonb,
      ${json(stored.participants)}::jsonb, null)`)
}

async function prepare(
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  subject: Subject,
  notices: Notice[],
): Promise<StoredNotices | undefined> {
  if (!notices.length) return undefined
  // An edit does not make a comment the latest one.
  const latest = notices.findLast(({ act, comment }) => comment && act !== 'edited')?.comment
  const rows = together(notices).map(({ act, body, body_before, people = [], teams = [], comment }) => {
    const { audience, own = false, concerns = null } = ruleOf({ act })
    return {
      ...{ act, body, body_before, people, teams, everyone: audience === 'everyone', own, concerns },
      ...{ comment_type: comment?.type, comment_id: comment?.id },
    }
  })
  const participants = [
    participant(
      actor.id,
      notices.flatMap((notice) => joiningReasons(notice, actor)),
      false,
    ),
    // The author of the commit gets this notice too.
    participant(subject.type === 'Commit' ? subject.author_id : null, ['author'], true),
  ].flat()
  return {
    subject:
      'issue_id' in subject
        ? { issue_id: subject.issue_id, type: subject.type, latest_type: latest?.type ?? null, latest_id: latest?.id ?? null }
        : { id: await putSubject(db, repo, subject, latest) },
    notices: rows,
    participants,
    direct: notices.every(isPlain),
  }
}

/**
 * Whether the recipients are known without the Markdown parser and without the members of a team. The parser must not run in a transaction
 * that holds locks, and a team may be large. A mention has an `@`, which may be written as an entity.
 */
const isPlain = ({ body, teams }: Notice) => !/[@&]/.test(body ?? '') && !teams?.length

async function putSubject(db: Transaction, repo: { id: number }, subject: Subject, comment: Notice['comment']): Promise<number> {
  const { column, value, target = column, title = null } = keyOf(subject)
  const row = await db.first<{ id: number }>(sql`
    insert into notification_subjects as s (repo_id, type, ${column}, title, latest_type, latest_id)
    values (${repo.id}, ${subject.type}, ${value}, ${title}, ${comment?.type ?? null}, ${comment?.id ?? null}::bigint)
    on conflict (${target}) where ${column} is not null do update
      set type = excluded.type, latest_type = coalesce(excluded.latest_type, s.latest_type),
        latest_id = coalesce(excluded.latest_id, s.latest_id)
    returning id`)
  if (!row) throw new Error(`no row for the subject ${subject.type}`)
  return row.id
}

/** The column that identifies the subject, alone or with the repository, and its title if it has no row of its own. */
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

/** A user who is assigned and mentioned by one change is notified once, for the stronger reason. */
function together(notices: Notice[]): Notice[] {
  const [edited, assigned] = (['edited', 'assigned'] as const).map((act) => notices.find((notice) => notice.act === act))
  if (!edited || !assigned) return notices
  return notices.flatMap((notice) => (notice === edited ? [] : notice === assigned ? { ...edited, ...assigned } : notice))
}

/** Why the actor becomes a participant: by the act itself, or because the act concerns the actor too, as when users assign themselves. */
function joiningReasons(notice: Notice, actor: { id: number }): Reason[] {
  const { joins, concerns } = ruleOf(notice)
  return [joins, notice.people?.includes(actor.id) ? concerns : undefined].filter((reason) => reason !== undefined)
}

function participant(user_id: number | null, joined: Reason[], is_notified: boolean) {
  const [reason] = reasons.filter((one) => joined.includes(one))
  return user_id && reason ? [{ user_id, reason, unmutes: joined.includes('comment'), is_notified }] : []
}
