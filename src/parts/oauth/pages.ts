import { type Application, findApplication, loadApplication } from '#identity/clients.ts'
import { metadataIncludes } from '#identity/permissions.ts'
import { isConfirmed } from '#identity/sessions.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { cardPage } from '#web/card-page.ts'
import { avatar } from '#web/components/avatar.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmed, confirmedIf } from '#web/confirm-password.ts'
import { type Html, html } from '#web/html.ts'
import {
  form,
  type Outcome,
  outOfDate,
  type PageRoute,
  type SignedIn,
  show,
  showOwn,
  submit,
  submitOwn,
  type Visit,
} from '#web/page.ts'
import { note, settingRow, settingsPage } from '#web/settings.ts'
import { type AuthorizeRequest, allow, allowAgain, type Consent, deny, planConsent, readRequest, SentBack } from './authorize.ts'
import { decideDevice, findWaiting, type WaitingDevice } from './device.ts'
import { findGrant, type Grant, listAuthorized, revokeGrant } from './grants.ts'
import { isNative } from './redirects.ts'
import { inWords, withoutScope } from './scope-words.ts'

export const pages: PageRoute[] = [
  show('/login/oauth/authorize', (visit) => authorize(visit, answer)),
  submit('/login/oauth/authorize', (visit) => authorize(visit, decide), signInAgain),
  showOwn('/login/device', (visit) => (visit.flash.done ? deviceDone(visit.flash.done) : deviceForm(visit))),
  submitOwn('/login/device', confirmedIf(authorizes, device)),
  showOwn('/settings/applications', showAuthorized),
  showOwn('/settings/connections/applications', () => ({ to: '/settings/applications' })),
  showOwn('/settings/connections/applications/:client_id', showConnection),
  submitOwn('/settings/connections/applications/:client_id', revoke),
]

/** The steps of an authorization, in order: verify the request, sign in, confirm. */
async function authorize(visit: Visit, next: (visit: SignedIn, request: AuthorizeRequest) => Promise<Outcome>): Promise<Outcome> {
  try {
    const request = await readRequest(visit.db, visit.query, docsOf(visit))
    return isSignedIn(visit) ? await next(visit, request) : signInFirst(visit)
  } catch (error) {
    if (!(error instanceof SentBack)) throw error
    // Anyone can register an application, so redirecting anonymous visitors would make our address an open redirect.
    if (!isSignedIn(visit)) throw new Refusal('malformed', error.message)
    return { to: error.to }
  }
}

const docsOf = ({ belfry }: Visit) => `${belfry.addresses.web}/docs`

function isSignedIn(visit: Visit): visit is SignedIn {
  return visit.visitor !== null
}

/** After signing in, the user returns to the same request. */
function signInFirst(visit: Visit): Outcome {
  const query = visit.query
  const login = query.get('login')
  const passed = new URLSearchParams({
    return_to: `/login/oauth/authorize?${query}`,
    ...(login !== null && { login }),
    ...(query.get('allow_signup') === 'false' && { allow_signup: 'false' }),
  })
  return { to: `/login?${passed}` }
}

/** If the session ended before the decision, the user is asked again after signing in. */
function signInAgain(visit: Visit): Outcome {
  if (visit.visitor) throw outOfDate()
  return signInFirst(visit)
}

/**
 * A user does not confirm the same scopes twice. A program on the user's machine gives its secret to everyone who has the program, so the
 * code is enough to get a token: it asks for the password like a new authorization.
 */
async function answer(visit: SignedIn, request: AuthorizeRequest): Promise<Outcome> {
  if (isNative(request.redirect_uri) && !isConfirmed(visit.db, visit.session)) {
    return consentPage(visit, request, await planConsent(visit.db, visit.visitor, request))
  }
  const to = await visit.db.transaction((db) => allowAgain(db, visit.visitor, request))
  return to === undefined ? consentPage(visit, request, await planConsent(visit.db, visit.visitor, request)) : { to }
}

function authorizes({ form: sent }: Visit) {
  return sent.get('decision') === 'authorize'
}

