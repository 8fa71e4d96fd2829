import { visible } from '#hosting/repositories/visibility.ts'
import type { Account } from '#identity/accounts.ts'
import { threadsVisibleTo } from '#parts/notifications/threads.ts'
import { isShown } from '#parts/timelines/shown.ts'
import { type Database, type Sql, sql } from '#platform/database.ts'
import { byId, issueColumns, pullColumns, type Records } from './records.ts'

const repositoryName = sql`o.login || '/' || r.name as repository`
const withRepository = (repo_id: Sql) => sql`join repositories r on r.id = ${repo_id} join accounts o on o.id = r.owner_id`

/** What belongs to an account, and what its user wrote where they may still look. */
export function accountRecords(db: Database, user: Account): Records[] {
  const me = sql`${user.id}`
  const seen = visible({ viewer_id: user.id, sees_private: true })
  const written = (name: string, columns: Sql, table: Sql): Records => ({
    name,
    columns: sql`c.id, ${repositoryName}, ${columns}, c.body, c.created_at, c.updated_at`,
    source: sql`${table} ${withRepository(sql`c.repo_id`)} where c.author_id = ${me} and ${seen}`,
    key: byId(sql`c.id`),
  })
  const issues = (name: string, columns: Sql, kind: Sql): Records => ({
    name,
    columns: sql`${repositoryName}, ${columns}`,
    source: sql`issues i left join pulls p on p.issue_id = i.id ${withRepository(sql`i.repo_id`)}
      where i.author_id = ${me} and ${kind} and ${seen}`,
    key: [...byId(sql`i.repo_id`), { column: sql`i.number`, type: sql`integer` }],
  })
  const inPull = sql`join pulls p on p.id = c.pull_id join issues i on i.id = p.issue_id`
  return [
    {
      name: 'emails',
      columns: sql`m.email, m.is_primary as "primary", m.verified, m.public, m.added_at`,
      source: sql`(select email, true as is_primary, email_verified as verified, email_public as public, email_claimed_at as added_at
          from accounts where id = ${me} and email is not null
        union all select email, false, false, false, claimed_at from emails where user_id = ${me}) m where true`,
      key: [{ column: sql`m.email`, type: sql`text` }],
    },
    {
      name: 'ssh-keys',
      columns: sql`k.id, k.title, k.key, k.fingerprint, k.created_at`,
      source: sql`ssh_keys k where k.user_id = ${me}`,
      key: byId(sql`k.id`),
    },
    {
      name: 'tokens',
      columns: sql`t.id, t.kind, t.note, t.note_url, t.scopes, t.permissions, t.expires_at, t.created_at, t.last_used_at,
        (select p.name from applications p where p.id = t.application_id) as application`,
      source: sql`tokens t where t.user_id = ${me} and not t.impersonation`,
      key: byId(sql`t.id`),
    },
    {
      name: 'feed-keys',
      columns: sql`k.id, k.name, k.created_at, k.last_used_at`,
      source: sql`feed_keys k where k.user_id = ${me}`,
      key: byId(sql`k.id`),
    },
    {
      name: 'authorized-applications',
      columns: sql`g.id, p.name, p.url, g.scopes, g.created_at, g.updated_at`,
      source: sql`grants g join applications p on p.id = g.application_id where g.user_id = ${me}`,
      key: byId(sql`g.id`),
    },
    {
      name: 'own-applications',
      columns: sql`p.id, p.client_id, p.name, p.url, p.description, p.callback_url, p.created_at, a.slug as app, a.permissions, a.events`,
      source: sql`applications p left join apps a on a.application_id = p.id where p.owner_id = ${me}`,
      key: byId(sql`p.id`),
    },
    {
      name: 'installed-apps',
      columns: sql`n.id, a.slug as app, n.all_repositories, n.permissions, n.events, n.created_at, n.suspended_at`,
      source: sql`installations n join apps a on a.id = n.app_id where n.account_id = ${me}`,
      key: byId(sql`n.id`),
    },
    {
      name: 'sessions',
      columns: sql`s.id, s.address, s.user_agent, s.created_at, s.last_seen_at, s.expires_at`,
      source: sql`sessions s where s.user_id = ${me}`,
      key: byId(sql`s.id`),
    },
    {
      name: 'stars',
      columns: sql`${repositoryName}, s.starred_at`,
      source: sql`stars s ${withRepository(sql`s.repo_id`)} where s.user_id = ${me} and ${seen}`,
      key: byId(sql`s.repo_id`),
    },
    {
      name: 'watching',
      columns: sql`${repositoryName}, s.ignored, s.kinds, s.created_at`,
      source: sql`subscriptions s ${withRepository(sql`s.repo_id`)} where s.user_id = ${me} and ${seen}`,
      key: byId(sql`s.repo_id`),
    },
    {
      name: 'following',
      columns: sql`a.login, f.created_at`,
      source: sql`follows f join accounts a on a.id = f.followed_id where f.follower_id = ${me}`,
      key: byId(sql`f.followed_id`),
    },
    {
      name: 'followers',
      columns: sql`a.login, f.created_at`,
      source: sql`follows f join accounts a on a.id = f.follower_id where f.followed_id = ${me}`,
      key: [{ column: sql`f.created_at`, type: sql`timestamptz` }, ...byId(sql`f.follower_id`)],
    },
    {
      name: 'organizations',
      columns: sql`a.login, m.role, m.public, m.created_at`,
      source: sql`memberships m join accounts a on a.id = m.org_id where m.user_id = ${me}`,
      key: byId(sql`m.org_id`),
    },
    {
      name: 'teams',
      columns: sql`a.login as organization, t.slug, t.name, m.role, m.created_at`,
      source: sql`team_members m join teams t on t.id = m.team_id join accounts a on a.id = t.org_id where m.user_id = ${me}`,
      key: byId(sql`m.team_id`),
    },
    issues('issues', issueColumns, sql`p.id is null`),
    issues('pull-requests', sql`${issueColumns}, ${pullColumns}`, sql`p.id is not null`),
    written('comments', sql`i.number`, sql`comments c join issues i on i.id = c.issue_id`),
    written('reviews', sql`i.number, c.state, c.commit_id, c.submitted_at`, sql`reviews c ${inPull}`),
    written(
      'review-comments',
      sql`i.number, c.review_id, c.in_reply_to_id, c.commit_id, c.path, c.side, c.start_line, c.line, c.diff_hunk`,
      sql`review_comments c ${inPull}`,
    ),
    written('commit-comments', sql`c.commit_id, c.path, c.line`, sql`commit_comments c`),
    {
      name: 'notifications',
      columns: sql`t.id, w.login || '/' || r.name as repository, s.type, coalesce(i.title, nullif(e.name, ''), e.tag_name, s.title) as title,
        i.number, t.reason, t.unread, t.done, t.saved, t.snoozed_until, t.updated_at, t.last_read_at`,
      source: threadsVisibleTo(db, user),
      key: [...byId(sql`t.position`), ...byId(sql`t.id`)],
    },
    {
      name: 'inbox-filters',
      columns: sql`f.name, f.view, f.query`,
      source: sql`inbox_filters f where f.user_id = ${me}`,
      key: byId(sql`f.id`),
    },
    {
      name: 'events',
      columns: sql`e.id, ${repositoryName}, e.type, e.public, e.payload, e.created_at`,
      source: sql`events e ${withRepository(sql`e.repo_id`)} where e.actor_id = ${me}
        and ${isShown({ viewer: { viewer_id: user.id, sees_private: true }, since: new Date(0), until: null }, { actor_id: user.id })}`,
      key: [{ column: sql`e.created_at`, type: sql`timestamptz` }, ...byId(sql`e.id`)],
    },
  ]
}
