import type { Comparison } from '#git/compare.ts'
import type { Storage } from '#git/storage.ts'
import { readPullTemplate } from '#hosting/contents/well-known-files.ts'
import { listAssignable } from '#hosting/issues/assignees.ts'
import { mayPush, mayTriage } from '#hosting/issues/rights.ts'
import { pickerRows } from '#hosting/issues/views/picker.ts'
import { listLabels } from '#hosting/labels/labels.ts'
import { composer, previewOf } from '#hosting/mentions/views/composer.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Refusal } from '#platform/errors.ts'
import { avatar } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { issueLabel } from '#web/components/label.ts'
import { alert, choice, field, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'
import type { End } from '../json.ts'

interface Proposal {
  repo: Repository
  head: End
  comparison: Comparison
  /** Where the form is sent. */
  path: string
}

/** Opens a pull request. Links can fill in its fields, as with the best-known code host. */
export async function openForm(visit: SignedIn, proposal: Proposal, problem?: Problem): Promise<Html> {
  const { repo, head, path } = proposal
  const { title, body } = await draftOf(visit, proposal)
  const preview = visit.form.has('preview') ? await previewOf(visit, repo, body) : undefined
  const fork = head.repo.id !== repo.id && mayPush(head.repo)
  const asked = visit.form.has('csrf') ? visit.form.has('maintainer_can_modify') : true
  const modify = fork && choice({ name: 'maintainer_can_modify', value: 'yes', chosen: asked }, 'Allow edits by maintainers')
  const inputs = html`<div class="with-side"><div>${alert(problem)}${field({ label: 'Title', name: 'title', value: title, required: true, longest: 256 })}
${composer(repo, { id: 'body', label: 'Description', value: body, rows: 10, preview, draft: path })}${modify}
<div class="buttons end">${button('Create draft', { name: 'draft', value: 'yes', icon: 'git-pull-request-draft' })}${button('Create pull request', { kind: 'primary', name: 'draft', value: 'no' })}</div></div>
<aside aria-label="About this pull request">${mayTriage(repo) ? await choices(visit, repo) : html`<p class="muted">Say what changes and why. Maintainers add reviewers and labels.</p>`}</aside></div>`
  return form(visit, path, inputs, { class: 'form reply open-pull', enter: { name: 'draft', value: 'no' } })
}

/** The message of a single commit, or the name of the branch; then the template of the repository. */
async function draftOf(visit: SignedIn, { repo, head, comparison }: Proposal): Promise<{ title: string; body: string }> {
  const { form: sent, query } = visit
  if (sent.has('title')) return { title: sent.get('title') ?? '', body: sent.get('body') ?? '' }
  const { commits } = comparison
  const [only] = commits.length === 1 ? commits : []
  const [first = '', ...rest] = only?.message.trim().split('\n') ?? [fromBranch(head.name)]
  const template = query.has('body') ? '' : await readTemplate(visit.belfry.storage, repo)
  const body = [rest.join('\n').trim(), template].filter(Boolean).join('\n\n')
  return { title: (query.get('title') ?? first).slice(0, 256), body: (query.get('body') ?? body).slice(0, 65_536) }
}

/** `fix-the_mill` becomes `Fix the mill`. */
function fromBranch(name: string): string {
  const words =
    name
      .slice(name.lastIndexOf('/') + 1)
      .replaceAll(/[-_]+/g, ' ')
      .trim() || name
  return words.charAt(0).toUpperCase() + words.slice(1)
}

async function readTemplate(storage: Storage, repo: Repository): Promise<string> {
  try {
    const content = await readPullTemplate(storage, repo, `refs/heads/${repo.default_branch}`)
    return content.kind === 'file' ? (content.bytes?.toString().replaceAll('\0', '').trim() ?? '') : ''
  } catch (error) {
    if (error instanceof Refusal) return ''
    throw error
  }
}

const most = 100

async function choices(visit: SignedIn, repo: Repository): Promise<Html> {
  const slice = { limit: most, offset: 0 }
  const [people, labels] = [await listAssignable(visit.db, repo, slice), await listLabels(visit.db, repo, slice)]
  const chosen = (name: string) => [...visit.form.getAll(name), ...(visit.query.get(`${name}s`) ?? '').split(',')].filter(Boolean)
  const reviewers = people.rows.filter(({ id }) => id !== visit.visitor.id)
  const part = (title: string, name: string, rows: { value: string; shown: Html }[], more: boolean) =>
    html`<section><details class="picker-fields"${chosen(name).length > 0 && html` open`}><summary>${title}</summary>${pickerRows({ title, name, choices: rows, chosen: chosen(name), more })}</details></section>`
  return html`${part(
    'Reviewers',
    'reviewer',
    reviewers.map((one) => ({ value: one.login, shown: html`${avatar(one, 20)} <span>${one.login}</span>` })),
    people.total > most,
  )}${part(
    'Labels',
    'label',
    labels.rows.map((label) => ({ value: label.name, shown: issueLabel(label) })),
    labels.total > most,
  )}`
}
