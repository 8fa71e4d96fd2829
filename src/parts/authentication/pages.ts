import { type Account, createUser } from '#hosting/people/people.ts'
import { invalid } from '#platform/errors.ts'
import { networkOf } from '#platform/network.ts'
import { readCookie, writeCookie } from '#web/cookies.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, isSecure, type Outcome, type PageRoute, safeReturn, sessionCookie, show, submit, type Visit } from '#web/page.ts'
import { countAttempt } from './attempts.ts'
import { preparePassword } from './passwords.ts'
import { closeSession, findSession, openSession, type Session } from './sessions.ts'
import { finishSignIn, signIn } from './sign-in.ts'
import { type Delivery, findDelivery, sendCode } from './two-factor.ts'

export const pages: PageRoute[] = [
  show('/login', (visit) => (visit.visitor ? { to: wishOf(visit.query).return_to } : loginPage(visit, wishOf(visit.query)))),
  submit('/login', takePassword),
  show('/login/otp', (visit) => withHalf(visit, visit.query, (half) => codePage(visit, half))),
  submit('/login/otp', (visit) => withHalf(visit, visit.form, (half) => takeSecondStep(visit, half))),
  submit('/logout', signOut),
  show('/signup', (visit) => (visit.visitor ? { to: wishOf(visit.query).return_to } : signupPage(visit, visit.query))),
  submit('/signup', signUp),
]

/** What somebody came to the sign-in page with, and takes along through its steps. */
interface Wish {
  login: string
  return_to: string
  allow_signup: boolean
}

function wishOf(given: URLSearchParams): Wish {
  return {
    login: typed(given, 'login'),
    return_to: safeReturn(given.get('return_to')),
    allow_signup: given.get('allow_signup') !== 'false',
  }
}

function loginPage(visit: Visit, { login, return_to, allow_signup }: Wish, problem?: Problem): Outcome {
  const signup = allow_signup && isOpen(visit)
  const fields = html`${alert(problem)}
<input type="hidden" name="return_to" value="${return_to}">${!allow_signup && html`<input type="hidden" name="allow_signup" value="false">`}
${field({ label: 'Login or e-mail address', name: 'login', value: login, autocomplete: 'username', required: true })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', required: true })}
<button class="primary">Sign in</button>`
  return {
    title: 'Sign in',
    status: problem?.status ?? 200,
    body: html`<main class="narrow"><h1>Sign in</h1>${form(visit, '/login', fields, { class: 'form card' })}
${signup && html`<p>New here? <a href="/signup?return_to=${encodeURIComponent(return_to)}">Make an account</a></p>`}</main>`,
  }
}

function takePassword(visit: Visit): Promise<Outcome> {
  const wish = wishOf(visit.form)
  return attempt(
    async () => {
      const { token, awaits_code } = await signIn(
        visit.db,
        visit.belfry.send_text,
        wish.login,
        visit.form.get('password') ?? '',
        originOf(visit),
      )
      await leave(visit)
      keep(visit, token, awaits_code)
      return { to: awaits_code ? `/login/otp?return_to=${encodeURIComponent(wish.return_to)}` : wish.return_to }
    },
    // Who has an account here is nobody's business: a wrong name and a wrong password are one answer.
    ({ message, status }) =>
      loginPage(visit, wish, { status, message: status === 403 ? message : 'The login or the password is wrong.' }),
  )
}

/** Someone whose password was right, and who has a second factor. */
interface Half {
  user: Account
  waiting: Session
  delivery: Delivery | undefined
  return_to: string
}

async function withHalf(
  visit: Visit,
  given: URLSearchParams,
  next: (half: Half) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const { return_to } = wishOf(given)
  const found = visit.session?.awaits_code && (await findSession(visit.db, readCookie(visit.request, sessionCookie) ?? ''))
  if (!found) return { to: visit.visitor ? return_to : `/login?return_to=${encodeURIComponent(return_to)}` }
  return next({ user: found.user, waiting: found.session, delivery: await findDelivery(visit.db, found.user), return_to })
}

function codePage(visit: Visit, { delivery, return_to }: Half, problem?: Problem, note?: string): Outcome {
  const [where, label] =
    delivery === 'sms'
      ? ['We have sent a code to your phone. It is good for ten minutes.', 'Code from the text message']
      : ['Open your authenticator app.', 'Code from the app']
  const fields = html`${alert(problem)}${note && html`<p class="note" role="status">${note}</p>`}<p>${where}</p>
<input type="hidden" name="return_to" value="${return_to}">
${field({ label, name: 'otp', autocomplete: 'one-time-code', hint: 'One of your recovery codes is taken too, once.' })}
<button class="primary">Verify</button> ${delivery === 'sms' && html`<button name="action" value="again">Send again</button>`}`
  return {
    title: 'Two-factor code',
    status: problem?.status ?? 200,
    body: html`<main class="narrow"><h1>Two-factor code</h1>${form(visit, '/login/otp', fields, { class: 'form card' })}</main>`,
  }
}

