import { person } from '#hosting/issues/authors.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { shownTeam } from '#hosting/teams/teams.ts'
import type { Person } from '#identity/accounts.ts'
import { type App, appColumns, appSource } from '#identity/apps.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { lowerEach } from '#platform/lower-case.ts'
import type { Actors } from './rules.ts'

export interface ActorNames {
  users?: string[] | null
  teams?: string[] | null
  apps?: string[] | null
}

const refused = (message: string) => new Refusal('invalid', message)

/** The accounts, teams and apps of these names. Only repositories of organizations have such lists. */
export async function findActors(db: Queryable, repo: Repository, names: ActorNames): Promise<Actors> {
  const [users, teams, apps] = [names.users ?? [], names.teams ?? [], names.apps ?? []]
  if (repo.owner_type !== 'Organization') throw refused('Only organization repositories can have users and team restrictions')
  const found = {
    users: await findUsers(db, users),
    teams: await findTeams(db, repo, teams),
    apps: await findApps(db, repo, apps),
  }
  const logins = new Set(found.users.map(({ login }) => login.toLowerCase()))
  const unknown = users.find((login) => !logins.has(login.toLowerCase()))
  if (unknown !== undefined) throw refused(`There is no user named ${unknown}.`)
  const slugs = new Set(found.teams.map(({ slug }) => slug))
  const missing = teams.find((slug) => !slugs.has(slug.toLowerCase()))
  if (missing !== undefined) throw refused(`There is no team named ${missing} with access to this repository.`)
  const installed = new Set(found.apps.map(({ slug }) => slug))
  const absent = apps.find((slug) => !installed.has(slug.toLowerCase()))
  if (absent !== undefined)
    throw refused(`There is no app named ${absent} that is installed on this repository and may write contents.`)
  return found
}

async function findUsers(db: Queryable, logins: string[]): Promise<Person[]> {
  if (!logins.length) return []
  const rows = await db.rows<{ user: Person }>(sql`
    select ${person} as user from accounts a
    where a.type = 'User' and lower(a.login) = any(${lowerEach(logins)})`)
  return rows.map(({ user }) => user)
}

async function findTeams(db: Queryable, repo: Repository, slugs: string[]): Promise<ShownTeam[]> {
  if (!slugs.length) return []
  const rows = await db.rows<{ team: ShownTeam }>(sql`
    select ${shownTeam} as team from team_repositories b join teams t on t.id = b.team_id join accounts o on o.id = t.org_id
    where b.repo_id = ${repo.id} and t.org_id = ${repo.owner_id} and t.slug = any(${slugs.map((slug) => slug.toLowerCase())})`)
  return rows.map(({ team }) => team)
}

/** Apps that could push: they are installed on the repository with the permission to write contents. */
async function findApps(db: Queryable, repo: Repository, slugs: string[]): Promise<App[]> {
  if (!slugs.length) return []
  return db.rows<App>(sql`
    select ${appColumns} from ${appSource} where p.slug = any(${slugs.map((slug) => slug.toLowerCase())}) and exists (
      select from installations i where i.app_id = p.id and i.account_id = ${repo.owner_id} and i.permissions->>'contents' = 'write'
        and (i.all_repositories or exists (
          select from installation_repositories l where l.installation_id = i.id and l.repo_id = ${repo.id})))`)
}
