import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { askMenu } from '#web/components/menu.ts'
import { box } from '#web/components/table.ts'
import { banner } from '#web/components/toast.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, settingRow, settingsPage } from '#web/settings.ts'
import { addEmails, deleteEmails, type Email, listEmails, makePrimary, mostEmails, setEmailVisibility } from './emails.ts'

const path = '/settings/emails'

/** Adding an address, and changing the one that signs in, take the password. */
export const pages: PageRoute[] = [
  showOwn(path, (visit) => emailsPage(visit)),
  submitOwn(path, confirmed(add)),
  showOwn(`${path}/primary`, askForPrimary),
  submitOwn(`${path}/primary`, confirmed(changePrimary)),
  submitOwn(`${path}/delete`, remove),
  submitOwn(`${path}/visibility`, changeVisibility),
]

const all = { limit: mostEmails, offset: 0 }

async function emailsPage(visit: SignedIn, written = '', problem?: Problem): Promise<Outcome> {
  const { rows } = await listEmails(visit.db, visit.visitor, all)
  const primary = rows.find((row) => row.primary)
  const list = rows.length
    ? box(
        rows.map((row) => emailRow(visit, row)),
        { label: 'Your e-mail addresses' },
      )
    : emptyState('mail', 'You have no e-mail address yet', 'Add the address that you write commits with.')
  const fields = html`${alert(problem)}${field({ label: 'E-mail address', name: 'email', type: 'email', value: written, autocomplete: 'email', required: true, longest: 255 })}${button('Add address', { kind: 'primary' })}`
  const body = html`${banner(visit.flash.done)}<p>Commits with one of these addresses count as yours, unless another account has verified or listed the address before you. With the primary address you can also sign in.</p>
<p class="muted">This server sends no mail. An address is verified if the operator of the server created your account with it; all others are yours on your word.</p>
${list}${rows.length < mostEmails ? html`<h2>Add an address</h2>${form(visit, path, fields)}` : html`<p class="muted">An account has at most ${mostEmails} addresses. Remove one to add another.</p>`}
${primary && visibilityForm(visit, primary)}`
  return settingsPage(path, 'E-mail addresses', body, problem?.status)
}

function emailRow(visit: SignedIn, { email, primary, verified, visibility }: Email): Html {
  const badges = html`${primary && badge('Primary', 'accent')}${verified ? badge('Verified', 'success') : badge('Not verified')}${badge(visibility === 'public' ? 'Public' : 'Private')}`
  const purpose = primary ? 'Signs you in, and links your commits.' : 'Links your commits.'
  const hidden = html`<input type="hidden" name="email" value="${email}">`
  const removal = askMenu(
    html`<span class="button small danger">Remove</span>`,
    html`Remove <strong>${email}</strong>? Commits with it no longer count as yours.`,
    form(visit, `${path}/delete`, html`${hidden}${button('Remove', { kind: 'danger' })}`, { class: '' }),
    { label: `Remove ${email}` },
  )
  const promotion = buttonLink('Make primary', `${path}/primary?email=${encodeURIComponent(email)}`, {
    size: 'small',
    label: `Make primary: ${email}`,
  })
  return settingRow(
    'mail',
    html`<p class="title-line"><strong>${email}</strong>${badges}</p><p class="muted">${purpose}</p>`,
    primary ? undefined : html`<div class="row-actions">${promotion}${removal}</div>`,
  )
}

function visibilityForm(visit: SignedIn, { email, visibility }: Email): Html {
  const option = (value: 'private' | 'public', text: string) =>
    choice({ name: 'visibility', value, type: 'radio', chosen: value === visibility }, text)
  const fields = html`<fieldset><legend>Who sees ${email}</legend>${option('private', 'Only you')}${option('public', 'Everyone: it is on your profile')}</fieldset>${button('Save visibility')}`
  return html`<h2>Visibility</h2><p class="muted">Nobody else sees your further addresses here. Commits show the address that they were written with.</p>${form(visit, `${path}/visibility`, fields)}`
}

function add(visit: SignedIn): Promise<Outcome> {
  const email = typed(visit.form, 'email').slice(0, 255)
  return attempt(
    async () => {
      await visit.db.transaction((db) => addEmails(db, visit.visitor, [email]))
      return { to: path, flash: { done: `${email} is added.` } }
    },
    (problem) => emailsPage(visit, email, problem),
  )
}

async function askForPrimary(visit: SignedIn): Promise<Outcome> {
  const email = typed(visit.query, 'email').toLowerCase()
  const { rows } = await listEmails(visit.db, visit.visitor, all)
  const [wanted, held] = [rows.find((row) => row.email.toLowerCase() === email), rows.find((row) => row.primary)]
  if (!wanted || wanted.primary) return { to: path }
  const body = html`<p>You sign in with <strong>${wanted.email}</strong> from then on, and only you see it until you choose otherwise.</p>
${held && html`<p><strong>${held.email}</strong> stays listed, and still links your commits.${held.verified && html` It is verified now, and loses that: only the operator of the server can verify an address, and invitations to it no longer reach you.`}</p>`}`
  return askFirst(visit, {
    path,
    title: 'Change your primary address?',
    body,
    action: `${path}/primary`,
    fields: html`<input type="hidden" name="email" value="${wanted.email}">`,
    button: 'Make it the primary address',
    keep_text: 'Cancel',
    kind: 'primary',
  })
}

async function changePrimary(visit: SignedIn): Promise<Outcome> {
  const email = typed(visit.form, 'email')
  await visit.db.transaction((db) => makePrimary(db, visit.visitor, email))
  return { to: path, flash: { done: `${email} is your primary address now.` } }
}

async function remove(visit: SignedIn): Promise<Outcome> {
  const email = typed(visit.form, 'email')
  return attempt(
    async () => {
      await visit.db.transaction((db) => deleteEmails(db, visit.visitor, [email]))
      return { to: path, flash: { done: `${email} is removed.` } }
    },
    (problem) => emailsPage(visit, '', problem),
  )
}

function changeVisibility(visit: SignedIn): Promise<Outcome> {
  const visibility = visit.form.get('visibility') === 'public' ? 'public' : 'private'
  return attempt(
    async () => {
      await visit.db.transaction((db) => setEmailVisibility(db, visit.visitor, visibility))
      const done = visibility === 'public' ? 'Everyone sees your primary address.' : 'Only you see your primary address.'
      return { to: path, flash: { done } }
    },
    (problem) => emailsPage(visit, '', problem),
  )
}
