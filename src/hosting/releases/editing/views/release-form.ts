import { composer } from '#hosting/mentions/views/composer.ts'
import type { Release } from '#hosting/releases/releases.ts'
import { editAddress } from '#hosting/releases/views/release.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { banner } from '#web/components/toast.ts'
import { alert, choice, field, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'
import { filesBox, filesField, type TypedFile } from './files-form.ts'

/** What the form of a release contains. */
export interface Draft {
  tag_name: string
  target_commitish: string
  name: string
  body: string
  prerelease: boolean
}

interface Shown {
  /** Undefined for a new one. */
  release: Release | undefined
  draft: Draft
  names: { branches: string[]; tags: string[] }
  problem?: Problem | undefined
  preview?: Html | undefined
  file?: TypedFile | undefined
}

/** Names that a field suggests. */
const mostSuggested = 100

export function releaseForm(visit: SignedIn, repo: Repository, { release, draft, names, problem, preview, file }: Shown): Html {
  const path = pathOf(repo)
  const published = release !== undefined && !release.draft
  const suggestions = (id: string, values: string[]) =>
    html`<datalist id="${id}">${values.slice(0, mostSuggested).map((value) => html`<option value="${value}"></option>`)}</datalist>`
  const fields = html`${alert(problem)}<div class="release-tag"><div>${field({ label: 'Tag', name: 'tag_name', value: draft.tag_name, required: true, longest: 255, list: 'tags', hint: 'An existing tag, or a new one that is created when you publish.' })}</div>
<div>${field({ label: 'Target of a new tag', name: 'target_commitish', value: draft.target_commitish, longest: 255, list: 'branches', hint: 'A branch or a commit.' })}</div></div>
${suggestions('tags', names.tags)}${suggestions('branches', names.branches)}
${field({ label: 'Title', name: 'name', value: draft.name, longest: 255 })}
${composer(repo, { id: 'body', label: 'Notes', value: draft.body, rows: 14, preview, ...(!release && { draft: `${path}/releases/new` }) })}
<p>${button('Generate notes', { name: 'action', value: 'generate', icon: 'sparkle', unchecked: true, text_only: true })} <span class="muted">What was merged since the previous release is added to the notes.</span></p>
${choice({ name: 'prerelease', value: 'yes', chosen: draft.prerelease }, html`<strong>Pre-release</strong> <span class="muted">Not ready for production; it does not become the latest release.</span>`)}
${filesField}
<div class="buttons">${button(published ? 'Save release' : 'Publish release', { name: 'action', value: 'publish', kind: 'primary' })}${button(published ? 'Turn into a draft' : 'Save draft', { name: 'action', value: 'draft' })}${buttonLink('Cancel', `${path}/releases`, { kind: 'invisible' })}</div>`
  const action = release ? editAddress(repo, release) : `${path}/releases/new`
  return html`<main class="release-editor"><h1>${release ? `Edit ${release.name || release.tag_name}` : 'New release'}</h1>${banner(visit.flash.done)}${form(visit, action, fields, { files: true, enter: { name: 'action', value: 'publish' } })}${release && html`${filesBox(visit, repo, release, file)}${more(visit, repo, release)}`}</main>`
}

function more(visit: SignedIn, repo: Repository, release: Release): Html {
  return html`<details class="danger-zone"><summary>Delete this release</summary><div><span>The release and its files are deleted. Its tag remains.</span>${form(
    visit,
    `${pathOf(repo)}/releases/delete/${release.id}`,
    button('Delete the release', { kind: 'danger' }),
    { class: 'inline' },
  )}</div></details>`
}
