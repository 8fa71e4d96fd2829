import { isSignUpOpen } from '#config.ts'
import { createUser } from '#hosting/people/people.ts'
import { type Account, loadAccountById } from '#identity/accounts.ts'
import { countAttempt, limitsFrom } from '#identity/attempts.ts'
import { preparePassword } from '#identity/passwords.ts'
import { closeSession, findSession, openSession, type Session } from '#identity/sessions.ts'
import { type Delivery, findDelivery, notSent, sendCode, tooSoon } from '#identity/two-factor.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { cardPage } from '#web/card-page.ts'
import { readSessionCookie, sessionCookie, writeCookie, writeSessionCookie } from '#web/cookies.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, isSecure, type Outcome, type PageRoute, show, submit, type Visit } from '#web/page.ts'
import { keepState, takeSignIn } from '#web/page-states.ts'
import { safeReturn } from '#web/return-to.ts'
import { note } from '#web/settings.ts'
import { openDraft, resumePath } from './drafts.ts'
import { finishSignIn, signIn } from './sign-in.ts'

export const pages: PageRoute[] = [
  show('/login', (visit) => {
    // A draft is accepted from the form of the sign-in page only, never from a link.
    const asked = { ...readSignInRequest(visit.query), draft: undefined }
    return visit.visitor ? { to: asked.return_to } : loginPage(visit, asked)
  }),
  submit('/login', takePassword, (visit) => openTooLong(visit, () => loginPage(visit, readSignInRequest(visit.form), outdated))),
  show('/login/otp', (visit) => withPendingSignIn(visit, visit.query, (pending) => codePage(visit, pending))),
  submit(
    '/login/otp',
    (visit) => withPendingSignIn(visit, visit.form, (pending) => takeSecondStep(visit, pending)),
    (visit) => withPendingSignIn(visit, visit.form, (pending) => codePage(visit, pending, outdated)),
  ),
  show('/login/once/:key', takeLink),
  submit('/logout', signOut, (visit) => openTooLong(visit, () => ({ to: '/' }))),
  show('/signup', (visit) => (visit.visitor ? { to: readSignInRequest(visit.query).return_to } : signupPage(visit, visit.query))),
  submit('/signup', signUp, (visit) => openTooLong(visit, () => signupPage(visit, visit.form, outdated))),
]

const outdated: Problem = { status: 403, message: 'This page was open for too long. Please fill it in again.' }

/** A user who has signed in in another tab meanwhile is not asked again. */
function openTooLong(visit: Visit, again: () => Outcome): Outcome {
  if (!visit.visitor) return again()
  throw new Refusal('forbidden', `This page is out of date: you are signed in as ${visit.visitor.login} already. Reload it.`)
}

/** The parameters that all steps of the sign-in carry along. */
export interface SignInRequest {
  login: string
  return_to: string
  allow_signup: boolean
  /** A form that was sent without a session, encrypted. */
  draft?: string | undefined
}

function readSignInRequest(given: URLSearchParams): SignInRequest {
  return {
    login: typed(given, 'login'),
    return_to: safeReturn(given.get('return_to')),
    allow_signup: given.get('allow_signup') !== 'false',
    draft: given.get('draft') ?? undefined,
  }
}

export function loginPage(visit: Visit, asked: SignInRequest, problem?: Problem, notice?: string): Outcome {
  const { login, return_to, allow_signup, draft } = asked
  const signup = allow_signup && isOpen(visit)
  const fields = html`${alert(problem)}${note(notice)}
<input type="hidden" name="return_to" value="${return_to}">${draft !== undefined && html`<input type="hidden" name="draft" value="${draft}">`}${!allow_signup && html`<input type="hidden" name="allow_signup" value="false">`}
${field({ label: 'Login or e-mail address', name: 'login', value: login, autocomplete: 'username', required: true })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', required: true })}
<button class="primary">Sign in</button>`
  return {
    title: 'Sign in',
    status: problem?.status ?? 200,
    body: cardPage(
      'Sign in to Belfry',
      html`${form(visit, '/login', fields, { class: 'form card' })}
${signup && html`<p class="card">New here? <a href="/signup?return_to=${encodeURIComponent(return_to)}">Make an account</a></p>`}`,
    ),
  }
}

