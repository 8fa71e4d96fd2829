import { updateProfile } from '#hosting/people/people.ts'
import { closeOtherSessions, closeSession, listSessions, type Session } from '#identity/sessions.ts'
import { type Delivery, findDelivery } from '#identity/two-factor.ts'
import { missing } from '#platform/errors.ts'
import { avatar } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { confirmPath, confirmVisit } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { note, settingRow, settingsPage, shownOnce } from '#web/settings.ts'
import { changePassword, type Owner, renewRecoveryCodes, turnOffTwoFactor } from './account.ts'

const security = '/settings/security'

export const pages: PageRoute[] = [
  showOwn('/settings', () => ({ to: '/settings/profile' })),
  submitOwn(confirmPath, confirmVisit),
  showOwn('/settings/profile', (visit) => profilePage(visit, profileOf(visit))),
  submitOwn('/settings/profile', saveProfile),
  showOwn('/settings/security', (visit) => securityPage(visit)),
  submitOwn('/settings/security/password', savePassword),
  submitOwn('/settings/security/two-factor', changeTwoFactor),
  showOwn('/settings/sessions', (visit) => sessionsPage(visit)),
  submitOwn('/settings/sessions', endSession),
  submitOwn('/settings/sessions/others', endOtherSessions),
]

const profileFields = [
  ['name', 'Name', 'name'],
  ['bio', 'About you', 'off'],
  ['company', 'Company', 'organization'],
  ['location', 'Location', 'off'],
  ['blog', 'Home page', 'url'],
  ['twitter_username', 'Name on X', 'off'],
] as const

type Written = Record<(typeof profileFields)[number][0], string> & { hireable: boolean }

const profileOf = ({ visitor }: SignedIn) =>
  ({
    ...Object.fromEntries(profileFields.map(([name]) => [name, visitor[name] ?? ''])),
    hireable: visitor.hireable === true,
  }) as Written

function profilePage(visit: SignedIn, written: Written, problem?: Problem): Outcome {
  const inputs = profileFields.map(([name, label, autocomplete]) => field({ label, name, value: written[name], autocomplete }))
  const { visitor } = visit
  const body = html`${note(visit.flash.done)}${alert(problem)}<p class="title-line">${avatar(visitor, 64)} <span><strong>${visitor.login}</strong><br><a href="/${visitor.login}">See how others see you</a></span></p><p class="muted">Everyone sees this. Your address is on your profile only if you <a href="/settings/emails">make it public</a>.</p>${inputs}
<p>${choice({ name: 'hireable', value: 'yes', chosen: written.hireable }, 'Open for work')}</p><button class="primary">Save</button>`
  return settingsPage('/settings/profile', 'Profile', form(visit, '/settings/profile', body), problem?.status)
}

function saveProfile(visit: SignedIn): Promise<Outcome> {
  const written = {
    ...Object.fromEntries(profileFields.map(([name]) => [name, typed(visit.form, name).slice(0, 500)])),
    hireable: visit.form.get('hireable') === 'yes',
  } as Written
  return attempt(
    async () => {
      const texts = Object.fromEntries(profileFields.map(([name]) => [name, written[name] || null]))
      await visit.db.transaction((db) => updateProfile(db, visit.visitor, { ...texts, hireable: written.hireable || null }))
      return { to: '/settings/profile', flash: { done: 'Your profile is saved.' } }
    },
    (problem) => profilePage(visit, written, problem),
  )
}

/** One of the page's forms, with its result or error. */
type About = 'password' | 'two-factor'

async function securityPage(visit: SignedIn, wrong?: { about: About; problem: Problem }): Promise<Outcome> {
  const { flash, belfry } = visit
  const delivery = await findDelivery(visit.db, visit.visitor)
  const say = (about: About) => html`${flash.data === about && note(flash.done)}${wrong?.about === about && alert(wrong.problem)}`
  const fields = html`<input type="hidden" name="username" autocomplete="username" value="${visit.visitor.login}">
${field({ label: 'Current password', name: 'current', type: 'password', autocomplete: 'current-password', required: true })}
${field({ label: 'New password', name: 'password', type: 'password', autocomplete: 'new-password', required: true, hint: 'At least 8 characters.' })}
<button class="primary">Change password</button>`
  const body = html`${flash.secret !== undefined && recoveryCodes(flash.secret)}<h2>Password</h2>${say('password')}
<p class="muted">Changing it signs you out everywhere else.</p>${form(visit, '/settings/security/password', fields)}
<h2 id="two-factor">Two-factor authentication</h2>${say('two-factor')}${delivery ? twoFactorOn(visit, delivery) : twoFactorOff(belfry.send_text !== null)}`
  return settingsPage('/settings/security', 'Password and two-factor', body, wrong?.problem.status)
}

const twoFactorOff = (
  sends_texts: boolean,
) => html`<p>It is off. With it on, signing in takes a code from your phone besides the password.</p>
<p class="buttons">${buttonLink('Set up an authenticator app', '/settings/security/app', { icon: 'device-mobile' })}
${sends_texts && buttonLink('Set up text messages', '/settings/security/text', { icon: 'comment' })}</p>`

