import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkOwner, loadOrganization } from '#hosting/organizations/organizations.ts'
import { checkNotSuspended } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { loadApplication } from '#identity/clients.ts'
import { rotateSecret } from '#parts/oauth/applications.ts'
import { withParameters } from '#parts/oauth/redirects.ts'
import { hookDepsOf } from '#parts/webhooks/create.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, note, settingRow, settingsPage, shownOnce } from '#web/settings.ts'
import { addKey, createApp, deleteApp, deleteKey, listApps, listKeys, loadOwnApp, type NewApp, newKey } from './apps.ts'
import { issueManifestCode, longestManifest, type Manifest, parseManifest, registerApp } from './manifest.ts'
import { accessFields, readAccess } from './views/access-fields.ts'

const path = '/settings/apps'
const ofOrganization = '/organizations/:org/settings/apps'

export const pages: PageRoute[] = [
  showOwn(path, listPage),
  showOwn(`${path}/new`, newPage),
  submitOwn(path, confirmed(register)),
  submitOwn(`${path}/manifest`, confirmed(registerManifest)),
  // The visitor's list has the apps of their organizations too.
  showOwn(ofOrganization, () => ({ to: path })),
  showOwn(`${ofOrganization}/new`, newPage),
  submitOwn(ofOrganization, confirmed(register)),
  submitOwn(`${ofOrganization}/manifest`, confirmed(registerManifest)),
  showOwn(`${path}/:slug`, own(appPage)),
  submitOwn(`${path}/:slug/keys`, confirmed(own(makeKey))),
  submitOwn(`${path}/:slug/keys/:key_id/delete`, own(removeKey)),
  submitOwn(`${path}/:slug/secret`, confirmed(own(rotate))),
  showOwn(`${path}/:slug/delete`, own(askToDelete)),
  submitOwn(`${path}/:slug/delete`, own(remove)),
]

/**
 * A program sends its manifest with a form of another site, which comes without the cookie of the session. It is shown, and nothing
 * happens before the user confirms.
 */
export function mountManifestForm(listener: FastifyInstance) {
  listener.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: 100_000 }, async (_: FastifyRequest, text: string) => text)
    for (const url of [`${path}/new`, `${ofOrganization}/new`]) {
      app.post(url, async (request, reply) => {
        const given = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
        const [place = '', query = ''] = request.url.split('?')
        const state = given.get('state') ?? new URLSearchParams(query).get('state')
        const manifest = (given.get('manifest') ?? '').slice(0, longestManifest + 1)
        const passed = new URLSearchParams({ manifest, ...(state !== null && { state: state.slice(0, 500) }) })
        return reply.code(303).header('Cache-Control', 'no-store').header('Location', `${place}?${passed}`).send()
      })
    }
  })
}

/** Apps that the visitor may not change are not found. */
function own(next: (visit: SignedIn, app: App) => Outcome | Promise<Outcome>) {
  return async (visit: SignedIn) => next(visit, await loadOwnApp(visit.db, visit.visitor, visit.params.slug ?? ''))
}

/** The owner of a new app: the visitor, or an organization that the visitor owns. */
async function ownerOf({ db, visitor, params, request }: SignedIn): Promise<{ owner: Account; at: string }> {
  if (params.org === undefined) return { owner: visitor, at: path }
  const org = await loadOrganization(db, visitor.id, params.org)
  checkOwner(org)
  if (request.method === 'POST') checkNotSuspended(org)
  return { owner: org, at: `/organizations/${org.login}/settings/apps` }
}

async function listPage(visit: SignedIn): Promise<Outcome> {
  const { rows } = await listApps(visit.db, visit.visitor, { limit: 100, offset: 0 })
  const items = rows.map(({ name, slug, owner_login }) =>
    settingRow('apps', html`<a href="${path}/${slug}"><strong>${name}</strong></a> <span class="muted">${owner_login}</span>`),
  )
  const register = buttonLink('Register an app', `${path}/new`)
  const body = html`<p class="muted">Programs that act as themselves in the repositories on which they are installed.</p>${note(visit.flash.done)}
${items.length ? html`${box(items)}<p class="buttons">${register}</p>` : emptyState('apps', 'You have no apps yet.', 'An app acts as itself, with the permissions that an account accepts.', register)}`
  return settingsPage(path, 'My apps', body)
}

