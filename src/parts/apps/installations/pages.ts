import { listOrganizations, type OrganizationRole } from '#hosting/organizations/organizations.ts'
import type { Account } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { includesLevel, metadataIncludes } from '#identity/permissions.ts'
import { loadApp, loadAppBySlug } from '#parts/apps/apps.ts'
import { missing } from '#platform/errors.ts'
import { cardPage } from '#web/card-page.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { box } from '#web/components/table.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, type Problem, select } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, note, settingRow, settingsPage } from '#web/settings.ts'
import { type Installation, listInstallations, loadAdministered, reachableBy } from './installation.ts'
import {
  acceptPermissions,
  changeChoice,
  checkInstallable,
  install,
  suspendInstallation,
  uninstall,
  unsuspendInstallation,
} from './installations.ts'
import { endRequest, listRequestsOf, requestInstallation } from './requests.ts'
import { readChoice, repositoryChoice } from './views/repository-choice.ts'
import { requestCards } from './views/requests.ts'

const path = '/settings/installations'
const requests = '/settings/installation-requests'

export const pages: PageRoute[] = [
  show('/apps/:slug', async ({ db, visitor, params }) =>
    aboutPage(await loadAppBySlug(db, params.slug ?? '', visitor?.id ?? null)),
  ),
  showOwn('/apps/:slug/installations/new', (visit) => installPage(visit)),
  submitOwn('/apps/:slug/installations', confirmed(installApp)),
  showOwn(path, listPage),
  showOwn(`${path}/:id`, administered(installationPage)),
  showOwn('/organizations/:org/settings/installations/:id', ({ params }) => ({
    to: `${path}/${encodeURIComponent(params.id ?? '')}`,
  })),
  submitOwn(`${path}/:id`, confirmed(administered(choose))),
  submitOwn(`${path}/:id/permissions`, confirmed(administered(accept))),
  submitOwn(`${requests}/:id/delete`, endRequestOf),
  submitOwn(`${path}/:id/suspended`, confirmed(administered(suspend))),
  showOwn(`${path}/:id/delete`, administered(askToUninstall)),
  submitOwn(`${path}/:id/delete`, administered(remove)),
]

function aboutPage(app: App): Outcome {
  const body = cardPage(
    app.name,
    html`<p class="muted">An app by ${app.owner_login}: <a href="${app.url}" rel="noreferrer">${app.url}</a></p>
${app.description && html`<p>${app.description}</p>`}${permissionsCard(app)}
<p><a class="button primary" href="/apps/${app.slug}/installations/new">Install</a></p>`,
  )
  return { title: app.name, body }
}

function permissionsCard({ permissions, events }: Pick<App, 'permissions' | 'events'>): Html {
  const items = Object.entries(permissions).map(([name, level]) => html`<li>${level} <code>${name}</code></li>`)
  const hint = 'metadata' in permissions && html`<p class="hint muted">${metadataIncludes}</p>`
  return html`<section class="card"><h2 class="small">Permissions</h2><ul class="scopes">${items}</ul>${hint}
${events.length > 0 && html`<p>It is sent these events: ${events.join(', ')}</p>`}</section>`
}

type Target = Account & { role: OrganizationRole }

/** The accounts on which the visitor may install an app, or ask the owners to do so. */
async function accountsOf({ db, visitor }: SignedIn): Promise<Target[]> {
  const { rows } = await listOrganizations(db, visitor, { limit: 1000, offset: 0 }, false)
  return [{ ...visitor, role: 'admin' }, ...rows]
}

async function accountIn(visit: SignedIn, accounts: Target[]): Promise<Target> {
  const named = (visit.form.get('account') ?? visit.query.get('account') ?? visit.visitor.login).toLowerCase()
  const account = accounts.find(({ login }) => login.toLowerCase() === named)
  if (!account) throw missing()
  return account
}

