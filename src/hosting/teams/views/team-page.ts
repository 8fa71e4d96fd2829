import type { Organization } from '#hosting/organizations/organizations.ts'
import { loadVisited, organizationHeader } from '#hosting/organizations/views/organization-header.ts'
import { loadTeam, type Team } from '#hosting/teams/teams.ts'
import { missing } from '#platform/errors.ts'
import { badge } from '#web/components/label.ts'
import { tabs } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'

export interface VisitedTeam {
  org: Organization
  team: Team
  path: string
  /** Whether the visitor may change the team. */
  managed: boolean
}

export async function loadVisitedTeam(visit: Visit): Promise<VisitedTeam> {
  const { slug = '' } = visit.params
  if (/\0/.test(slug)) throw missing()
  const org = await loadVisited(visit)
  const team = await loadTeam(visit.db, visit.visitor?.id ?? null, org, slug)
  return { org, team, path: teamPath(team), managed: org.role === 'admin' || team.role === 'maintainer' }
}

export const teamPath = ({ org_login, slug }: Pick<Team, 'org_login' | 'slug'>) => `/orgs/${org_login}/teams/${slug}`

/** A page of a team below its name and tabs. */
export function teamPage(
  visit: Visit,
  visited: VisitedTeam,
  current: 'members' | 'repositories' | 'edit',
  body: Html,
  status = 200,
): Outcome {
  const { org, team, path, managed } = visited
  const { members_count, repos_count, name, description, privacy } = team
  const links = tabs('Team', [
    { text: 'Members', href: path, icon: 'person', count: members_count, current: current === 'members' },
    { text: 'Repositories', href: `${path}/repositories`, icon: 'repo', count: repos_count, current: current === 'repositories' },
    ...(managed ? [{ text: 'Settings', href: `${path}/edit`, icon: 'gear', current: current === 'edit' }] : []),
  ])
  return {
    title: `${org.login}/${team.slug}`,
    status,
    body: html`<main class="organization"><h1>${name}</h1>
<p class="team-facts"><code>@${org.login}/${team.slug}</code> ${privacy === 'secret' && badge('Secret')}${description && html` <span>${description}</span>`}</p>${banner(visit.flash.done)}${links}${body}</main>`,
    above: organizationHeader(org, 'teams'),
  }
}
