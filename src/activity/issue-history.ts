import { json, sql, type Transaction } from '#platform/database.ts'
import { type Act, meaningOf } from './acts.ts'

/** Writes the entries of an issue's history in the order of the acts. Entries keep the names that labels and milestones have now. */
export async function recordHistory(db: Transaction, actor: { id: number }, repo: { id: number }, published: Act[]) {
  const entries = published.flatMap(({ act, ...facts }, place) => {
    const { history: event } = meaningOf(act)
    return event ? { ...facts, event, place } : []
  })
  if (!entries.length) return
  await db.query(sql`
    insert into issue_events (repo_id, issue_id, actor_id, created_at, event, assignee_id, label_name, label_color, milestone_title,
      renamed_from, renamed_to, requested_reviewer_id, requested_team_id, state_reason, lock_reason, commit_id)
    select ${repo.id}, issue_id, ${actor.id}, ${db.now}, event, assignee_id, l.name, l.color, m.title,
      renamed_from, renamed_to, requested_reviewer_id, requested_team_id, state_reason, lock_reason, commit_id
    from jsonb_to_recordset(${json(entries)}::jsonb) as entry (place integer, issue_id bigint, event text, assignee_id bigint,
        label_id bigint, milestone_id bigint, renamed_from text, renamed_to text, requested_reviewer_id bigint,
        requested_team_id bigint, state_reason text, lock_reason text, commit_id text)
      left join labels l on l.id = label_id left join milestones m on m.id = milestone_id
    order by place`)
}