async function installPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const app = await loadAppBySlug(visit.db, visit.params.slug ?? '', visit.visitor.id)
  const accounts = await accountsOf(visit)
  const account = await accountIn(visit, accounts)
  const options = accounts.map(({ login }): [string, string] => [login, login])
  const state = visit.form.get('state') ?? visit.query.get('state') ?? ''
  const installs = account.role === 'admin'
  const repositories = installs ? await repositoryChoice(visit, { account, kept: { account: account.login, state } }) : undefined
  const fields = html`${alert(problem)}<input type="hidden" name="account" value="${account.login}"><input type="hidden" name="state" value="${state}">
${
  repositories
    ? html`${repositories.fields}<button class="primary">Install on ${account.login}</button>`
    : html`<p>The owners of ${account.login} decide whether it is installed.</p><button class="primary">Ask them</button>`
}`
  const body = html`${permissionsCard(app)}
${accounts.length > 1 && html`<form method="get" class="form">${select('Account', 'account', options, account.login)}<button>Change account</button></form>`}
${repositories?.search}${form(visit, `/apps/${app.slug}/installations`, fields)}`
  return { title: `Install ${app.name}`, body: cardPage(`Install ${app.name}`, body), ...(problem && { status: problem.status }) }
}

/** Goes on to the setup page of the app, if it has one. */
function installApp(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const app = await loadAppBySlug(visit.db, visit.params.slug ?? '', visit.visitor.id)
      const account = await accountIn(visit, await accountsOf(visit))
      const state = visit.form.get('state') || undefined
      if (account.role !== 'admin') {
        checkInstallable(app, account)
        await visit.db.transaction((db) => requestInstallation(db, visit.visitor, app, account))
        if (app.setup_url) return { to: setupPage(app.setup_url, { setup_action: 'request', state }) }
        return { to: path, flash: { done: `The owners of ${account.login} are asked to install ${app.name}.` } }
      }
      const { all_repositories, add } = readChoice(visit)
      const chosen = all_repositories ? null : add
      const installation = await visit.db.transaction((db) => install(db, visit.visitor, app, account, chosen))
      if (!app.setup_url) return { to: `${path}/${installation.id}`, flash: { done: `${app.name} is installed.` } }
      return { to: setupPage(app.setup_url, { installation_id: String(installation.id), setup_action: 'install', state }) }
    },
    (problem) => installPage(visit, problem),
  )
}

function setupPage(setup_url: string, given: Record<string, string | undefined>): string {
  const to = new URL(setup_url)
  for (const [name, value] of Object.entries(given)) if (value !== undefined) to.searchParams.set(name, value)
  return to.href
}

async function listPage(visit: SignedIn): Promise<Outcome> {
  const { rows } = await listInstallations(visit.db, reachableBy(visit.visitor), { limit: 100, offset: 0 })
  const asked = await listRequestsOf(visit.db, visit.visitor, { limit: 100, offset: 0 })
  const own = new Set((await accountsOf(visit)).filter(({ role }) => role === 'admin').map(({ id }) => id))
  const items = rows.map(({ id, app_slug, account, suspended_at }) =>
    settingRow(
      'plug',
      html`<a href="${own.has(account.id) ? `${path}/${id}` : `/apps/${app_slug}`}"><strong>${app_slug}</strong></a> <span class="muted">on ${account.login}</span> ${suspended_at && badge('suspended', 'attention')}`,
    ),
  )
  const body = html`<p class="muted">Apps on your account and your organizations.</p>${note(visit.flash.done)}${requestCards(visit, requests, asked.rows)}${items.length ? box(items) : emptyState('plug', 'There are no installed apps.', 'Apps act in the repositories that you choose for them.')}`
  return settingsPage(path, 'Installed apps', body)
}

/** Only who administers the account finds the installation. */
function administered(next: (visit: SignedIn, installation: Installation) => Outcome | Promise<Outcome>) {
  return async (visit: SignedIn) => {
    const id = Number(/^\d{1,15}$/.exec(visit.params.id ?? '')?.[0] ?? 0)
    return next(visit, await loadAdministered(visit.db, visit.visitor, id))
  }
}

