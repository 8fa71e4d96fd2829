import { checkChangeable, checkEnabled, mayTriage } from '#hosting/issues/rights.ts'
import { type IssueTemplate, listTemplates } from '#hosting/issues/templates.ts'
import { createIssue } from '#hosting/issues/update.ts'
import { composer, previewOf } from '#hosting/mentions/views/composer.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { box } from '#web/components/table.ts'
import { alert, attempt, field, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { addressOf } from './conversation.ts'
import { listChoices, pickerRows } from './picker.ts'

/** What the form shows: what was typed, or what the address or a template says. */
interface Draft {
  title: string
  body: string
  labels: string[]
  assignees: string[]
  milestone: string
}

export async function newIssuePage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  checkEnabled(repo)
  const begun = visit.request.method === 'POST' || ['blank', 'title', 'body'].some((name) => visit.query.has(name))
  const templates = begun ? [] : await listTemplates(visit.belfry.storage, repo)
  const chosen = templates.find(({ file }) => file === visit.query.get('template'))
  if (templates.length && !chosen) return templatesPage(repo, templates)
  const draft = visit.request.method === 'POST' ? draftIn(visit.form) : (chosen ?? draftOf(visit.query))
  const path = `${pathOf(repo)}/issues/new`
  const preview = visit.form.has('preview') ? await previewOf(visit, repo, draft.body) : undefined
  const inputs = html`<div class="with-side"><div>${alert(problem)}${field({ label: 'Title', name: 'title', value: draft.title, required: true, longest: 256 })}
${composer(repo, { id: 'body', label: 'Description', value: draft.body, rows: 14, preview, draft: path })}
<div class="buttons end">${buttonLink('Cancel', `${pathOf(repo)}/issues`)}${button('Open issue', { kind: 'primary' })}</div></div>
<aside aria-label="About this issue">${mayTriage(repo) ? await choices(visit, repo, { milestone: '', ...draft }) : html`<p class="muted">Say what happened, what you expected, and how to see it again. Maintainers add labels and assignees.</p>`}</aside></div>`
  const body = html`<main class="conversation"><h1>New issue</h1>${form(visit, path, inputs, { class: 'form reply', enter: 'plain' })}</main>`
  return {
    title: `New issue · ${repo.owner_login}/${repo.name}`,
    body,
    ...(problem && { status: problem.status }),
    above: repositoryHeader(repo, 'issues'),
  }
}

const several = (values: string[]) =>
  [...new Set(values.map((one) => one.replaceAll('\0', '').trim()))].filter(Boolean).slice(0, 100)

const draftIn = (sent: URLSearchParams): Draft => ({
  title: sent.get('title') ?? '',
  body: sent.get('body') ?? '',
  labels: several(sent.getAll('label')),
  assignees: several(sent.getAll('assignee')),
  milestone: sent.get('milestone') ?? '',
})

/** Links can fill in the form, as with the best-known code host. */
const draftOf = (query: URLSearchParams): Draft => ({
  title: (query.get('title') ?? '').slice(0, 256),
  body: (query.get('body') ?? '').slice(0, 65_536),
  labels: several((query.get('labels') ?? '').split(',')),
  assignees: several((query.get('assignees') ?? '').split(',')),
  milestone: '',
})

async function choices(visit: SignedIn, repo: Repository, draft: Draft): Promise<Html> {
  const { labels, people, milestones } = await listChoices(visit.db, repo)
  const part = (title: string, rows: Html, open: boolean) =>
    html`<section><details class="picker-fields"${open && html` open`}><summary>${title}</summary>${rows}</details></section>`
  return html`${part('Assignees', pickerRows({ title: 'Assignees', name: 'assignee', ...people, chosen: draft.assignees }), draft.assignees.length > 0)}
${part('Labels', pickerRows({ title: 'Labels', name: 'label', ...labels, chosen: draft.labels }), draft.labels.length > 0)}
${part('Milestone', pickerRows({ title: 'Milestone', name: 'milestone', single: true, ...milestones, chosen: [draft.milestone] }), draft.milestone !== '')}`
}

function templatesPage(repo: Repository, templates: IssueTemplate[]): Outcome {
  const path = `${pathOf(repo)}/issues/new`
  const row = (name: string, about: string, query: string, kind: 'primary' | 'default') =>
    html`<div class="template-row"><div><strong>${name}</strong><p class="muted">${about}</p></div>${buttonLink('Get started', `${path}?${query}`, { kind, size: 'small', label: `Get started: ${name}` })}</div>`
  const rows = templates.map(({ file, name, about }) =>
    row(name, about, new URLSearchParams({ template: file }).toString(), 'primary'),
  )
  const body = html`<main class="conversation"><h1>New issue</h1>${box([...rows, row('Blank issue', 'Begin with an empty text.', 'blank', 'default')], { label: 'Templates' })}</main>`
  return { title: `New issue · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'issues') }
}

export async function openIssue(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  if (visit.form.has('preview')) return newIssuePage(visit)
  const { labels, assignees, milestone } = draftIn(visit.form)
  return attempt(
    async () => {
      const wanted = {
        title: written(visit.form, 'title'),
        body: written(visit.form, 'body') || null,
        labels,
        assignees,
        milestone: /^[1-9]\d{0,8}$/.test(milestone) ? Number(milestone) : null,
      }
      const issue = await visit.db.transaction(async (db) => {
        checkChangeable(repo)
        return createIssue(db, viewerOf(visit), repo, visit.visitor, wanted)
      })
      return { to: addressOf({ repo, issue, kind: 'issues' }) }
    },
    (problem) => newIssuePage(visit, problem),
  )
}