function twoFactorOn(visit: SignedIn, delivery: Delivery): Html {
  const fields = html`<p>To change it, give your password or a code${delivery === 'app' && ' from the app'}; a recovery code is taken too.</p>
${field({ label: 'Password', name: 'password', id: 'proof', type: 'password', autocomplete: 'current-password' })}
${field({ label: 'Or a code', name: 'otp', autocomplete: 'one-time-code' })}
<button name="action" value="recovery">Make new recovery codes</button> <button class="danger" name="action" value="off">Turn off two-factor</button>`
  const silent = delivery === 'sms' && visit.belfry.send_text === null
  return html`<p>It is <strong>on</strong>: codes come ${delivery === 'app' ? 'from your authenticator app' : 'by text message'}.</p>
${silent && alert({ message: 'This server does not send text messages at present. Turn it off with your password, and set up an authenticator app.', status: 200 })}
${form(visit, '/settings/security/two-factor', fields)}`
}

const ownerOf = ({ visitor, session, request }: SignedIn): Owner => ({ user: visitor, session, address: request.ip })

function savePassword(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      await changePassword(visit.db, ownerOf(visit), visit.form.get('current') ?? '', visit.form.get('password') ?? '')
      return { to: security, flash: { data: 'password', done: 'Your password is changed, and all other sessions have ended.' } }
    },
    (problem) => securityPage(visit, { about: 'password', problem }),
  )
}

function changeTwoFactor(visit: SignedIn): Promise<Outcome> {
  const proof = { password: visit.form.get('password') ?? '', code: typed(visit.form, 'otp') }
  const { db, belfry } = visit
  return attempt(
    async () => {
      if (visit.form.get('action') !== 'off') {
        const codes = await renewRecoveryCodes(db, belfry.vault, ownerOf(visit), proof)
        return { to: security, flash: { secret: codes.join('\n') } }
      }
      await turnOffTwoFactor(db, belfry.vault, ownerOf(visit), proof)
      return { to: security, flash: { data: 'two-factor', done: 'It is turned off, and all other sessions have ended.' } }
    },
    (problem) => securityPage(visit, { about: 'two-factor', problem }),
  )
}

function recoveryCodes(codes: string): Html {
  return html`<p>Keep these codes where you find them when your phone is lost. Each is taken once instead of a code.</p>
${shownOnce('Recovery codes', codes)}<p class="buttons"><a class="button" download="belfry-recovery-codes.txt" href="data:text/plain;charset=utf-8,${encodeURIComponent(`${codes}\n`)}">${icon('download')}<span>Download</span></a>${buttonLink('I have kept them', security)}</p>`
}

async function sessionsPage(visit: SignedIn): Promise<Outcome> {
  const sessions = await listSessions(visit.db, visit.visitor)
  const rows = sessions.map((session) => sessionRow(visit, session))
  const all =
    sessions.length > 1 &&
    form(visit, '/settings/sessions/others', button('Sign out all others', { kind: 'danger' }), { class: 'inline' })
  const body = html`${note(visit.flash.done)}<p>Browsers that are signed in as you. Sign out those that you do not know, and <a href="/settings/security">change your password</a>.</p>
<p class="muted">You see the network address that a browser signed in from; this server does not ask others where that is. A session ends after 30 days without use.</p>
${box(rows, { label: 'Sessions', header: html`<strong>${sessions.length === 1 ? '1 session' : `${sessions.length} sessions`}</strong>${all}` })}`
  return settingsPage('/settings/sessions', 'Sessions', body)
}

function sessionRow(visit: SignedIn, { id, address, user_agent, created_at, last_seen_at }: Session): Html {
  const mine = id === visit.session.id
  const end = html`<input type="hidden" name="id" value="${id}">${button('Sign out', { kind: 'danger', size: 'small', label: `Sign out ${browserOf(user_agent)} at ${address}` })}`
  return settingRow(
    /Android|iPhone|iPad|Mobile/.test(user_agent) ? 'device-mobile' : 'device-desktop',
    html`<p class="title-line"><strong>${browserOf(user_agent)}</strong>${mine && badge('This browser', 'success')}</p>
<p>Network address <code>${address}</code></p><p class="muted">Last used ${moment(last_seen_at)} · signed in ${moment(created_at)}</p>`,
    mine ? undefined : form(visit, '/settings/sessions', end, { class: 'inline' }),
  )
}

/** The browser and system of a session. An unknown user agent is shown as it is. */
function browserOf(user_agent: string) {
  const browser = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'].find((name) => user_agent.includes(`${name}/`))
  const system = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS X', 'Linux'].find((name) => user_agent.includes(name))
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS X': 'macOS' }
  const known = [browser, system].filter((name) => name !== undefined).map((name) => names[name] ?? name)
  return browser ? known.join(' on ') : user_agent.slice(0, 100) || 'Unknown browser'
}

async function endSession(visit: SignedIn): Promise<Outcome> {
  const id = typed(visit.form, 'id')
  if (!/^\d{1,15}$/.test(id)) throw missing()
  await closeSession(visit.db, visit.visitor, Number(id))
  return Number(id) === visit.session.id
    ? { to: '/login' }
    : { to: '/settings/sessions', flash: { done: 'That session has ended.' } }
}

async function endOtherSessions(visit: SignedIn): Promise<Outcome> {
  await closeOtherSessions(visit.db, visit.visitor, visit.session)
  return { to: '/settings/sessions', flash: { done: 'All other sessions have ended.' } }
}