async function decide(visit: SignedIn, request: AuthorizeRequest): Promise<Outcome> {
  if (visit.form.get('decision') === 'deny') return { to: deny(request, docsOf(visit)) }
  if (authorizes(visit)) {
    return confirmed(async ({ db, visitor }) => ({ to: await db.transaction((open) => allow(open, visitor, request)) }))(visit)
  }
  return consentPage(visit, request, await planConsent(visit.db, visit.visitor, request))
}

/** The form posts to the address of the request, because browsers normalize the values of fields. */
function consentPage(visit: SignedIn, request: AuthorizeRequest, consent: Consent): Outcome {
  const { application, redirect_uri } = request
  const body = html`${consentCard(application, visit, consent)}
${form(visit, `/login/oauth/authorize?${visit.query}`, decisionButtons(application), { class: 'form decision' })}
<p class="muted">Either way you go on to <strong class="address">${placeOf(redirect_uri)}</strong></p>`
  return {
    title: `Authorize ${application.name}`,
    body: cardPage(`Authorize ${application.name}`, body),
  }
}

/** The redirect address without its query. */
function placeOf(address: string) {
  const { protocol, host, pathname } = new URL(address)
  return `${protocol}//${host}${pathname}`
}

function consentCard(application: Application, { visitor }: SignedIn, { scopes, added, known, busy }: Consent): Html {
  const earlier = scopes.filter((scope) => !added.includes(scope))
  return html`<section class="card">
<p class="asking">${icon('plug', { size: 24 })}${icon('arrow-right')}${avatar(visitor, 40)}</p>
<p><a href="${application.url}" rel="noreferrer"><strong>${application.name}</strong></a> by <strong>${application.owner_login}</strong>
wants to act for you, <strong>${visitor.login}</strong>.</p>
${application.description && html`<p class="muted">${application.description}</p>`}
${busy && html`<p class="error">It was given many tokens within the last hour. Go on only if that was you.</p>`}
${known && added.length > 0 && html`<h2 class="small">New: it will also be able to</h2>`}
${!known && html`<h2 class="small">It will be able to</h2>`}
${(added.length > 0 || !known) && (application.app ? permissionList(application.app) : scopeList(added, !known))}
${known && html`<h2 class="small">It can already</h2>${application.app ? permissionList(application.app) : scopeList(earlier, true)}`}
</section>`
}

/** An app can do what both the user and the app may do. */
function permissionList({ permissions }: NonNullable<Application['app']>): Html {
  const items = Object.entries(permissions).map(([name, level]) => html`<li>${level} <code>${name}</code></li>`)
  const hint = 'metadata' in permissions && html`<p class="hint muted">${metadataIncludes}</p>`
  return html`<p>Act for you in the repositories that it is installed on, with these permissions:</p><ul class="scopes">${items}</ul>${hint}`
}

function scopeList(scopes: string[], basics: boolean): Html {
  return html`<ul class="scopes">${basics && html`<li>${withoutScope}</li>`}
${scopes.map((scope) => html`<li>${inWords(scope)} <code>${scope}</code></li>`)}</ul>`
}

function decisionButtons({ name }: Pick<Application, 'name'>): Html {
  return html`<button class="primary" name="decision" value="authorize">Authorize ${name}</button>
<button name="decision" value="deny">Cancel</button>`
}

function deviceForm(visit: SignedIn, problem?: string): Outcome {
  const fields = html`${problem && html`<p class="error" role="alert">${problem}</p>`}
<label for="user_code">The code that your device shows</label>
<input id="user_code" name="user_code" required autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20"
placeholder="ABCD-EFGH" value="${visit.query.get('user_code') ?? ''}"><button class="primary">Continue</button>`
  return {
    title: 'Connect a device',
    status: problem ? 422 : 200,
    body: cardPage(
      'Connect a device',
      html`${form(visit, '/login/device', fields, { class: 'form card' })}
<p class="muted">Never type a code that somebody sent you: it would let them act as <strong>${visit.visitor.login}</strong>.</p>`,
    ),
  }
}

