import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createOnDisk } from '#hosting/repositories/contents.ts'
import { loadReceiver } from '#hosting/repositories/receiver.ts'
import { pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkOpen } from '#parts/imports/availability.ts'
import { selfHosted } from '#variants.ts'
import { button } from '#web/components/button.ts'
import { alert, attempt, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { checkNewName } from './name-check.ts'
import { listOwners } from './owners.ts'
import { fork, forkPage } from './views/fork.ts'
import { generate, generatePage } from './views/generate.ts'
import {
  descriptionField,
  draftIn,
  newRepositoryForm,
  ownerAndName,
  type RepositoryDraft,
  visibilityChoice,
} from './views/new-repository.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [
  showOwn('/new', (visit) => newPage(visit, draftIn(visit.query))),
  submitOwn('/new', create),
  showOwn('/new/name', nameCheck),
  showOwn('/new/import', (visit) => importPage(visit, draftIn(visit.query))),
  submitOwn('/new/import', createForImport),
  showOwn('/:owner/:repo/fork', (visit) => forkPage(visit)),
  submitOwn('/:owner/:repo/fork', fork),
  showOwn('/:owner/:repo/generate', (visit) => generatePage(visit)),
  submitOwn('/:owner/:repo/generate', generate),
]

async function newPage(visit: SignedIn, draft: RepositoryDraft, problem?: Problem): Promise<Outcome> {
  const owners = await listOwners(visit.db, visit.visitor)
  const body = html`<main class="new-repository"><h1>Create a repository</h1>
<p class="muted">A repository has the files of a project and their history. Do you have one elsewhere? <a href="/new/import">Import a repository</a>.</p>
${newRepositoryForm(visit, owners, draft, problem)}</main>`
  return { title: 'New repository', body, ...(problem && { status: problem.status }) }
}

function create(visit: SignedIn): Promise<Outcome> {
  const draft = draftIn(visit.form)
  return attempt(
    async () => ({ to: pathOf(await createFrom(visit, draft)) }),
    (problem) => newPage(visit, draft, problem),
  )
}

async function createFrom(
  visit: SignedIn,
  { owner: login, name, description, readme, gitignore, license, ...draft }: RepositoryDraft,
) {
  const { db, belfry, visitor } = visit
  const owner = await loadReceiver(db, visitor, login)
  const files = {
    auto_init: readme,
    ...(gitignore && { gitignore_template: gitignore }),
    ...(license && { license_template: license }),
  }
  const wanted = { name, description: description || null, private: draft.private, ...files }
  return createOnDisk(db, belfry.storage, viewerOf(visit), owner, visitor, wanted)
}

/** For the script of the form. */
async function nameCheck(visit: SignedIn): Promise<Outcome> {
  const { owner: login, name } = draftIn(visit.query)
  const owner = await loadReceiver(visit.db, visit.visitor, login)
  const checked = await checkNewName(visit.db, owner, name)
  return { file: Readable.from([JSON.stringify(checked)]), headers: { 'Content-Type': 'application/json; charset=utf-8' } }
}

async function importPage(visit: SignedIn, draft: RepositoryDraft, problem?: Problem): Promise<Outcome> {
  checkOpen(visit.belfry.settings, selfHosted, visit.db.now)
  const owners = await listOwners(visit.db, visit.visitor)
  const fields = html`${alert(problem)}${ownerAndName(owners, draft)}${descriptionField(draft.description)}${visibilityChoice(draft.private)}
<p class="buttons">${button('Continue', { kind: 'primary' })}</p>`
  const body = html`<main class="new-repository"><h1>Import a repository</h1>
<p class="muted">Choose where the history goes. On the next page, you give the address of a Git, Subversion, Mercurial or TFVC repository.</p>
${form(visit, '/new/import', fields)}</main>`
  return { title: 'Import a repository', body, ...(problem && { status: problem.status }) }
}

function createForImport(visit: SignedIn): Promise<Outcome> {
  checkOpen(visit.belfry.settings, selfHosted, visit.db.now)
  const draft = { ...draftIn(visit.form), readme: false, gitignore: '', license: '' }
  return attempt(
    async () => ({ to: `${pathOf(await createFrom(visit, draft))}/import` }),
    (problem) => importPage(visit, draft, problem),
  )
}
