import { listOwners } from '#hosting/repositories/creation/owners.ts'
import { forkRepository, listNetworkOf } from '#hosting/repositories/forks.ts'
import { loadReceiver } from '#hosting/repositories/receiver.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { avatar } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { box } from '#web/components/table.ts'
import { alert, attempt, choice, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { ownerAndName } from './new-repository.ts'

export async function forkPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const owners = await listOwners(visit.db, visit.visitor)
  const { rows: existing } = await listNetworkOf(visit.db, viewerOf(visit), repo, owners)
  const free = owners.filter(({ id }) => id !== repo.owner_id && !existing.some(({ owner_id }) => owner_id === id))
  const forks = existing.filter(({ id }) => id !== repo.id)
  const body = html`<main class="new-repository"><h1>Create a fork</h1>
<p class="muted">A fork is your own copy of ${repo.owner_login}/${repo.name}. You can change it without affecting the original, and propose your changes with a pull request.</p>
${forks.length > 0 && existingForks(forks)}${free.length > 0 ? forkForm(visit, repo, free, problem) : nowhere(repo)}</main>`
  const title = `Fork ${repo.owner_login}/${repo.name}`
  return { title, body, above: repositoryHeader(repo), ...(problem && { status: problem.status }) }
}

const existingForks = (forks: Repository[]) =>
  box(
    forks.map(
      (one) =>
        html`${avatar({ id: one.owner_id, type: one.owner_type })} <a href="${pathOf(one)}">${one.owner_login}/<strong>${one.name}</strong></a>`,
    ),
    { header: html`<strong>Your copies</strong>`, label: 'Your copies' },
  )

const nowhere = (repo: Repository) =>
  emptyState(
    'repo-forked',
    'There is no other account to fork into',
    html`An account has at most one repository of a network. To work in ${repo.owner_login}/${repo.name}, push a branch to a repository above.`,
  )

function forkForm(visit: SignedIn, repo: Repository, owners: Awaited<ReturnType<typeof listOwners>>, problem?: Problem): Html {
  const sent = visit.form.has('name')
  const draft = { owner: typed(visit.form, 'owner'), name: sent ? typed(visit.form, 'name') : repo.name }
  const fields = html`${alert(problem)}${ownerAndName(owners, draft)}
${choice({ name: 'default_branch_only', value: 'yes', chosen: !sent || visit.form.get('default_branch_only') === 'yes' }, html`<span>Copy the branch <code>${repo.default_branch}</code> only<br><span class="muted">Other branches and tags stay in the original.</span></span>`)}
<p class="buttons">${button('Create fork', { kind: 'primary', icon: 'repo-forked' })}</p>`
  return form(visit, `${pathOf(repo)}/fork`, fields)
}

export async function fork(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const { db, visitor } = visit
  return attempt(
    async () => {
      const owner = await loadReceiver(db, visitor, typed(visit.form, 'owner'))
      const name = typed(visit.form, 'name') || repo.name
      const default_branch_only = visit.form.get('default_branch_only') === 'yes'
      const made = await db.transaction((transaction) =>
        forkRepository(transaction, viewerOf(visit), repo, visitor, owner, { name, default_branch_only }),
      )
      return { to: pathOf(made) }
    },
    (problem) => forkPage(visit, problem),
  )
}
