import { checkPassword } from '#identity/passwords.ts'
import { confirmSession, isConfirmed } from '#identity/sessions.ts'
import { alert, attempt, field, type Problem } from './fields.ts'
import { html } from './html.ts'
import { form, type Outcome, type SignedIn } from './page.ts'
import { safeReturn } from './return-to.ts'
import { settingsPage } from './settings.ts'

type Handler = (visit: SignedIn) => Outcome | Promise<Outcome>

/**
 * For handlers that create a credential or give rights: asks for the password, unless the user entered it within the last hour, and then
 * handles the form. So a stolen session, or one left open on a shared machine, is not enough to gain lasting access.
 * `test/confirmed-forms.test.ts` lists the forms that do not ask, with the reason.
 */
export function confirmed(handler: Handler): Handler {
  return (visit) => {
    if (isConfirmed(visit.db, visit.session)) return handler(visit)
    return visit.form.has(passwordField) ? confirm(visit, handler) : confirmPage(visit)
  }
}

/** For a form with several buttons, of which some need the password. */
export function confirmedIf(needed: (visit: SignedIn) => boolean, handler: Handler): Handler {
  const asking = confirmed(handler)
  return (visit) => (needed(visit) ? asking(visit) : handler(visit))
}

const passwordField = 'confirm_password'
export const confirmPath = '/settings/confirm'

async function confirm(visit: SignedIn, next: Handler): Promise<Outcome> {
  const { db, visitor, session, request } = visit
  let right = false
  const refused = await attempt(
    async () => {
      const given = visit.form.get(passwordField) ?? ''
      right = (await checkPassword(db, { login: visitor.login, address: request.ip }, given)) !== undefined
      return confirmPage(visit, { message: 'The password is wrong.', status: 403 })
    },
    (problem) => confirmPage(visit, problem),
  )
  if (!right) return refused
  await confirmSession(db, session)
  return next(visit)
}

/** The form repeats all fields that were sent, and posts to the same address. Shown instead of a page, it redirects to that page. */
function confirmPage(visit: SignedIn, problem?: Problem): Outcome {
  const { request, visitor } = visit
  const sent = request.method === 'POST'
  const fields = sent
    ? [...visit.form].filter(([name]) => name !== 'csrf' && name !== passwordField)
    : [['return_to', request.url]]
  const hidden = fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  const body = html`<p>You are about to change who has access, or what can act for you. Enter your password to continue. You will not be asked again for an hour.</p>
${form(
  visit,
  sent ? request.url : confirmPath,
  html`${alert(problem)}${hidden}<input type="hidden" autocomplete="username" value="${visitor.login}">
${field({ label: 'Password', name: passwordField, type: 'password', autocomplete: 'current-password', required: true })}
<button class="primary">Confirm</button>`,
)}`
  return settingsPage('', 'Confirm that it is you', body, 403)
}

/** Handles a password form that was shown instead of a page. */
export const confirmVisit = (visit: SignedIn) => confirm(visit, () => ({ to: safeReturn(visit.form.get('return_to')) }))
