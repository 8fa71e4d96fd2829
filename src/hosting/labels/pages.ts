import { mayPush } from '#hosting/issues/rights.ts'
import { queryFor } from '#hosting/issues/views/list-query.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import type { Transaction } from '#platform/database.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { issueLabel } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { banner } from '#web/components/toast.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import { type CountedLabel, findLabel, type Label, listCountedLabels } from './labels.ts'
import { createLabel, deleteLabel, updateLabel } from './update.ts'

const place = '/:owner/:repo/labels'

export const pages: PageRoute[] = [
  show(place, (visit) => labelsPage(visit)),
  submitOwn(place, (visit) =>
    change(visit, 'new', 'The label is created.', (db, repo) => createLabel(db, repo, visit.visitor, fieldsIn(visit.form))),
  ),
  submitOwn(`${place}/:id`, (visit) =>
    change(visit, idOf(visit), 'The label is changed.', async (db, repo) =>
      updateLabel(db, repo, visit.visitor, await findLabel(db, repo, Number(idOf(visit))), fieldsIn(visit.form)),
    ),
  ),
  submitOwn(`${place}/:id/delete`, (visit) =>
    change(visit, idOf(visit), 'The label is deleted.', async (db, repo) =>
      deleteLabel(db, repo, visit.visitor, await findLabel(db, repo, Number(idOf(visit)))),
    ),
  ),
]

/** Ids of labels, because a name may contain every character of an address. */
const idOf = ({ params }: Visit) => /^\d{1,15}$/.exec(params.id ?? '')?.[0] ?? '0'

const fieldsIn = (sent: URLSearchParams) => ({
  name: typed(sent, 'name'),
  color: typed(sent, 'color').replace(/^#/, ''),
  description: typed(sent, 'description').slice(0, longestDescription) || null,
})

const longestDescription = 100
const perPage = 100

/** A form that was refused: of a label by its id, or of a new one. */
interface Refused {
  which: string
  problem: Problem
}

async function change(
  visit: SignedIn,
  which: string,
  done: string,
  act: (db: Transaction, repo: Repository) => Promise<unknown>,
): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  return attempt(
    async () => {
      await visit.db.transaction(async (db) => {
        checkWritable(repo)
        checkAccess(repo.access, 'push')
        await act(db, repo)
      })
      return { to: `${pathOf(repo)}/labels`, flash: { done } }
    },
    (problem) => labelsPage(visit, { which, problem }),
  )
}

/** The labels of a repository by name, with the number of open issues and pull requests that have them. */
async function labelsPage(visit: Visit, refused?: Refused): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const path = `${pathOf(repo)}/labels`
  const q = (visit.query.get('q') ?? '').replaceAll('\0', '').trim().slice(0, 100)
  const page = pageIn(visit.query)
  const { rows, total } = await listCountedLabels(visit.db, repo, q, { limit: perPage, offset: (page - 1) * perPage })
  const may = visit.visitor !== null && mayPush(repo) && !repo.archived
  const creates = may && (refused?.which === 'new' || visit.query.has('new'))
  const header = html`<strong>${total === 1 ? '1 label' : `${total} labels`}</strong>`
  const list = rows.length
    ? box(
        rows.map((label) => labelRow(visit, repo, label, may, refused)),
        { header, label: 'Labels', kind: 'label-list' },
      )
    : emptyState(
        'tag',
        q ? 'No label matches' : 'There are no labels yet',
        'Labels sort issues and pull requests by topic, kind or urgency.',
      )
  const search = html`<form class="list-search" role="search" method="get" action="${path}"><input type="search" name="q" value="${q}" placeholder="Search labels" aria-label="Search labels" maxlength="100">${button('Search')}</form>`
  const body = html`<main class="issue-lists">${banner(visit.flash.done)}<div class="title-bar"><h1>Labels</h1><div class="buttons">${repo.has_issues && buttonLink('Milestones', `${pathOf(repo)}/milestones`, { icon: 'milestone' })}${may && buttonLink('New label', `${path}?new`, { kind: 'primary' })}</div></div>
${creates && html`<section class="card" aria-label="New label">${labelForm(visit, path, 'new', newLabel, refused)}</section>`}<div class="list-bar">${search}</div>${list}${pager(path, q ? { q } : {}, page, Math.ceil(total / perPage))}</main>`
  return {
    title: `Labels · ${repo.owner_login}/${repo.name}`,
    body,
    ...(refused && { status: refused.problem.status }),
    above: repositoryHeader(repo, 'issues'),
  }
}

const newLabel = { name: '', color: '8250df', description: null }

function labelRow(visit: Visit, repo: Repository, label: CountedLabel, may: boolean, refused: Refused | undefined): Html {
  const path = `${pathOf(repo)}/labels`
  const id = String(label.id)
  const asks = (what: string) => may && visit.query.get(what) === id
  if (may && (refused?.which === id || asks('edit'))) return labelForm(visit, `${path}/${id}`, id, label, refused)
  const { open_issues, open_pulls } = label
  const counted = (only: 'issues' | 'pulls', number: number, text: string) =>
    number > 0 &&
    html`<a class="muted" href="${pathOf(repo)}/${only}?${queryFor(only, { label: label.name })}">${number} open ${text}${number !== 1 && 's'}</a>`
  const row = html`<div class="label-row"><div class="label-name">${issueLabel(label, `${pathOf(repo)}/issues?${queryFor('issues', { label: label.name })}`)}</div><div class="label-text muted" dir="auto">${label.description}</div>
<div class="label-counts">${counted('issues', open_issues, 'issue')} ${counted('pulls', open_pulls, 'pull request')}</div>
${may && html`<div class="buttons">${buttonLink('Edit', `${path}?edit=${id}`, { size: 'small', label: `Edit ${label.name}` })}${buttonLink('Delete', `${path}?delete=${id}`, { size: 'small', kind: 'danger', label: `Delete ${label.name}` })}</div>`}</div>`
  if (!asks('delete')) return row
  const question = html`<p>Delete this label? It is removed from every issue and pull request.</p><div class="buttons">${button('Delete label', { kind: 'danger' })}${buttonLink('Cancel', path)}</div>`
  return html`${row}${form(visit, `${path}/${id}/delete`, question, { class: 'form label-question' })}`
}

function labelForm(
  visit: Visit,
  action: string,
  id: string,
  label: Pick<Label, 'name' | 'color' | 'description'>,
  refused: Refused | undefined,
): Html {
  const again = refused?.which === id
  const value = (name: 'name' | 'color' | 'description') => (again ? typed(visit.form, name) : label[name])
  const color = (value('color') ?? '').replace(/^#?/, '#')
  const inputs = html`${again && alert(refused.problem)}<div class="label-fields"><div>${field({ label: 'Name', name: 'name', id: `name-${id}`, value: value('name'), required: true, longest: 50 })}</div>
<div>${field({ label: 'Description', name: 'description', id: `description-${id}`, value: value('description'), longest: longestDescription })}</div>
<div><label for="color-${id}">Color</label><input id="color-${id}" name="color" type="color" value="${/^#[0-9a-f]{6}$/i.test(color) ? color : '#ededed'}"></div>
<div class="buttons">${button(id === 'new' ? 'Create label' : 'Save changes', { kind: 'primary' })}${buttonLink('Cancel', `/${visit.params.owner}/${visit.params.repo}/labels`)}</div></div>`
  return form(visit, action, inputs)
}
