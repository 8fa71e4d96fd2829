import { gitignoreTemplates } from '#hosting/templates/gitignore.ts'
import { licenses } from '#hosting/templates/licenses.ts'
import type { Account } from '#identity/accounts.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { alert, choice, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'

/** What was typed into the form, or what the link to it asked for. */
export interface RepositoryDraft {
  owner: string
  name: string
  description: string
  private: boolean
  readme: boolean
  /** Names of templates; empty for none. */
  gitignore: string
  license: string
}

/** Links prefill the form: `/new?owner=acme&name=engine&visibility=private`. */
export function draftIn(given: URLSearchParams): RepositoryDraft {
  return {
    owner: typed(given, 'owner'),
    name: typed(given, 'name').slice(0, 100),
    description: typed(given, 'description').slice(0, 350),
    private: given.get('visibility') === 'private',
    readme: given.get('readme') === 'yes',
    gitignore: typed(given, 'gitignore'),
    license: typed(given, 'license'),
  }
}

export function ownerAndName(owners: Account[], { owner, name }: Pick<RepositoryDraft, 'owner' | 'name'>): Html {
  const options = owners.map(({ login }): [string, string] => [login, login])
  const chosen = owners.find(({ login }) => login.toLowerCase() === owner.toLowerCase())?.login ?? ''
  return html`<div class="owner-and-name" data-name-check="/new/name"><div>${select('Owner', 'owner', options, chosen)}</div><span aria-hidden="true">/</span>
<div>${field({ label: 'Repository name', name: 'name', value: name, required: true, longest: 100 })}</div></div>
<p class="name-check" role="status" aria-live="polite"></p>`
}

export function visibilityChoice(isPrivate: boolean): Html {
  const row = (value: string, chosen: boolean, name: string, title: string, text: string) =>
    choice(
      { name: 'visibility', value, chosen, type: 'radio' },
      html`${icon(name)}<span><strong>${title}</strong><br><span class="muted">${text}</span></span>`,
    )
  return html`<fieldset class="visibility"><legend>Visibility</legend>
${row('public', !isPrivate, 'repo', 'Public', 'Everyone can see it. You choose who can push.')}
${row('private', isPrivate, 'lock', 'Private', 'You choose who can see it and who can push.')}</fieldset>`
}

export const descriptionField = (value: string) =>
  field({ label: 'Description (optional)', name: 'description', value, longest: 350 })

const ignores: [string, string][] = [
  ['', 'None'],
  ...[...gitignoreTemplates.keys()].map((name): [string, string] => [name, name]),
]
const terms: [string, string][] = [['', 'None'], ...licenses.map(({ key, name }): [string, string] => [key, name])]

export function newRepositoryForm(visit: Visit, owners: Account[], draft: RepositoryDraft, problem?: Problem): Html {
  const fields = html`${alert(problem)}${ownerAndName(owners, draft)}${descriptionField(draft.description)}${visibilityChoice(draft.private)}
<fieldset><legend>Start with files</legend><p class="muted">Skip this if you push a repository that you already have.</p>
${choice({ name: 'readme', value: 'yes', chosen: draft.readme }, html`<span>Add a README<br><span class="muted">A page that says what the repository is for.</span></span>`)}
<div class="templates"><div>${select('.gitignore', 'gitignore', ignores, draft.gitignore)}</div><div>${select('License', 'license', terms, draft.license)}</div></div></fieldset>
<p class="buttons">${button('Create repository', { kind: 'primary' })}</p>`
  return form(visit, '/new', fields)
}
