import { checkChangeable, checkEnabled, mayPush } from '#hosting/issues/rights.ts'
import { composer, previewOf } from '#hosting/mentions/views/composer.ts'
import { renderTexts, written } from '#hosting/mentions/views/render-texts.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, numberIn, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess } from '#identity/access.ts'
import type { Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { segments } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { alert, attempt, field, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn, type Visit } from '#web/page.ts'
import { countMilestones, listMilestones, loadMilestone, type Milestone } from './milestones.ts'
import { createMilestone, deleteMilestone, updateMilestone } from './update.ts'
import { milestonePage } from './views/milestone-page.ts'
import { milestoneRow } from './views/milestone-row.ts'

const place = '/:owner/:repo/milestones'
const one = '/:owner/:repo/milestone/:number'

export const pages: PageRoute[] = [
  show(place, milestonesPage),
  showOwn(`${place}/new`, (visit) => formPage(visit)),
  submitOwn(`${place}/new`, (visit) =>
    save(visit, undefined, (db, repo) => createMilestone(db, repo, visit.visitor, fieldsIn(visit.form))),
  ),
  show(one, async (visit) => {
    const { repo, milestone } = await load(visit)
    return milestonePage(visit, repo, milestone)
  }),
  showOwn(`${one}/edit`, async (visit) => formPage(visit, (await load(visit)).milestone)),
  submitOwn(`${one}/edit`, async (visit) => {
    const { milestone } = await load(visit)
    return save(visit, milestone, (db, repo) => updateMilestone(db, repo, visit.visitor, milestone, fieldsIn(visit.form)))
  }),
  submitOwn(`${one}/state`, async (visit) => {
    const { repo, milestone } = await load(visit)
    const state = visit.form.get('state') === 'closed' ? 'closed' : 'open'
    await changing(visit, repo, (db) => updateMilestone(db, repo, visit.visitor, milestone, { state }))
    return { to: `${pathOf(repo)}/milestone/${milestone.number}` }
  }),
  submitOwn(`${one}/delete`, async (visit) => {
    const { repo, milestone } = await load(visit)
    await changing(visit, repo, (db) => deleteMilestone(db, repo, visit.visitor, milestone))
    return { to: `${pathOf(repo)}/milestones`, flash: { done: `The milestone ${milestone.title} is deleted.` } }
  }),
]

async function load(visit: Visit) {
  const repo = await loadVisibleRepository(visit)
  checkEnabled(repo)
  return { repo, milestone: await loadMilestone(visit.db, repo, numberIn(visit.params.number)) }
}

/** The same rules as the API has. */
const changing = (visit: SignedIn, repo: Repository, act: (db: Transaction) => Promise<unknown>) =>
  visit.db.transaction(async (db) => {
    checkChangeable(repo)
    checkAccess(repo.access, 'push')
    await act(db)
  })

const perPage = 30

const orders = {
  'due_on-asc': 'Closest due date',
  'due_on-desc': 'Furthest due date',
  'completeness-desc': 'Most complete',
  'completeness-asc': 'Least complete',
} as const

async function milestonesPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  checkEnabled(repo)
  const path = `${pathOf(repo)}/milestones`
  const state = visit.query.get('state') === 'closed' ? 'closed' : 'open'
  const wanted = visit.query.get('sort') ?? ''
  const [sort, direction] = (wanted in orders ? wanted : 'due_on-asc').split('-') as ['due_on', 'asc']
  const page = pageIn(visit.query)
  const [{ rows, total }, counts] = await Promise.all([
    listMilestones(visit.db, repo, { state, sort, direction }, { limit: perPage, offset: (page - 1) * perPage }),
    countMilestones(visit.db, repo),
  ])
  const may = visit.visitor !== null && mayPush(repo) && !repo.archived
  const tab = (name: 'open' | 'closed', text: string) => ({
    text,
    href: `${path}?state=${name}`,
    current: name === state,
    count: counts[name],
  })
  const sorts = Object.entries(orders).map(
    ([value, text]) =>
      html`<a href="${path}?state=${state}&sort=${value}"${value === `${sort}-${direction}` && html` aria-current="true"`}>${text}</a>`,
  )
  const header = html`${segments('State', [tab('open', 'Open'), tab('closed', 'Closed')])}<span class="space"></span><nav class="views" aria-label="Sort">${sorts}</nav>`
  const texts = await renderTexts(
    visit,
    repo,
    rows.map(({ description }) => description),
  )
  const list = rows.length
    ? box(
        rows.map((milestone, index) => milestoneRow(visit, repo, milestone, texts[index], may)),
        { header, label: 'Milestones' },
      )
    : html`${box([], { header, kind: 'issue-list none' })}${emptyState('milestone', `There are no ${state} milestones`, 'A milestone collects the issues and pull requests for a date or a version, and shows how many are done.')}`
  const body = html`<main class="issue-lists">${banner(visit.flash.done)}<div class="title-bar"><h1>Milestones</h1><div class="buttons">${buttonLink('Labels', `${pathOf(repo)}/labels`, { icon: 'tag' })}${may && buttonLink('New milestone', `${path}/new`, { kind: 'primary' })}</div></div>
${list}${pager(path, { state, sort: `${sort}-${direction}` }, page, Math.ceil(total / perPage))}</main>`
  return { title: `Milestones · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'issues') }
}

const longestTitle = 255

function fieldsIn(sent: URLSearchParams) {
  const title = (sent.get('title') ?? '').replaceAll('\0', '').trim()
  if (title.length > longestTitle) {
    throw invalid({
      resource: 'Milestone',
      code: 'invalid',
      field: 'title',
      message: `title is longer than ${longestTitle} characters`,
    })
  }
  const due = (sent.get('due_on') ?? '').trim()
  const due_on = due === '' ? null : parseIsoDate(`${due}T12:00:00Z`)
  if (due_on === undefined)
    throw invalid({ resource: 'Milestone', code: 'invalid', field: 'due_on', message: 'the due date must be a date' })
  return { title, description: written(sent, 'body') || null, due_on }
}

async function formPage(visit: SignedIn, milestone?: Milestone, problem?: Problem): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  checkEnabled(repo)
  checkAccess(repo.access, 'push')
  const path = milestone ? `${pathOf(repo)}/milestone/${milestone.number}` : `${pathOf(repo)}/milestones`
  const again = visit.form.has('title')
  const text = again ? (visit.form.get('body') ?? '') : (milestone?.description ?? '')
  const preview = visit.form.has('preview') ? await previewOf(visit, repo, text) : undefined
  const due = again ? visit.form.get('due_on') : milestone?.due_on?.toISOString().slice(0, 10)
  const title = milestone ? `Edit ${milestone.title}` : 'New milestone'
  const inputs = html`${alert(problem)}${field({ label: 'Title', name: 'title', value: again ? visit.form.get('title') : milestone?.title, required: true, longest: longestTitle })}
<label for="due_on">Due date</label><input id="due_on" name="due_on" type="date" value="${due}"><p class="hint muted">Optional.</p>
${composer(repo, { id: 'body', label: 'Description', value: text, preview })}
<div class="buttons">${button(milestone ? 'Save changes' : 'Create milestone', { kind: 'primary' })}${buttonLink('Cancel', path)}</div>`
  const body = html`<main class="conversation"><h1>${title}</h1>${form(visit, milestone ? `${path}/edit` : `${path}/new`, inputs, { enter: 'plain' })}</main>`
  return {
    title: `${title} · ${repo.owner_login}/${repo.name}`,
    body,
    ...(problem && { status: problem.status }),
    above: repositoryHeader(repo, 'issues'),
  }
}

async function save(
  visit: SignedIn,
  milestone: Milestone | undefined,
  act: (db: Transaction, repo: Repository) => Promise<Milestone>,
): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  if (visit.form.has('preview')) return formPage(visit, milestone)
  return attempt(
    async () => {
      let saved: Milestone | undefined
      await changing(visit, repo, async (db) => {
        saved = await act(db, repo)
      })
      return { to: `${pathOf(repo)}/milestone/${saved?.number}` }
    },
    (problem) => formPage(visit, milestone, problem),
  )
}
