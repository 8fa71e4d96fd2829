import { sql } from '#platform/database.ts'
import type { Forge } from './forge.ts'

/** Notification events without invitations as lines, oldest first: actor, act, subject, recipients and text. */
export async function noticesOf({ belfry: { db } }: Forge) {
  const rows = await db.rows<{ said: string }>(sql`
    select concat_ws(' ', a.login, n.act, s.type, coalesce('#' || i.number, s.title),
      (select string_agg(p.login, ',' order by p.login) from accounts p where p.id = any(n.people)),
      (select string_agg(t.slug, ',' order by t.slug) from teams t where t.id = any(n.teams)),
      n.comment_type, to_json(n.body), to_json(n.body_before)) as said
    from notification_events n join notification_subjects s on s.id = n.subject_id join accounts a on a.id = n.actor_id left join issues i on i.id = s.issue_id
    where s.type <> 'RepositoryInvitation' order by n.id`)
  return rows.map(({ said }) => said)
}
