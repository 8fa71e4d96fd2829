import { checkMember } from '#hosting/organizations/organizations.ts'
import { loadVisited, organizationHeader } from '#hosting/organizations/views/organization-header.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { banner } from '#web/components/toast.ts'
import { confirmed } from '#web/confirm-password.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn } from '#web/page.ts'
import { listTeams, type Team } from './teams.ts'
import { create, editPage, newTeamPage, remove, save } from './views/team-form.ts'
import { addTeamMember, membersPage, removeTeamMember } from './views/team-members.ts'
import { teamPath } from './views/team-page.ts'
import { addTeamRepository, removeTeamRepository, repositoriesPage } from './views/team-repositories.ts'

const team = '/orgs/:org/teams/:slug'

export const pages: PageRoute[] = [
  showOwn('/orgs/:org/teams', teamsPage),
  showOwn('/orgs/:org/new-team', (visit) => newTeamPage(visit)),
  submitOwn('/orgs/:org/new-team', confirmed(create)),
  show(team, (visit) => membersPage(visit)),
  submitOwn(`${team}/members`, confirmed(addTeamMember)),
  submitOwn(`${team}/members/remove`, removeTeamMember),
  show(`${team}/repositories`, (visit) => repositoriesPage(visit)),
  submitOwn(`${team}/repositories`, confirmed(addTeamRepository)),
  submitOwn(`${team}/repositories/remove`, removeTeamRepository),
  showOwn(`${team}/edit`, (visit) => editPage(visit)),
  submitOwn(`${team}/edit`, confirmed(save)),
  submitOwn(`${team}/delete`, remove),
]

const perPage = 50

/** For members only, like the teams themselves. */
async function teamsPage(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  checkMember(org)
  const page = pageIn(visit.query)
  const { rows, total } = await listTeams(visit.db, visit.visitor.id, org, { limit: perPage, offset: (page - 1) * perPage })
  const path = `/orgs/${org.login}/teams`
  const create = buttonLink('New team', `/orgs/${org.login}/new-team`, { kind: 'primary' })
  const list = rows.length
    ? box(rows.map(teamRow), { label: 'Teams' })
    : emptyState(
        'people',
        'There are no teams yet',
        'A team gives several people access to repositories, and is mentioned by one name.',
        create,
      )
  const body = html`<main class="organization"><div class="title-bar"><h1>Teams</h1>${rows.length > 0 && create}</div>${banner(visit.flash.done)}${list}${pager(path, {}, page, Math.ceil(total / perPage))}</main>`
  return { title: `Teams · ${org.login}`, body, above: organizationHeader(org, 'teams') }
}

function teamRow(one: Team): Html {
  return html`<div class="row-with-actions"><div class="row-main"><a href="${teamPath(one)}"><strong>${one.name}</strong></a> ${one.privacy === 'secret' && badge('Secret')}${one.role !== null && badge(one.role === 'maintainer' ? 'You maintain it' : 'You are in it', 'accent')}${one.description && html`<p class="muted">${one.description}</p>`}</div>
<span class="facts-line"><span>${icon('person')} ${one.members_count}<span class="unseen"> members</span></span><span>${icon('repo')} ${one.repos_count}<span class="unseen"> repositories</span></span></span></div>`
}