async function device(visit: SignedIn): Promise<Outcome> {
  const { db, form: sent, visitor, request } = visit
  const waiting = await findWaiting(db, visitor, request.ip, sent.get('user_code') ?? '')
  const application = waiting && (await findApplication(db, waiting.client_id))
  if (!waiting || !application)
    return deviceForm(visit, 'No device waits with this code. It may have expired: ask the device for another.')
  const decision = sent.get('decision')
  if (decision !== 'authorize' && decision !== 'deny') return devicePage(visit, application, waiting)
  const allowed = decision === 'authorize'
  const done = await db.transaction((transaction) => decideDevice(transaction, visitor, application, waiting, allowed))
  if (!done) return deviceForm(visit, 'That came too late. Ask the device for another code.')
  const { name } = application
  const text = allowed ? `${name} is connected. You can go back to your device.` : `${name} was not connected.`
  return { to: '/login/device', flash: { done: text } }
}

async function devicePage(visit: SignedIn, application: Application, { user_code, scopes }: WaitingDevice): Promise<Outcome> {
  const request = { application, scopes, redirect_uri: '', state: undefined, code_challenge: null }
  const consent = await planConsent(visit.db, visit.visitor, request)
  const buttons = html`<input type="hidden" name="user_code" value="${user_code}">${decisionButtons(application)}`
  return {
    title: `Authorize ${application.name}`,
    body: cardPage(
      `Authorize ${application.name}`,
      html`<p>On the device that shows <strong>${user_code}</strong>.</p>
${consentCard(application, visit, consent)}${form(visit, '/login/device', buttons, { class: 'form decision' })}
<p class="muted">Go on only if you started this yourself, on a device of your own.</p>`,
    ),
  }
}

function deviceDone(text: string): Outcome {
  return { title: 'Connect a device', body: cardPage('Connect a device', html`${note(text)}`) }
}

async function showAuthorized({ db, visitor }: SignedIn): Promise<Outcome> {
  const rows = (await listAuthorized(db, visitor)).map((row) =>
    settingRow(
      'verified',
      html`<h2 class="small"><a href="/settings/connections/applications/${row.client_id}">${row.name}</a></h2>
<p>by ${row.owner_login}, authorized ${moment(row.authorized_at)}; ${row.last_used_at ? html`last used ${moment(row.last_used_at)}` : 'not used yet'}</p>
<p class="muted">${row.scopes.length ? row.scopes.join(', ') : 'no scopes'}</p>`,
    ),
  )
  const none = emptyState(
    'verified',
    'You have not authorized any application.',
    'Applications that you let act for you appear here, and you can end that at any time.',
  )
  return settingsPage('/settings/applications', 'Authorized applications', rows.length ? box(rows) : none)
}

async function showConnection(visit: SignedIn): Promise<Outcome> {
  const { application, grant } = await loadConnection(visit)
  const body = html`<section class="card"><p><a href="${application.url}" rel="noreferrer">${application.url}</a></p>
<p>By <strong>${application.owner_login}</strong>, authorized ${moment(grant.created_at)}.</p>
${application.description && html`<p class="muted">${application.description}</p>`}
<h2 class="small">It can</h2>${scopeList(grant.scopes, true)}</section>
${form(visit, pathOf(application), html`<button class="danger">Revoke access</button>`)}
<p class="muted">Its tokens stop working at once, and the SSH keys it made for you are deleted.</p>`
  return settingsPage('/settings/applications', application.name, body)
}

/** 404 for an application that the user never authorized. */
async function loadConnection({ db, params, visitor }: SignedIn): Promise<{ application: Application; grant: Grant }> {
  const application = await loadApplication(db, params.client_id ?? '')
  const grant = await findGrant(db, application, visitor)
  if (!grant) throw missing()
  return { application, grant }
}

const pathOf = ({ client_id }: Application) => `/settings/connections/applications/${client_id}`

async function revoke(visit: SignedIn): Promise<Outcome> {
  const { application } = await loadConnection(visit)
  await visit.db.transaction((db) => revokeGrant(db, application, visit.visitor, visit.visitor))
  return { to: '/settings/applications' }
}
