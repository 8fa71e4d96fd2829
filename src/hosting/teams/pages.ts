import { count, nameOf } from '#hosting/issues/views/conversation.ts'
import { loadOrganization } from '#hosting/organizations/organizations.ts'
import { missing } from '#platform/errors.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { listTeamMembers, loadTeam } from './teams.ts'

export const pages: PageRoute[] = [show('/orgs/:org/teams/:slug', teamPage)]

const most = 100

/** The users whom a mention of the team notifies. */
async function teamPage({ db, visitor, params }: Visit): Promise<Outcome> {
  const { org: login = '', slug = '' } = params
  if (/\0/.test(login + slug)) throw missing()
  const viewer_id = visitor?.id ?? null
  const org = await loadOrganization(db, viewer_id, login)
  const team = await loadTeam(db, viewer_id, org, slug)
  const { rows, total } = await listTeamMembers(db, team, 'all', { limit: most, offset: 0 })
  const body = html`<main class="conversation"><h1>${org.login}/${team.slug}</h1><p>${team.description}</p>
<p class="muted">${count(total, 'member')}${total > most && `, the first ${most} of them`}</p>
<ul class="plain">${rows.map((person) => html`<li>${nameOf(person)}</li>`)}</ul></main>`
  return { title: `${org.login}/${team.slug}`, body }
}
