import type { Repository } from '#hosting/repositories/repositories.ts'
import { pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { loadAdministered, repositorySettings } from '#hosting/repositories/views/settings-page.ts'
import { levelOf, roleOf } from '#identity/access.ts'
import { loadAccount } from '#identity/accounts.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { person } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import {
  addCollaborator,
  type Collaborator,
  type Invitation,
  listCollaborators,
  listInvitations,
  removeCollaborator,
} from './collaborators.ts'

const place = '/:owner/:repo/settings/collaborators'

export const pages: PageRoute[] = [
  showOwn(place, (visit) => list(visit)),
  submitOwn(place, confirmed(invite)),
  submitOwn(`${place}/remove`, remove),
]

const roles = ['pull', 'triage', 'push', 'maintain', 'admin'].map((name): [string, string] => [name, roleOf(levelOf(name))])
const perPage = 50

async function list(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const people = await listCollaborators(visit.db, repo, levelOf('pull'), slice)
  const invitations = await listInvitations(visit.db, { repo_id: repo.id }, { limit: perPage, offset: 0 })
  const path = `${pathOf(repo)}/settings/collaborators`
  const inputs = html`${alert(problem)}${field({ label: 'Login', name: 'login', value: problem && visit.form.get('login'), required: true, longest: 100 })}
${select('Role', 'role', roles, visit.form.get('role') ?? 'push')}${button('Add', { kind: 'primary' })}`
  const body = html`<p>These people have access to the repository${repo.owner_type === 'Organization' && ', through the organization, a team, or by invitation'}.</p>
${people.total ? box(people.rows.map((one) => row(visit, repo, one))) : emptyState('people', 'Nobody else has access', 'Add a person below.')}
${pager(path, {}, page, Math.ceil(people.total / perPage))}
${invitations.total > 0 && html`<h2>Invited</h2>${box(invitations.rows.map((one) => invited(visit, repo, one)))}`}
<h2>Add a person</h2>${form(visit, path, inputs)}`
  return repositorySettings(visit, repo, '/collaborators', 'Collaborators', body, problem?.status)
}

function row(visit: SignedIn, repo: Repository, one: Collaborator): Html {
  const owner = one.id === repo.owner_id
  return html`<div class="title-line">${person(one, 24)} ${badge(owner ? 'owner' : roleOf(one.access))}<span class="space"></span>${!owner && removal(visit, repo, one.login, 'Remove')}</div>`
}

const invited = (visit: SignedIn, repo: Repository, { invitee, access, created_at }: Invitation): Html =>
  html`<div class="title-line">${person(invitee, 24)} ${badge(roleOf(access))} <span class="muted">invited ${moment(created_at)}</span><span class="space"></span>${removal(visit, repo, invitee.login, 'Withdraw')}</div>`

const removal = (visit: SignedIn, repo: Repository, login: string, word: string) =>
  form(
    visit,
    `${pathOf(repo)}/settings/collaborators/remove`,
    html`<input type="hidden" name="login" value="${login}">${button(word, { kind: 'danger', size: 'small', label: `${word} ${login}` })}`,
    { class: 'inline' },
  )

async function findUser(visit: SignedIn) {
  const login = typed(visit.form, 'login')
  return loadAccount(visit.db, login).catch((error) => {
    if (!(error instanceof Refusal)) throw error
    throw invalid({ resource: 'Repository', code: 'custom', message: `There is no user ${login.slice(0, 100)}` })
  })
}

function invite(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      const user = await findUser(visit)
      const level = levelOf(typed(visit.form, 'role'))
      if (!level) throw invalid({ resource: 'Repository', code: 'custom', message: 'Choose a role' })
      const invitation = await visit.db.transaction((db) => addCollaborator(db, repo, visit.visitor, user, level))
      const done = invitation ? `${user.login} is invited.` : `${user.login} has the role ${roleOf(level)} now.`
      return { to: `${pathOf(repo)}/settings/collaborators`, flash: { done } }
    },
    (problem) => list(visit, problem),
  )
}

function remove(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      const user = await findUser(visit)
      await visit.db.transaction((db) => removeCollaborator(db, repo, visit.visitor, user))
      return { to: `${pathOf(repo)}/settings/collaborators`, flash: { done: `${user.login} is no longer a collaborator.` } }
    },
    (problem) => list(visit, problem),
  )
}
