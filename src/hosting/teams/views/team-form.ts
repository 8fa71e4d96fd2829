import { checkMember } from '#hosting/organizations/organizations.ts'
import { loadVisited, organizationHeader } from '#hosting/organizations/views/organization-header.ts'
import { createTeam } from '#hosting/teams/create.ts'
import { checkMaintainer, type Privacy } from '#hosting/teams/teams.ts'
import { deleteTeam, updateTeam } from '#hosting/teams/update.ts'
import { button } from '#web/components/button.ts'
import { askMenu } from '#web/components/menu.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { loadVisitedTeam, teamPage, teamPath } from './team-page.ts'

interface TeamDraft {
  name: string
  description: string
  privacy: Privacy
}

const draftIn = (sent: URLSearchParams): TeamDraft => ({
  name: typed(sent, 'name').slice(0, 100),
  description: typed(sent, 'description').slice(0, 500),
  privacy: sent.get('privacy') === 'secret' ? 'secret' : 'closed',
})

function inputs({ name, description, privacy }: TeamDraft, action: string): Html {
  const row = (value: Privacy, title: string, text: string) =>
    choice(
      { name: 'privacy', value, chosen: value === privacy, type: 'radio' },
      html`<span><strong>${title}</strong><br><span class="muted">${text}</span></span>`,
    )
  return html`${field({ label: 'Team name', name: 'name', value: name, required: true, longest: 100, hint: 'A mention of it notifies all members of the team.' })}
${field({ label: 'Description (optional)', name: 'description', value: description })}
<fieldset><legend>Visibility</legend>${row('closed', 'Visible', 'All members of the organization see the team and can mention it.')}
${row('secret', 'Secret', 'Only its members and owners of the organization see the team.')}</fieldset>
<p class="buttons">${button(action, { kind: 'primary' })}</p>`
}

export async function newTeamPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const org = await loadVisited(visit)
  checkMember(org)
  const body = html`<main class="new-repository"><h1>Create a team</h1>
<p class="muted">A team gives several people access to repositories, and is mentioned by one name.</p>
${form(visit, `/orgs/${org.login}/new-team`, html`${alert(problem)}${inputs(draftIn(visit.form), 'Create team')}`)}</main>`
  return {
    title: `New team · ${org.login}`,
    body,
    above: organizationHeader(org, 'teams'),
    ...(problem && { status: problem.status }),
  }
}

export async function create(visit: SignedIn): Promise<Outcome> {
  const org = await loadVisited(visit)
  checkMember(org)
  return attempt(
    async () => {
      const { description, ...draft } = draftIn(visit.form)
      const wanted = { ...draft, description: description || null }
      const team = await visit.db.transaction((db) =>
        createTeam(db, { viewer_id: visit.visitor.id, sees_private: true }, org, visit.visitor, wanted),
      )
      return { to: teamPath(team), flash: { done: 'The team is created. Add its members and repositories.' } }
    },
    (problem) => newTeamPage(visit, problem),
  )
}

export async function editPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const visited = await loadVisitedTeam(visit)
  const { org, team, path } = visited
  checkMaintainer(org, team)
  const draft = problem ? draftIn(visit.form) : { ...team, description: team.description ?? '' }
  const question = `Delete ${org.login}/${team.slug}? Its members lose the access that it gives. This cannot be undone.`
  const remove = askMenu(
    html`<span class="button danger">Delete this team</span>`,
    question,
    form(visit, `${path}/delete`, button('Delete this team', { kind: 'danger' }), { class: '' }),
  )
  const body = html`${form(visit, `${path}/edit`, html`${alert(problem)}${inputs(draft, 'Save')}`)}
<div class="danger-zone"><div><span><strong>Delete this team</strong><br><span class="muted">Repositories and members of the organization stay.</span></span>${remove}</div></div>`
  return teamPage(visit, visited, 'edit', html`<div class="new-repository">${body}</div>`, problem?.status)
}

export async function save(visit: SignedIn): Promise<Outcome> {
  const { org, team } = await loadVisitedTeam(visit)
  checkMaintainer(org, team)
  return attempt(
    async () => {
      const { description, ...draft } = draftIn(visit.form)
      const wanted = { ...draft, description: description || null }
      const changed = await visit.db.transaction((db) => updateTeam(db, visit.visitor, org, team, wanted))
      return { to: `${teamPath(changed)}/edit`, flash: { done: 'The team is saved.' } }
    },
    (problem) => editPage(visit, problem),
  )
}

export async function remove(visit: SignedIn): Promise<Outcome> {
  const { org, team } = await loadVisitedTeam(visit)
  checkMaintainer(org, team)
  await visit.db.transaction((db) => deleteTeam(db, visit.visitor, team))
  return { to: `/orgs/${org.login}/teams`, flash: { done: `The team ${team.name} is deleted.` } }
}