function takePassword(visit: Visit): Promise<Outcome> {
  const asked = readSignInRequest(visit.form)
  return attempt(
    async () => {
      const { db, belfry, form: given } = visit
      const signedIn = await signIn(db, belfry.send_text, asked.login, given.get('password') ?? '', originOf(visit))
      const { user, token, awaits_code, sending } = signedIn
      await endPreviousSession(visit)
      setSessionCookie(visit, token, awaits_code)
      const return_to = await keepDraft(visit, user, asked)
      const failed = sending === 'failed' ? '&sent=failed' : ''
      return { to: awaits_code ? `/login/otp?return_to=${encodeURIComponent(return_to)}${failed}` : return_to }
    },
    // A wrong login and a wrong password get the same message, which must not reveal who has an account.
    ({ message, status }) =>
      loginPage(visit, asked, { status, message: status === 403 ? message : 'The login or the password is wrong.' }),
  )
}

/** Stores the draft in the database, for its owner only. Returns the address to open after signing in. */
async function keepDraft({ db, belfry }: Visit, user: Account, { draft, return_to }: SignInRequest): Promise<string> {
  const opened = draft === undefined ? undefined : openDraft(belfry.vault, db.now, draft)
  return opened ? `${resumePath}/${await keepState(db, belfry.vault, user, 'draft', opened)}` : return_to
}

/** A sign-in that waits for a one-time code. */
interface PendingSignIn {
  user: Account
  waiting: Session
  delivery: Delivery | undefined
  return_to: string
}

async function withPendingSignIn(
  visit: Visit,
  given: URLSearchParams,
  next: (pending: PendingSignIn) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const { return_to } = readSignInRequest(given)
  const found =
    visit.session?.awaits_code &&
    (await findSession(visit.db, readSessionCookie(visit.request, isSecure(visit.belfry))?.token ?? ''))
  if (!found) return { to: visit.visitor ? return_to : `/login?return_to=${encodeURIComponent(return_to)}` }
  return next({ user: found.user, waiting: found.session, delivery: await findDelivery(visit.db, found.user), return_to })
}

function codePage(visit: Visit, { delivery, return_to }: PendingSignIn, problem?: Problem): Outcome {
  const texts = delivery === 'sms' && visit.belfry.send_text !== null
  const { where, label } = texts ? bySms : delivery === 'sms' ? withoutSms : byApp
  const sent = visit.query.get('sent')
  const again = sent === 'again' ? 'A new code is on its way.' : undefined
  const failed = texts && sent === 'failed' ? { message: notSent, status: 200 } : undefined
  const fields = html`${alert(problem ?? failed)}${note(again)}${!failed && html`<p>${where}</p>`}
<input type="hidden" name="return_to" value="${return_to}">
${field({ label, name: 'otp', autocomplete: 'one-time-code', hint: 'One of your recovery codes is taken too, once.' })}
<button class="primary">Verify</button> ${texts && html`<button name="action" value="again">Send again</button>`}`
  return {
    title: 'Two-factor code',
    status: problem?.status ?? 200,
    body: cardPage('Two-factor code', form(visit, '/login/otp', fields, { class: 'form card' })),
  }
}

const byApp = { where: 'Open your authenticator app.', label: 'Code from the app' }
const bySms = { where: 'We have sent a code to your phone. It is good for ten minutes.', label: 'Code from the text message' }
const withoutSms = {
  where:
    'Your codes come by text message, and this server does not send any at present. Use a recovery code, or ask the operator of this server.',
  label: 'Recovery code',
}

async function takeSecondStep(visit: Visit, pending: PendingSignIn): Promise<Outcome> {
  const { db, belfry } = visit
  if (visit.form.get('action') === 'again') {
    const sending = await sendCode(db, belfry.send_text, pending.user)
    if (sending === 'sent') return { to: `/login/otp?return_to=${encodeURIComponent(pending.return_to)}&sent=again` }
    return codePage(visit, pending, { message: sending === 'too_soon' ? tooSoon : notSent, status: 422 })
  }
  const wrong = (problem: Problem) => codePage(visit, pending, problem)
  return attempt(async () => {
    const token = await finishSignIn(db, belfry.vault, pending.user, pending.waiting, typed(visit.form, 'otp'), originOf(visit))
    if (!token) return wrong({ message: 'The code is wrong, too old, or was used before.', status: 422 })
    setSessionCookie(visit, token, false)
    return { to: pending.return_to }
  }, wrong)
}

const usedUp: Outcome = {
  title: 'This link is used up',
  status: 410,
  body: html`<main class="narrow"><h1>This link is used up</h1>
<p>A sign-in link works once, within a day. It was used, or it is too old. <a href="/login">Sign in with your password</a> instead.</p></main>`,
}

