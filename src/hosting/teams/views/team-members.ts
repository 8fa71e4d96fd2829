import { loadNamed } from '#hosting/organizations/views/people.ts'
import { peopleList, personRow } from '#hosting/people/views/people-list.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { checkMaintainer, listTeamMembers, removeFromTeam, setTeamRole, type TeamMember } from '#hosting/teams/teams.ts'
import { loadUser } from '#identity/accounts.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { askMenu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { alert, attempt, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, type Visit } from '#web/page.ts'
import { loadVisitedTeam, teamPage, type VisitedTeam } from './team-page.ts'

const perPage = 100

/** The users whom a mention of the team notifies. */
export async function membersPage(visit: Visit, problem?: Problem): Promise<Outcome> {
  const visited = await loadVisitedTeam(visit)
  const { team, path, managed } = visited
  const page = pageIn(visit.query)
  const { rows, total } = await listTeamMembers(visit.db, team, 'all', { limit: perPage, offset: (page - 1) * perPage })
  const list = rows.length
    ? peopleList(rows.map((member) => row(visit, visited, member)))
    : emptyState('people', 'This team has no members', 'A mention of the team notifies its members.')
  const body = html`${managed && addForm(visit, visited, problem)}${list}${pager(path, {}, page, Math.ceil(total / perPage))}`
  return teamPage(visit, visited, 'members', body, problem?.status)
}

function row(visit: Visit, { org, team, path, managed }: VisitedTeam, member: TeamMember): Html {
  const mine = visit.visitor?.id === member.id
  const more = member.role === 'maintainer' ? html`<p class="facts-line">${badge('Maintainer', 'accent')}</p>` : undefined
  if (!mine && !managed) return personRow(member, { more })
  const hidden = html`<input type="hidden" name="login" value="${member.login}">`
  const other = member.role === 'maintainer' ? 'member' : 'maintainer'
  const change = form(
    visit,
    `${path}/members`,
    html`${hidden}<input type="hidden" name="role" value="${other}">${button(`Make ${other}`, { size: 'small', label: `Make ${other}: ${member.login}` })}`,
    { class: 'inline' },
  )
  const verb = mine ? 'Leave' : 'Remove'
  const question = mine
    ? `Leave ${org.login}/${team.slug}? You lose the access that the team gives.`
    : `Remove ${member.login} from ${org.login}/${team.slug}? They lose the access that the team gives.`
  const answer = form(visit, `${path}/members/remove`, html`${hidden}${button(verb, { kind: 'danger' })}`, { class: '' })
  const ask = askMenu(html`<span class="button small danger">${verb}</span>`, question, answer, {
    label: `${verb} ${member.login}`,
  })
  return personRow(member, { more, actions: html`${managed && change}${ask}` })
}

function addForm(visit: Visit, { path, org }: VisitedTeam, problem?: Problem): Html {
  const roles: [string, string][] = [
    ['member', 'Member'],
    ['maintainer', 'Maintainer'],
  ]
  const fields = html`<div class="in-line"><div>${field({ label: 'Login', name: 'login', value: visit.form.get('login'), required: true, longest: 39 })}</div><div>${select('Role', 'role', roles, visit.form.get('role') ?? 'member')}</div>${button('Add', { kind: 'primary' })}</div>
<p class="hint muted">${org.role === 'admin' ? `Someone who is not in ${org.login} yet becomes a member of it.` : `Only members of ${org.login} can be added.`}</p>`
  return html`<details class="add"${problem && html` open`}><summary class="button">${icon('person-add')} Add a member</summary><div class="card">${alert(problem)}${form(visit, `${path}/members`, fields)}</div></details>`
}

export async function addTeamMember(visit: SignedIn): Promise<Outcome> {
  const { org, team, path } = await loadVisitedTeam(visit)
  checkMaintainer(org, team)
  return attempt(
    async () => {
      const user = await loadNamed(visit)
      const role = visit.form.get('role') === 'maintainer' ? 'maintainer' : 'member'
      await visit.db.transaction((db) => setTeamRole(db, visit.visitor, org, team, user, role))
      return { to: path, flash: { done: `${user.login} is a ${role} of the team now.` } }
    },
    (problem) => membersPage(visit, problem),
  )
}

export async function removeTeamMember(visit: SignedIn): Promise<Outcome> {
  const { org, team, path } = await loadVisitedTeam(visit)
  const user = await loadUser(visit.db, typed(visit.form, 'login'))
  const mine = user.id === visit.visitor.id
  if (!mine) checkMaintainer(org, team)
  await visit.db.transaction((db) => removeFromTeam(db, visit.visitor, team, user))
  return {
    to: mine ? `/orgs/${org.login}/teams` : path,
    flash: { done: mine ? 'You left the team.' : `${user.login} is removed.` },
  }
}