async function takeSecondStep(visit: Visit, half: Half): Promise<Outcome> {
  const { db, belfry } = visit
  if (visit.form.get('action') === 'again') {
    const sent = await sendCode(db, belfry.send_text, half.user)
    return sent
      ? codePage(visit, half, undefined, 'A new code is on its way.')
      : codePage(visit, half, { message: 'A code was sent less than a minute ago. Wait a moment, and try again.', status: 422 })
  }
  const wrong = (problem: Problem) => codePage(visit, half, problem)
  return attempt(async () => {
    const token = await finishSignIn(db, belfry.vault, half.user, half.waiting, typed(visit.form, 'otp'), originOf(visit))
    if (!token) return wrong({ message: 'The code is wrong, too old, or was used before.', status: 422 })
    keep(visit, token, false)
    return { to: half.return_to }
  }, wrong)
}

async function signOut(visit: Visit): Promise<Outcome> {
  await leave(visit)
  writeCookie(visit.reply, sessionCookie, '', { max_age: 0, secure: isSecure(visit.belfry) })
  return { to: '/' }
}

const isOpen = ({ belfry }: Visit) => belfry.settings.BELFRY_SIGNUP === 'on'

const closed: Outcome = {
  title: 'Not found',
  status: 404,
  body: html`<main><h1>There is no such page</h1><p>Accounts are made by the operator here.</p></main>`,
}

function signupPage(visit: Visit, given: URLSearchParams, problem?: Problem): Outcome {
  if (!isOpen(visit)) return closed
  if (problem?.retry_after !== undefined) visit.reply.header('Retry-After', problem.retry_after)
  const { login, return_to } = wishOf(given)
  const fields = html`${alert(problem)}<input type="hidden" name="return_to" value="${return_to}">
${field({ label: 'Login', name: 'login', value: login, autocomplete: 'username', required: true, hint: 'Up to 39 letters, digits and single hyphens.' })}
${field({ label: 'E-mail address', name: 'email', type: 'email', value: typed(given, 'email'), autocomplete: 'email', required: true })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'new-password', required: true, hint: 'At least 8 characters.' })}
<button class="primary">Make an account</button>`
  return {
    title: 'Sign up',
    status: problem?.status ?? 200,
    body: html`<main class="narrow"><h1>Make an account</h1>${form(visit, '/signup', fields, { class: 'form card' })}
<p>You have one? <a href="/login?return_to=${encodeURIComponent(return_to)}">Sign in</a></p></main>`,
  }
}

async function signUp(visit: Visit): Promise<Outcome> {
  if (!isOpen(visit)) return closed
  const { login, return_to } = wishOf(visit.form)
  return attempt(
    async () => {
      checkTypedLogin(login)
      await limitSignUps(visit)
      const password_hash = await preparePassword(visit.form.get('password') ?? '')
      const token = await visit.db.transaction(async (db) => {
        const user = await createUser(db, { login, email: typed(visit.form, 'email'), password_hash })
        return openSession(db, user, originOf(visit), false)
      })
      await leave(visit)
      keep(visit, token, false)
      return { to: return_to }
    },
    (problem) => signupPage(visit, visit.form, problem),
  )
}

/** Forms sent from one network within an hour. Counted before the password is hashed, which is slow. */
const mostSignUps = 20

function limitSignUps({ db, request }: Visit) {
  const limits = [{ subject: `sign-ups from ${networkOf(request.ip)}`, most: mostSignUps }]
  return countAttempt(db, limits, 60, 'Too many accounts were made from your network within the last hour. Try again later.')
}

/** Other systems' names are made to fit; a person is told instead, and not surprised by another login than the typed one. */
function checkTypedLogin(login: string) {
  if (/^[a-z\d]+(-[a-z\d]+)*$/i.test(login)) return
  const message = 'A login has letters, digits and single hyphens, and does not begin or end with a hyphen.'
  throw invalid({ resource: 'User', code: 'invalid', field: 'login', message })
}

const originOf = ({ request }: Visit) => ({ address: request.ip, user_agent: request.headers['user-agent'] ?? '' })

/** Ends the session that the browser had until now. */
async function leave({ db, visitor, session }: Visit) {
  if (visitor && session) await closeSession(db, visitor, session.id)
}

/** The server ends a session that is not used for a month; the browser just has to keep it longer than that. */
const year = 365 * 24 * 3600

function keep({ reply, belfry }: Visit, token: string, half: boolean) {
  writeCookie(reply, sessionCookie, token, { secure: isSecure(belfry), ...(!half && { max_age: year }) })
}