function newPage(visit: SignedIn): Promise<Outcome> {
  const manifest = visit.query.get('manifest')
  return manifest === null ? formPage(visit, visit.query) : manifestPage(visit, manifest)
}

async function formPage(visit: SignedIn, kept: URLSearchParams, problem?: Problem): Promise<Outcome> {
  const { at, owner } = await ownerOf(visit)
  const value = (name: string) => kept.get(name)
  const fields = html`${alert(problem)}
${field({ label: 'Name', name: 'name', value: value('name'), required: true, longest: 34, hint: 'The bot of the app gets this name too.' })}
${field({ label: 'Home page', name: 'url', type: 'url', value: value('url'), required: true })}
${field({ label: 'What it does', name: 'description', value: value('description') })}
${field({ label: 'Callback URL', name: 'callback_url', value: value('callback_url'), hint: 'Where people come back to after they let the app act for them.' })}
${field({ label: 'Setup URL', name: 'setup_url', value: value('setup_url'), hint: 'Where people go after they have installed it.' })}
${field({ label: 'Webhook URL', name: 'hook_url', value: value('hook_url'), hint: 'Its secret is made for you.' })}
${accessFields(kept)}
<p>${choice({ name: 'public', value: 'yes', chosen: value('public') === 'yes' }, 'Any account can install it')}</p>
<button class="primary">Register</button>`
  return settingsPage(path, `Register an app of ${owner.login}`, form(visit, at, fields), problem?.status)
}

function writtenIn(given: URLSearchParams): NewApp {
  const hook_url = typed(given, 'hook_url')
  return {
    name: typed(given, 'name'),
    url: typed(given, 'url'),
    description: typed(given, 'description').slice(0, 500) || null,
    callback_url: typed(given, 'callback_url') || null,
    setup_url: typed(given, 'setup_url') || null,
    public: given.get('public') === 'yes',
    ...readAccess(given),
    ...(hook_url && { hook: { url: hook_url } }),
  }
}

/** What the app page shows once. */
interface Secrets {
  client_secret?: string
  webhook_secret?: string | null
  pem?: string
}

function register(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const { owner } = await ownerOf(visit)
      const { app, ...secrets } = await registerApp(
        visit.db,
        visit.visitor,
        owner,
        writtenIn(visit.form),
        hookDepsOf(visit.belfry),
      )
      return { to: `${path}/${app.slug}`, flash: { done: 'The app is registered.', data: secrets satisfies Secrets } }
    },
    (problem) => formPage(visit, visit.form, problem),
  )
}

async function manifestPage(visit: SignedIn, text: string, problem?: Problem): Promise<Outcome> {
  const { owner, at } = await ownerOf(visit)
  const title = `Register an app of ${owner.login}`
  return attempt(
    async () => {
      const manifest = parseManifest(text)
      const fields = html`${alert(problem)}<input type="hidden" name="manifest" value="${text}">
<input type="hidden" name="state" value="${visit.form.get('state') ?? visit.query.get('state') ?? ''}">
${field({ label: 'Name', name: 'name', value: visit.form.get('name') ?? manifest.wanted.name, required: true, longest: 34 })}
<button class="primary">Register for ${owner.login}</button>`
      return settingsPage(path, title, html`${manifestCard(manifest)}${form(visit, `${at}/manifest`, fields)}`, problem?.status)
    },
    (refused) => settingsPage(path, title, html`${alert(refused)}`, refused.status),
  )
}

function manifestCard({ wanted, redirect_url }: Manifest): Html {
  const asked = Object.entries(wanted.permissions ?? {}).map(([name, level]) => html`<li>${level} <code>${name}</code></li>`)
  return html`<section class="card"><p>A program asks you to register this app: <strong>${wanted.name}</strong> <span class="muted">${wanted.url}</span></p>
<p>It can be installed with these permissions:</p><ul class="scopes">${asked}</ul>
${wanted.hook && html`<p>Events are sent to <strong class="address">${wanted.hook.url}</strong></p>`}
${redirect_url && html`<p>The program gets the private key of the app. You go on to <strong class="address">${redirect_url}</strong></p>`}</section>`
}

