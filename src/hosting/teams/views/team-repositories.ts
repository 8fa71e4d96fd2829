import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { pageIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkMaintainer, listTeamRepositories, removeTeamAccess, setTeamAccess } from '#hosting/teams/teams.ts'
import { checkAccess, levelOf, roleOf } from '#identity/access.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { askMenu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { alert, attempt, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, type Visit } from '#web/page.ts'
import { loadVisitedTeam, teamPage, type VisitedTeam } from './team-page.ts'

const perPage = 50

export const levels: [string, string][] = [
  ['pull', 'Read'],
  ['triage', 'Triage'],
  ['push', 'Write'],
  ['maintain', 'Maintain'],
  ['admin', 'Admin'],
]

export async function repositoriesPage(visit: Visit, problem?: Problem): Promise<Outcome> {
  const visited = await loadVisitedTeam(visit)
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const { rows, total } = await listTeamRepositories(visit.db, viewerOf(visit), visited.team, slice)
  const list = rows.length
    ? box(
        rows.map((repo) => row(visit, visited, repo)),
        { label: 'Repositories' },
      )
    : emptyState('repo', 'This team has no repositories that you can see', 'A team gives its members access to repositories.')
  const body = html`${visited.managed && addForm(visit, visited, problem)}${list}${pager(`${visited.path}/repositories`, {}, page, Math.ceil(total / perPage))}`
  return teamPage(visit, visited, 'repositories', body, problem?.status)
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function row(visit: Visit, { org, team, path, managed }: VisitedTeam, repo: Repository & { team_access: number }): Html {
  const name = html`<div class="row-main">${icon(repo.private ? 'lock' : 'repo')} <a href="${pathOf(repo)}"><strong>${repo.name}</strong></a> ${badge(sentence(roleOf(repo.team_access)))}</div>`
  if (!managed && repo.access < levelOf('admin')) return name
  const fields = html`<input type="hidden" name="name" value="${repo.name}">${button('Remove', { kind: 'danger' })}`
  const question = `Remove ${repo.name} from ${org.login}/${team.slug}? Its members lose the access that the team gives.`
  const answer = form(visit, `${path}/repositories/remove`, fields, { class: '' })
  return html`<div class="row-with-actions">${name}${askMenu(html`<span class="button small danger">Remove</span>`, question, answer, { label: `Remove ${repo.name}` })}</div>`
}

function addForm(visit: Visit, { path, org }: VisitedTeam, problem?: Problem): Html {
  const fields = html`<div class="in-line"><div>${field({ label: `Repository of ${org.login}`, name: 'name', value: visit.form.get('name'), required: true, longest: 100 })}</div><div>${select('Access', 'access', levels, visit.form.get('access') ?? 'pull')}</div>${button('Add', { kind: 'primary' })}</div>
<p class="hint muted">You can add repositories that you administer.</p>`
  return html`<details class="add"${problem && html` open`}><summary class="button">${icon('repo')} Add a repository</summary><div class="card">${alert(problem)}${form(visit, `${path}/repositories`, fields)}</div></details>`
}

function loadNamed(visit: SignedIn, { org }: VisitedTeam): Promise<Repository> {
  const name = typed(visit.form, 'name').replace(/^.*\//, '')
  return loadRepository(visit.db, viewerOf(visit), org.login, name).catch((error) => {
    if (error instanceof Refusal) {
      const message = `${org.login} has no repository called ${name || '(empty)'} that you can see`
      throw invalid({ resource: 'TeamRepository', code: 'invalid', field: 'name', message })
    }
    throw error
  })
}

export async function addTeamRepository(visit: SignedIn): Promise<Outcome> {
  const visited = await loadVisitedTeam(visit)
  return attempt(
    async () => {
      const repo = await loadNamed(visit, visited)
      checkAccess(repo.access, 'admin')
      const level = levels.find(([name]) => name === visit.form.get('access'))?.[0] ?? 'pull'
      await visit.db.transaction((db) => setTeamAccess(db, visit.visitor, visited.team, repo, levelOf(level)))
      return { to: `${visited.path}/repositories`, flash: { done: `The team has access to ${repo.name} now.` } }
    },
    (problem) => repositoriesPage(visit, problem),
  )
}

export async function removeTeamRepository(visit: SignedIn): Promise<Outcome> {
  const visited = await loadVisitedTeam(visit)
  return attempt(
    async () => {
      const repo = await loadNamed(visit, visited)
      if (repo.access < levelOf('admin')) checkMaintainer(visited.org, visited.team)
      await visit.db.transaction((db) => removeTeamAccess(db, visit.visitor, visited.team, repo))
      return { to: `${visited.path}/repositories`, flash: { done: `${repo.name} is removed from the team.` } }
    },
    (problem) => repositoriesPage(visit, problem),
  )
}
