import { type Application, loadApplication } from '#identity/clients.ts'
import {
  createApplication,
  deleteApplication,
  listApplications,
  rotateSecret,
  updateApplication,
} from '#parts/oauth/applications.ts'
import { missing } from '#platform/errors.ts'
import { copyButton } from '#web/components/copy.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { box } from '#web/components/table.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, note, settingRow, settingsPage, shownOnce } from '#web/settings.ts'

const path = '/settings/developers'

/** Applications of other users are not found, and apps have pages of their own. */
const own = (next: (visit: SignedIn, application: Application) => Outcome | Promise<Outcome>) => async (visit: SignedIn) => {
  const application = await loadApplication(visit.db, visit.params.client_id ?? '')
  if (application.owner_id !== visit.visitor.id || application.app) throw missing()
  return next(visit, application)
}

export const pages: PageRoute[] = [
  showOwn(path, (visit) => listPage(visit)),
  submitOwn(path, confirmed(register)),
  showOwn(`${path}/:client_id`, own(applicationPage)),
  submitOwn(`${path}/:client_id`, confirmed(own(edit))),
  submitOwn(`${path}/:client_id/secret`, confirmed(own(rotate))),
  showOwn(`${path}/:client_id/delete`, own(askToDelete)),
  submitOwn(`${path}/:client_id/delete`, own(remove)),
]

type Written = Pick<Application, 'name' | 'url' | 'callback_url' | 'strict_redirect' | 'description'>

const writtenOf = ({ form: given }: SignedIn): Written => ({
  name: typed(given, 'name'),
  url: typed(given, 'url'),
  callback_url: typed(given, 'callback_url'),
  strict_redirect: given.get('strict_redirect') === 'yes',
  description: typed(given, 'description').slice(0, 500) || null,
})

const fieldsOf = (written: Partial<Written>) => html`
${field({ label: 'Name', name: 'name', value: written.name, required: true })}
${field({ label: 'Home page', name: 'url', type: 'url', value: written.url, required: true })}
${field({ label: 'What it does', name: 'description', value: written.description })}
${field({ label: 'Callback URL', name: 'callback_url', value: written.callback_url, required: true, hint: 'Where people come back to after they have decided.' })}
<p>${choice({ name: 'strict_redirect', value: 'yes', chosen: written.strict_redirect === true }, 'Redirect to exactly this address, and to no path below it')}</p>`

async function listPage(visit: SignedIn, written: Partial<Written> = {}, problem?: Problem): Promise<Outcome> {
  const applications = await listApplications(visit.db, visit.visitor)
  const items = applications.map(({ name, client_id, url }) =>
    settingRow('code', html`<a href="${path}/${client_id}"><strong>${name}</strong></a><br><span class="muted">${url}</span>`),
  )
  const body = html`<p class="muted">Programs of yours that people can let act for them.</p>${note(visit.flash.done)}
${items.length ? box(items) : emptyState('code', 'You have no OAuth applications yet.', 'Register one, and people can let it act for them.')}<h2>Register an application</h2>
${form(visit, path, html`${alert(problem)}${fieldsOf(written)}<button class="primary">Register</button>`)}`
  return settingsPage(path, 'My OAuth applications', body, problem?.status)
}

function register(visit: SignedIn): Promise<Outcome> {
  const written = writtenOf(visit)
  return attempt(
    async () => {
      const made = await visit.db.transaction((db) => createApplication(db, visit.visitor, visit.visitor, written))
      return { to: pathOf(made), flash: { secret: made.client_secret, done: 'The application is registered.' } }
    },
    (problem) => listPage(visit, written, problem),
  )
}

const pathOf = ({ client_id }: Application) => `${path}/${client_id}`

function applicationPage(visit: SignedIn, application: Application, problem?: Problem): Outcome {
  const at = pathOf(application)
  const { secret, done } = visit.flash
  const body = html`${note(done)}<p class="title-line">Client id: <code>${application.client_id}</code> ${copyButton(application.client_id, 'Copy: client id')}</p>
${secret === undefined ? html`<p>Client secret: <code>…${application.secret_last_eight}</code></p>` : shownOnce('Client secret', secret)}
${form(visit, `${at}/secret`, html`<button>Make a new secret</button> <span class="muted">The old one stops working at once.</span>`, { class: 'inline' })}
<h2>Details</h2>${form(visit, at, html`${alert(problem)}${fieldsOf(application)}<button class="primary">Save</button>`)}
<h2>Delete</h2><p>Everyone's tokens for it stop working at once.</p>
<p><a class="button danger" href="${at}/delete">Delete this application</a></p>`
  return settingsPage(path, application.name || 'Application', body, problem?.status)
}

function edit(visit: SignedIn, application: Application): Promise<Outcome> {
  const written = writtenOf(visit)
  return attempt(
    async () => {
      const saved = await visit.db.transaction((db) => updateApplication(db, visit.visitor, application, written))
      return { to: pathOf(saved), flash: { done: 'The changes are saved.' } }
    },
    (problem) => applicationPage(visit, { ...application, ...written }, problem),
  )
}

async function rotate(visit: SignedIn, application: Application): Promise<Outcome> {
  const secret = await visit.db.transaction((db) => rotateSecret(db, visit.visitor, application))
  return { to: pathOf(application), flash: { secret } }
}

function askToDelete(visit: SignedIn, application: Application): Outcome {
  const at = pathOf(application)
  const body = html`<p class="title-line">Client id: <code>${application.client_id}</code> ${copyButton(application.client_id, 'Copy: client id')}</p><p>Everyone's tokens for it stop working at once, and the SSH keys
that it made are deleted. That cannot be taken back.</p>`
  const title = `Delete ${application.name}?`
  return askFirst(visit, { path, title, body, action: `${at}/delete`, button: 'Delete this application', keep: at })
}

async function remove(visit: SignedIn, application: Application): Promise<Outcome> {
  await visit.db.transaction((db) => deleteApplication(db, visit.visitor, application))
  return { to: path, flash: { done: `${application.name} is deleted.` } }
}