/** A browser that only looks at the link, to show it sooner, must not use it up. */
const isPrefetch = ({ request }: Visit) =>
  request.method !== 'GET' || /prefetch|prerender/.test(`${request.headers['sec-purpose']}`)

async function takeLink(visit: Visit): Promise<Outcome> {
  if (isPrefetch(visit)) return { title: 'Sign in', body: html`<main class="narrow"><h1>Sign in</h1></main>` }
  const { db, params } = visit
  const opened = await db.transaction(async (transaction) => {
    const user_id = await takeSignIn(transaction, params.key ?? '')
    if (user_id === undefined) return undefined
    const user = await loadAccountById(transaction, user_id)
    const awaits_code = (await findDelivery(transaction, user)) !== undefined
    return { awaits_code, token: await openSession(transaction, user, originOf(visit), awaits_code) }
  })
  if (!opened) return usedUp
  await endPreviousSession(visit)
  setSessionCookie(visit, opened.token, opened.awaits_code)
  return { to: opened.awaits_code ? '/login/otp' : '/' }
}

async function signOut(visit: Visit): Promise<Outcome> {
  await endPreviousSession(visit)
  writeCookie(visit.reply, sessionCookie, '', { max_age: 0, secure: isSecure(visit.belfry) })
  return { to: '/' }
}

const isOpen = ({ belfry }: Visit) => isSignUpOpen(belfry.settings)

const closed: Outcome = {
  title: 'Not found',
  status: 404,
  body: html`<main><h1>There is no such page</h1><p>Only the operator creates accounts on this server.</p></main>`,
}

function signupPage(visit: Visit, given: URLSearchParams, problem?: Problem): Outcome {
  if (!isOpen(visit)) return closed
  if (problem?.retry_after !== undefined) visit.reply.header('Retry-After', problem.retry_after)
  const { login, return_to } = readSignInRequest(given)
  const fields = html`${alert(problem)}<input type="hidden" name="return_to" value="${return_to}">
${field({ label: 'Login', name: 'login', value: login, autocomplete: 'username', required: true, hint: 'Up to 39 letters, digits and single hyphens.' })}
${field({ label: 'E-mail address', name: 'email', type: 'email', value: typed(given, 'email'), autocomplete: 'email', required: true })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'new-password', required: true, hint: 'At least 8 characters.' })}
<button class="primary">Make an account</button>`
  return {
    title: 'Sign up',
    status: problem?.status ?? 200,
    body: cardPage(
      'Make an account',
      html`${form(visit, '/signup', fields, { class: 'form card' })}
<p class="card">You have one? <a href="/login?return_to=${encodeURIComponent(return_to)}">Sign in</a></p>`,
    ),
  }
}

async function signUp(visit: Visit): Promise<Outcome> {
  if (!isOpen(visit)) return closed
  const { login, return_to } = readSignInRequest(visit.form)
  return attempt(
    async () => {
      checkTypedLogin(login)
      await limitSignUps(visit)
      const password_hash = await preparePassword(visit.form.get('password') ?? '')
      const token = await visit.db.transaction(async (db) => {
        const user = await createUser(db, { login, email: typed(visit.form, 'email'), password_hash })
        return openSession(db, user, originOf(visit), false)
      })
      await endPreviousSession(visit)
      setSessionCookie(visit, token, false)
      return { to: return_to }
    },
    (problem) => signupPage(visit, visit.form, problem),
  )
}

/** The maximum number of sign-up forms from a network within an hour. Counted before the password is hashed, which is slow. */
const mostSignUps = 20

function limitSignUps({ db, request }: Visit) {
  const limits = limitsFrom('sign-ups', request.ip, mostSignUps)
  return countAttempt(db, limits, 60, 'Too many accounts were made from your network within the last hour. Try again later.')
}

/** The API converts names of other systems into logins. A form is refused instead, because a user expects the login that they typed. */
function checkTypedLogin(login: string) {
  if (/^[a-z\d]+(-[a-z\d]+)*$/i.test(login)) return
  const message = 'A login has letters, digits and single hyphens, and does not begin or end with a hyphen.'
  throw invalid({ resource: 'User', code: 'invalid', field: 'login', message })
}

const originOf = ({ request }: Visit) => ({ address: request.ip, user_agent: request.headers['user-agent'] ?? '' })

/** Ends the browser's previous session. */
async function endPreviousSession({ db, visitor, session }: Visit) {
  if (visitor && session) await closeSession(db, visitor, session.id)
}

const setSessionCookie = ({ reply, belfry }: Visit, token: string, pending: boolean) =>
  writeSessionCookie(reply, token, isSecure(belfry), pending)
