import { visible } from '#hosting/repositories/visibility.ts'
import type { Account } from '#identity/accounts.ts'
import { sql } from '#platform/database.ts'
import { byId, issueColumns, pullColumns, type Records } from './records.ts'

/** What is in a repository of the user's besides its commits. */
export function repositoryRecords({ id }: { id: number }): Records[] {
  const author = sql`(select a.login from accounts a where a.id = c.author_id) as author`
  return [
    {
      name: 'labels',
      columns: sql`l.name, l.color, l.description`,
      source: sql`labels l where l.repo_id = ${id}`,
      key: byId(sql`l.id`),
    },
    {
      name: 'milestones',
      columns: sql`m.number, m.title, m.description, m.state, m.due_on, m.created_at, m.updated_at, m.closed_at`,
      source: sql`milestones m where m.repo_id = ${id}`,
      key: byId(sql`m.number`),
    },
    {
      name: 'issues',
      columns: sql`${issueColumns}, (select a.login from accounts a where a.id = i.author_id) as author, p.id is not null as pull_request, ${pullColumns}`,
      source: sql`issues i left join pulls p on p.issue_id = i.id where i.repo_id = ${id}`,
      key: [{ column: sql`i.number`, type: sql`integer` }],
    },
    {
      name: 'comments',
      columns: sql`c.id, (select i.number from issues i where i.id = c.issue_id) as number, ${author}, c.body, c.created_at, c.updated_at`,
      source: sql`comments c where c.repo_id = ${id}`,
      key: byId(sql`c.id`),
    },
    {
      name: 'releases',
      columns: sql`c.id, c.tag_name, c.target_commitish, c.name, c.body, c.draft, c.prerelease, ${author}, c.created_at, c.published_at,
        array(select s.name from release_assets s where s.release_id = c.id order by s.id) as assets`,
      source: sql`releases c where c.repo_id = ${id}`,
      key: byId(sql`c.id`),
    },
    {
      name: 'collaborators',
      columns: sql`a.login, (array['pull', 'triage', 'push', 'maintain', 'admin'])[c.access] as access, c.created_at`,
      source: sql`collaborators c join accounts a on a.id = c.user_id where c.repo_id = ${id}`,
      key: byId(sql`c.user_id`),
    },
    {
      name: 'webhooks',
      columns: sql`h.id, h.url, h.content_type, h.events, h.active, h.insecure_ssl,
        h.secret is not null as has_secret, h.created_at, h.updated_at, h.last_code, h.last_delivered_at`,
      source: sql`hooks h where h.repo_id = ${id} and h.deleted_at is null`,
      key: byId(sql`h.id`),
    },
  ]
}

export interface OwnRepository {
  id: number
  name: string
  default_branch: string
}

/** A user's repositories in the order of their names, without private forks whose parents the user may not read any more. */
export const ownRepositories = (user: Account): Records => ({
  name: 'repositories',
  columns: sql`m.id, m.name, m.description, m.homepage, m.private, m.default_branch, m.archived, m.is_template, m.topics, m.language, m.license,
    (select o.login || '/' || r.name from repositories r join accounts o on o.id = r.owner_id where r.id = m.parent_id
      and ${visible({ viewer_id: user.id, sees_private: true })}) as parent,
    m.stargazers_count, m.subscribers_count, m.public_forks_count, m.size, m.pushed_at, m.created_at, m.updated_at`,
  source: sql`repositories m where m.owner_id = ${user.id} and owner_reaches(m)`,
  key: [{ column: sql`lower(m.name)`, type: sql`text` }],
})
