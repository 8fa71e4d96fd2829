import { loadOrganization, type Organization } from '#hosting/organizations/organizations.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { visible } from '#hosting/repositories/visibility.ts'
import { checkNotSuspended } from '#identity/access.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { avatar } from '#web/components/avatar.ts'
import { badge } from '#web/components/label.ts'
import { type Tab, tabs } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import type { Above, Visit } from '#web/page.ts'

export type Section = 'overview' | 'repositories' | 'people' | 'teams' | 'settings'

/** The organization that the path names, with the visitor's role. A form cannot change a suspended one. */
export async function loadVisited({ db, visitor, params, request }: Visit): Promise<Organization> {
  const { org = '' } = params
  if (/\0/.test(org)) throw missing()
  const found = await loadOrganization(db, visitor?.id ?? null, org)
  if (request.method === 'POST') checkNotSuspended(found)
  return found
}

interface Counts {
  repositories: number
  people: number
  teams: number
}

/** What the visitor may see of it. */
async function count(visit: Visit, org: Organization): Promise<Counts> {
  const member = sql`${org.role !== null}::boolean`
  const counts = await visit.db.first<Counts>(sql`
    select (select count(*) from repositories r where r.owner_id = ${org.id} and ${visible(viewerOf(visit))})::integer as repositories,
      (select count(*) from memberships m where m.org_id = ${org.id} and (m.public or ${member}))::integer as people,
      (select count(*) from teams t where t.org_id = ${org.id} and ${member} and (t.privacy = 'closed' or ${org.role === 'admin'}::boolean
        or exists (select from team_members i where i.team_id = t.id and i.user_id = ${visit.visitor?.id ?? null})))::integer as teams`)
  return counts ?? { repositories: 0, people: 0, teams: 0 }
}

/** The name of the organization and its tabs: above every page of an organization. */
export const organizationHeader =
  (org: Organization, current: Section): Above =>
  async (visit) =>
    html`<div class="repository-header organization-header">${current === 'overview' ? introduction(org) : crumbs(org)}${tabs('Organization', sectionTabs(org, await count(visit, org), current))}</div>`

const crumbs = (org: Organization) =>
  html`<div class="title-bar"><nav class="crumbs" aria-label="Breadcrumbs">${avatar(org, 24)} <a href="/${org.login}"><strong>${org.login}</strong></a>${suspendedBadge(org)}</nav></div>`

const suspendedBadge = ({ suspended_at }: Organization) => suspended_at && html` ${badge('Suspended', 'danger')}`

function introduction(org: Organization): Html {
  const { login, name, bio } = org
  return html`<div class="introduction">${avatar(org, 96)}<div><h1>${name || login}${suspendedBadge(org)}</h1>${name && html`<p class="muted">${login}</p>`}${bio && html`<p>${bio}</p>`}${contactLine(org)}</div></div>`
}

/** Only http and https URLs become links: others could run a script here. */
export function siteLink(blog: string): Html {
  return /^https?:\/\//i.test(blog)
    ? html`<a href="${blog}" rel="nofollow noreferrer">${blog.replace(/^https?:\/\/|\/$/gi, '')}</a>`
    : html`${blog}`
}

function contactLine({ location, blog }: Organization): Html | false {
  const facts = [location && html`${location}`, blog && siteLink(blog)].filter((fact) => fact instanceof Object)
  return facts.length > 0 && html`<p class="facts-line">${facts.map((fact) => html`<span>${fact}</span>`)}</p>`
}

function sectionTabs({ login, role }: Organization, counts: Counts, current: Section): Tab[] {
  const tab = (section: Section, text: string, href: string, icon: string, count?: number): Tab => ({
    text,
    href,
    icon,
    count,
    current: section === current,
  })
  return [
    tab('overview', 'Overview', `/${login}`, 'home'),
    tab('repositories', 'Repositories', `/orgs/${login}/repositories`, 'repo', counts.repositories),
    tab('people', 'People', `/orgs/${login}/people`, 'person', counts.people),
    ...(role ? [tab('teams', 'Teams', `/orgs/${login}/teams`, 'people', counts.teams)] : []),
    ...(role === 'admin' ? [tab('settings', 'Settings', `/organizations/${login}/settings/profile`, 'gear')] : []),
  ]
}
