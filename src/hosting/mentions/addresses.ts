import { visible } from '#hosting/repositories/visibility.ts'
import { knownTo } from '#hosting/teams/teams.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { Name, Reference } from '#web/markdown/names.ts'

/** Links for the users, teams and issues that a page names. A name that does not exist, or that the viewer may not see, has no link. */
export interface Addresses {
  userLink(login: string): string | undefined
  teamLink(org: string, slug: string): string | undefined
  referenceLink(reference: Reference): string | undefined
}

/** How many names of each kind one page looks up; the rest stay plain text. */
const most = 1000

/** One query for all names. References without a repository are to `repo`. */
export async function findAddresses(
  db: Queryable,
  viewer: Viewer,
  repo: { owner_login: string; name: string },
  names: Name[],
): Promise<Addresses> {
  const whole = ({ owner, repo: name, number }: Reference) =>
    `${owner ?? repo.owner_login}/${name ?? repo.name}#${number}`.toLowerCase()
  const users = distinct(names.flatMap((name) => ('user' in name ? name.user : [])))
  const teams = distinct(names.flatMap((name) => ('org' in name ? `${name.org}/${name.slug}` : [])))
  const references = distinct(names.flatMap((name) => ('reference' in name ? whole(name.reference) : [])))
  const found = new Map(
    users.length + teams.length + references.length
      ? (await look(db, viewer, users, teams, references)).map(({ name, address }) => [name, address])
      : [],
  )
  return {
    userLink: (login) => found.get(login),
    teamLink: (org, slug) => found.get(`${org}/${slug}`),
    referenceLink: (reference) => found.get(whole(reference)),
  }
}

const distinct = (names: string[]) => [...new Set(names)].slice(0, most)

/** `/` and `#` distinguish the three kinds of names. */
function look(db: Queryable, viewer: Viewer, users: string[], teams: string[], references: string[]) {
  return db.rows<{ name: string; address: string }>(sql`
    select n.name, '/' || a.login as address from unnest(${users}::text[]) n (name) join accounts a on lower(a.login) = n.name
    union all
    select n.name, '/orgs/' || o.login || '/teams/' || t.slug
    from unnest(${teams}::text[]) n (name) join accounts o on lower(o.login) = split_part(n.name, '/', 1)
      join teams t on t.org_id = o.id and t.slug = split_part(n.name, '/', 2)
    where ${knownTo(sql`${viewer.viewer_id}`)}
    union all
    select n.name, '/' || o.login || '/' || r.name || case when p.id is null then '/issues/' else '/pull/' end || i.number
    from unnest(${references}::text[]) n (name) join accounts o on lower(o.login) = split_part(n.name, '/', 1)
      join repositories r on r.owner_id = o.id and lower(r.name) = split_part(split_part(n.name, '/', 2), '#', 1)
      join issues i on i.repo_id = r.id and i.number = split_part(n.name, '#', 2)::integer
      left join pulls p on p.issue_id = i.id
    where (p.id is not null or r.has_issues) and ${visible(viewer)}`)
}