/** The program exchanges the code for the credentials, so no page shows them. */
function registerManifest(visit: SignedIn): Promise<Outcome> {
  const text = visit.form.get('manifest') ?? ''
  return attempt(
    async () => {
      const { owner } = await ownerOf(visit)
      const { wanted, redirect_url } = parseManifest(text)
      const name = typed(visit.form, 'name') || wanted.name
      const [app, code] = await visit.db.transaction(async (db) => {
        const { app } = await createApp(db, visit.visitor, owner, { ...wanted, name }, hookDepsOf(visit.belfry))
        return [app, await issueManifestCode(db, app)]
      })
      if (!redirect_url) return { to: `${path}/${app.slug}` }
      return { to: withParameters(new URL(redirect_url).href, { code, state: visit.form.get('state') || undefined }) }
    },
    (problem) => manifestPage(visit, text, problem),
  )
}

async function appPage(visit: SignedIn, app: App): Promise<Outcome> {
  const at = `${path}/${app.slug}`
  const keys = await listKeys(visit.db, app)
  const { client_secret, webhook_secret, pem } = (visit.flash.data ?? {}) as Secrets
  const rows = keys.map(
    ({ id, fingerprint, created_at }) => html`<li><code>${fingerprint}</code> since ${moment(created_at)}
${form(visit, `${at}/keys/${id}/delete`, html`<button>Delete</button>`, { class: 'inline' })}</li>`,
  )
  const body = html`${note(visit.flash.done)}<p>App id: <code>${app.id}</code></p><p>Client id: <code>${app.client_id}</code></p>
<p><a href="/apps/${app.slug}">Page of the app</a>, where it is installed</p>
${client_secret && shownOnce('Client secret', client_secret)}${webhook_secret && shownOnce('Webhook secret', webhook_secret)}${pem && shownOnce('Private key', pem)}
${form(visit, `${at}/secret`, html`<button>Make a new client secret</button> <span class="muted">The old one stops working at once.</span>`, { class: 'inline' })}
<h2>Private keys</h2><p class="muted">The app signs its JSON web tokens with one of them.</p>${rows.length ? html`<ul>${rows}</ul>` : html`<p>There are none yet.</p>`}
${form(visit, `${at}/keys`, html`<button>Make a private key</button>`, { class: 'inline' })}
<h2>Permissions and events</h2><p><a class="button" href="${at}/permissions">Change what it asks for</a></p>
<h2>Delete</h2><p>It is uninstalled everywhere, and its tokens stop working at once.</p><p><a class="button danger" href="${at}/delete">Delete this app</a></p>`
  return settingsPage(path, app.name, body)
}

async function makeKey(visit: SignedIn, app: App): Promise<Outcome> {
  const { pem, ...key } = await newKey()
  await visit.db.transaction((db) => addKey(db, visit.visitor, app, key))
  return { to: `${path}/${app.slug}`, flash: { data: { pem } satisfies Secrets } }
}

async function removeKey(visit: SignedIn, app: App): Promise<Outcome> {
  const id = Number(/^\d{1,15}$/.exec(visit.params.key_id ?? '')?.[0] ?? 0)
  await visit.db.transaction((db) => deleteKey(db, visit.visitor, app, id))
  return { to: `${path}/${app.slug}`, flash: { done: 'The key is deleted.' } }
}

async function rotate(visit: SignedIn, app: App): Promise<Outcome> {
  const client_secret = await visit.db.transaction(async (db) =>
    rotateSecret(db, visit.visitor, await loadApplication(db, app.client_id)),
  )
  return { to: `${path}/${app.slug}`, flash: { data: { client_secret } satisfies Secrets } }
}

function askToDelete(visit: SignedIn, app: App): Outcome {
  const at = `${path}/${app.slug}`
  const body = html`<p>It is uninstalled everywhere, and its tokens stop working at once. Its name stays taken. That cannot be taken back.</p>`
  return askFirst(visit, {
    path,
    title: `Delete ${app.name}?`,
    body,
    action: `${at}/delete`,
    button: 'Delete this app',
    keep: at,
  })
}

async function remove(visit: SignedIn, app: App): Promise<Outcome> {
  await visit.db.transaction((db) => deleteApp(db, visit.visitor, app))
  return { to: path, flash: { done: `${app.name} is deleted.` } }
}