/** What the app asks for in addition to what the account has accepted. */
function newPermissions(visit: SignedIn, { id, permissions, events }: Installation, app: App): Html | undefined {
  const more = Object.entries(app.permissions).filter(([name, level]) => !includesLevel(permissions[name], level))
  const added = app.events.filter((event) => !events.includes(event))
  if (!more.length && !added.length) return undefined
  const fields = html`<input type="hidden" name="asked_at" value="${app.updated_at.getTime()}"><button class="primary">Accept</button>`
  return html`<h2>New permissions</h2><p>The app asks for more than you have accepted. Until you accept, it keeps what it has.</p>
${permissionsCard({ permissions: Object.fromEntries(more), events: added })}${form(visit, `${path}/${id}/permissions`, fields, { class: 'inline' })}`
}

async function accept(visit: SignedIn, installation: Installation): Promise<Outcome> {
  const asked_at = new Date(Number(/^\d{1,15}$/.exec(visit.form.get('asked_at') ?? '')?.[0] ?? 0))
  const accepted = await visit.db.transaction((db) => acceptPermissions(db, visit.visitor, installation, asked_at))
  const done = accepted ? 'The permissions are accepted.' : 'The app has changed what it asks for. Look at it again.'
  return { to: `${path}/${installation.id}`, flash: { done } }
}

async function endRequestOf(visit: SignedIn): Promise<Outcome> {
  const id = Number(/^\d{1,15}$/.exec(visit.params.id ?? '')?.[0] ?? 0)
  await visit.db.transaction((db) => endRequest(db, visit.visitor, id))
  return { to: path, flash: { done: 'The request is deleted.' } }
}

async function installationPage(visit: SignedIn, installation: Installation): Promise<Outcome> {
  const { id, app_slug, account, suspended_at, suspended_by_app, suspended_by_account } = installation
  const app = await loadApp(visit.db, installation.app_id)
  const repositories = await repositoryChoice(visit, { account, installation })
  const at = `${path}/${id}`
  const body = html`${note(visit.flash.done)}<p><a href="/apps/${app_slug}">${app_slug}</a> is installed on <strong>${account.login}</strong>${suspended_at && ' and suspended'}.</p>
${permissionsCard(installation)}${newPermissions(visit, installation, app)}${repositories.search}${form(visit, at, html`${repositories.fields}<button class="primary">Save</button>`)}
<h2>Suspend</h2>${form(visit, `${at}/suspended`, html`<button>${suspended_by_account ? 'Resume' : 'Suspend'}</button> <span class="muted">A suspended app has no access and is sent nothing.${suspended_by_app && ' The app suspended itself here: only the app can end that.'}</span>`, { class: 'inline' })}
<h2>Uninstall</h2><p><a class="button danger" href="${at}/delete">Uninstall</a></p>`
  return settingsPage(path, `${app_slug} on ${account.login}`, body)
}

async function choose(visit: SignedIn, installation: Installation): Promise<Outcome> {
  await visit.db.transaction((db) => changeChoice(db, visit.visitor, installation, readChoice(visit)))
  return { to: `${path}/${installation.id}`, flash: { done: 'The choice of repositories is saved.' } }
}

async function suspend(visit: SignedIn, installation: Installation): Promise<Outcome> {
  const { suspended_by_account: ends, suspended_by_app } = installation
  const change = ends ? unsuspendInstallation : suspendInstallation
  await visit.db.transaction((db) => change(db, visit.visitor, installation))
  return {
    to: `${path}/${installation.id}`,
    flash: { done: !ends ? 'It is suspended.' : suspended_by_app ? 'It stays suspended by the app.' : 'It has access again.' },
  }
}

function askToUninstall(visit: SignedIn, { id, app_slug, account }: Installation): Outcome {
  const at = `${path}/${id}`
  const body = html`<p>It loses its access to the repositories of ${account.login} at once.</p>`
  return askFirst(visit, { path, title: `Uninstall ${app_slug}?`, body, action: `${at}/delete`, button: 'Uninstall', keep: at })
}

async function remove(visit: SignedIn, installation: Installation): Promise<Outcome> {
  await visit.db.transaction((db) => uninstall(db, visit.visitor, installation))
  return { to: path, flash: { done: `${installation.app_slug} is uninstalled.` } }
}
