import { renderSVG } from 'uqr'
import { guessAtAccount } from '#identity/login-throttle.ts'
import { newRecoveryCodes, type RecoveryCodes } from '#identity/recovery-codes.ts'
import { closeOtherSessions } from '#identity/sessions.ts'
import { enableApp, enableText, findDelivery, newSeed, sendCode, tooSoon } from '#identity/two-factor.ts'
import type { Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { settingsPage } from '#web/settings.ts'

type Handler = (visit: SignedIn) => Outcome | Promise<Outcome>

/** A user with a second factor must turn it off first, which requires a code. */
const whileOff = (next: Handler) =>
  confirmed(async (visit) => ((await findDelivery(visit.db, visit.visitor)) ? { to: '/settings/security' } : next(visit)))

const withTexts = (next: Handler) =>
  whileOff((visit) => {
    if (!visit.belfry.send_text) throw missing()
    return next(visit)
  })

export const pages: PageRoute[] = [
  showOwn(
    '/settings/security/app',
    whileOff((visit) => appPage(visit, newSeed(visit.visitor).secret)),
  ),
  submitOwn('/settings/security/app', whileOff(turnOnApp)),
  showOwn('/settings/security/text', withTexts(showText)),
  submitOwn('/settings/security/text', withTexts(turnOnText)),
]

const page = (title: string, body: ReturnType<typeof html>, problem?: Problem) =>
  settingsPage('/settings/security', title, body, problem?.status)

const codeField = field({ label: 'Code', name: 'otp', autocomplete: 'one-time-code', required: true, numeric: true })

function appPage(visit: SignedIn, secret: string, problem?: Problem): Outcome {
  const { uri } = newSeed(visit.visitor, secret)
  const picture = `data:image/svg+xml;base64,${Buffer.from(renderSVG(uri, { border: 4 })).toString('base64')}`
  const fields = html`<input type="hidden" name="proposal" value="${seal(visit, secret)}">${codeField}<button class="primary">Turn on</button>`
  const body = html`<ol class="steps"><li>Scan this with an authenticator app:<br><img class="qr" src="${picture}" width="240" height="240" alt="QR code that holds the key below">
<br>or type in its key: <code class="seed">${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></li>
<li>Give the code that the app shows:${alert(problem)}${form(visit, '/settings/security/app', fields)}</li></ol>`
  return page('Set up an authenticator app', body, problem)
}

function turnOnApp(visit: SignedIn): Promise<Outcome> {
  const secret = open(visit, visit.form)
  if (!secret) return Promise.resolve({ to: '/settings/security/app' })
  return turnOn(
    visit,
    (db, recovery) => enableApp(db, visit.belfry.vault, visit.visitor, { secret, code: typed(visit.form, 'otp'), recovery }),
    (problem) => appPage(visit, secret, problem),
  )
}

function phonePage(visit: SignedIn, phone = '', problem?: Problem): Outcome {
  const hint = 'With the country in front, such as +49 30 1234567.'
  const fields = html`${alert(problem)}${field({ label: 'Phone number', name: 'phone', type: 'tel', value: phone, autocomplete: 'tel', required: true, hint })}
<button class="primary">Send a code</button>`
  return page('Set up text messages', form(visit, '/settings/security/text', fields), problem)
}

/** The address contains the phone number encrypted, so that a reload does not send another code. */
function showText(visit: SignedIn): Outcome {
  const sent_to = open(visit, visit.query)
  return sent_to ? sentPage(visit, sent_to) : phonePage(visit)
}

function sentPage(visit: SignedIn, phone: string, problem?: Problem): Outcome {
  const fields = html`${alert(problem)}<input type="hidden" name="proposal" value="${seal(visit, phone)}">${codeField}<button class="primary">Turn on</button>`
  const body = html`<p>A code was sent to <strong>${phone}</strong>.</p>
${form(visit, '/settings/security/text', fields)}<p><a href="/settings/security/text">Another number, or send again</a></p>`
  return page('Set up text messages', body, problem)
}

/** First the phone number, then the code. The number is encrypted in the form, so that it cannot be changed in between. */
async function turnOnText(visit: SignedIn): Promise<Outcome> {
  const sent_to = open(visit, visit.form)
  if (!sent_to) return sendFirst(visit, typed(visit.form, 'phone'))
  return turnOn(
    visit,
    (db, recovery) => enableText(db, visit.visitor, { phone: sent_to, code: typed(visit.form, 'otp'), recovery }),
    (problem) => sentPage(visit, sent_to, problem),
  )
}

function sendFirst(visit: SignedIn, asked: string): Promise<Outcome> {
  return attempt(
    async () => {
      const phone = asked.replaceAll(/[\s()/.-]/g, '')
      if (!/^\+\d{7,15}$/.test(phone)) throw invalid({ ...phoneFault, message: 'A phone number begins with + and the country.' })
      const sending = await sendCode(visit.db, visit.belfry.send_text, visit.visitor, phone)
      if (sending === 'too_soon') throw invalid({ ...phoneFault, message: tooSoon })
      if (sending === 'failed')
        throw invalid({ ...phoneFault, message: 'The text message could not be sent. Try again in a minute.' })
      return { to: `/settings/security/text?proposal=${seal(visit, phone)}` }
    },
    (problem) => phonePage(visit, asked, problem),
  )
}
const phoneFault = { resource: 'TwoFactor', code: 'invalid', field: 'phone' } as const

type Enable = (db: Transaction, recovery: RecoveryCodes) => Promise<boolean>

/** Wrong codes count like those at sign-in. Afterwards, all other sessions of the user end. */
function turnOn(visit: SignedIn, enable: Enable, again: (problem: Problem) => Outcome) {
  const { db, visitor, session, request } = visit
  return attempt(async () => {
    const made = await guessAtAccount(db, visitor, request.ip, async () => {
      const recovery = await newRecoveryCodes()
      return db.transaction(async (transaction) => {
        if (!(await enable(transaction, recovery))) return undefined
        await closeOtherSessions(transaction, visitor, session)
        return recovery.codes
      })
    })
    if (!made) throw wrongCode()
    const flash = { data: 'two-factor', done: 'Two-factor authentication is on.', secret: made.join('\n') }
    return { to: '/settings/security', flash }
  }, again)
}

const wrongCode = () =>
  invalid({ resource: 'TwoFactor', code: 'invalid', field: 'otp', message: 'The code is wrong or too old. Try the next one.' })

const contextOf = ({ visitor, request }: SignedIn) => `enrolment ${visitor.id} ${request.url.split('?', 1)[0]}`

/** Data that a form carries to its next step, encrypted so that it cannot be changed. */
function seal(visit: SignedIn, text: string) {
  return visit.belfry.vault.seal(text, contextOf(visit)).toString('base64url')
}

function open(visit: SignedIn, given: URLSearchParams): string | undefined {
  const proposal = given.get('proposal')
  if (!proposal) return undefined
  try {
    return visit.belfry.vault.open(Buffer.from(proposal, 'base64url'), contextOf(visit))
  } catch {
    return undefined
  }
}
