import { createHmac } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { endWhenIdle } from '#git/idle-clients.ts'
import { withSlotsOf } from '#git/slots.ts'
import { handleError } from '#http/errors.ts'
import { Moved } from '#http/moved.ts'
import type { Account } from '#identity/accounts.ts'
import { findSession, type Session, touchSession } from '#identity/sessions.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { randomText, sameSecret } from '#platform/secrets.ts'
import { keepState, takeState } from '#web/page-states.ts'
import { readCookie, writeCookie } from './cookies.ts'
import { type Html, html } from './html.ts'
import { type Extras, mostShown, nothingHere, type Signed, sendPage } from './layout.ts'

/** A request for a page. */
export interface Visit {
  belfry: Belfry
  db: Database
  request: FastifyRequest
  reply: FastifyReply
  /** The signed-in user; null until the second factor is given. */
  visitor: Account | null
  /** Also set while the session waits for a one-time code. */
  session: Session | null
  params: Record<string, string>
  query: URLSearchParams
  form: URLSearchParams
  /** Every form contains it and must send it back. */
  csrf: string
  /** The result of the form that redirected here; a reload does not show it again. */
  flash: Flash
}

/** Shown once by the page after a redirect: a message, a new secret, or data for that page. */
export interface Flash {
  done?: string
  secret?: string
  data?: unknown
}

export type SignedIn = Visit & { visitor: Account; session: Session }

/** Rendered above the body of a page, such as the header of a repository. */
export type Above = (visit: Visit) => Html | Promise<Html>

/** A page, a redirect, or a file. */
export type Outcome =
  | ({ title: string; body: Html; status?: number; above?: Above } & Extras)
  | { to: string; flash?: Flash }
  | { file: Readable; headers: Record<string, string> }

/** A text of git. */
export const plainText = (file: Readable): Outcome => ({ file, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })

export interface PageRoute {
  method: 'GET' | 'POST'
  path: string
  signed_in: boolean
  handler: (visit: never) => Outcome | Promise<Outcome>
  /** Answers a form whose session has ended, or that an earlier session of the browser showed. Without it, such a form is refused. */
  lapsed?: Lapsed | undefined
}

/** Pages whose forms may redirect to another site. */
export const leaving = (routes: PageRoute[]): PageRoute[] =>
  routes.map((route) => ({
    ...route,
    handler: async (visit: never) => {
      const outcome = await route.handler(visit)
      return 'body' in outcome ? { ...outcome, plain: true } : outcome
    },
  }))

export type Lapsed = (visit: Visit) => Outcome | Promise<Outcome>

type Handler<V> = (visit: V) => Outcome | Promise<Outcome>

/** `show` and `submit` are for everyone, `showOwn` and `submitOwn` for signed-in users. */
export const show = (path: string, handler: Handler<Visit>): PageRoute => ({ method: 'GET', path, signed_in: false, handler })
export const submit = (path: string, handler: Handler<Visit>, lapsed?: Lapsed): PageRoute => ({
  method: 'POST',
  path,
  signed_in: false,
  handler,
  lapsed,
})
export const showOwn = (path: string, handler: Handler<SignedIn>): PageRoute => ({
  method: 'GET',
  path,
  signed_in: true,
  handler,
})
export const submitOwn = (path: string, handler: Handler<SignedIn>): PageRoute => ({
  method: 'POST',
  path,
  signed_in: true,
  handler,
})

/** Turbo fetches the pages that it shows; its requests have this header, see assets/navigation.js. */
export const shownHeader = 'x-belfry-shown'

export const sessionCookie = 'belfry_session'
/** The CSRF tokens of visitors without a session are derived from this cookie. */
const visitCookie = 'belfry_visit'

/** The server, with what pages need from parts. */
export interface Site {
  belfry: Belfry
  /** Counts the visitor's unread notifications, up to `most`. */
  countUnread(db: Database, visitor: Account, most: number): Promise<number>
  /** Answers a form of a signed-in user whose session has ended. */
  lapsed: Lapsed
}

export function mountPages(listener: FastifyInstance, site: Site, routes: PageRoute[]) {
  listener.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_: FastifyRequest, text: string) => text,
    )
    for (const declared of routes) {
      const route = declared.signed_in ? { ...declared, lapsed: site.lapsed } : declared
      app.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => servePage(site, route, request, reply),
      })
    }
  })
}

/** For routes that serve a page or something else, depending on the request. */
export async function servePage(site: Site, route: PageRoute, request: FastifyRequest, reply: FastifyReply) {
  const visit = await openVisit(site.belfry, request, reply)
  try {
    return send(site, visit, await outcomeOf(visit, route))
  } catch (error) {
    if (error instanceof Refusal) {
      handleError(request, reply, error)
      return send(site, visit, describeRefusal(error))
    }
    if (!(error instanceof Moved)) throw error
    const moved = route.method === 'GET' ? { to: addressIn(error.to, request.url) } : describeRefusal(renamed(error))
    return send(site, visit, moved)
  }
}

function outcomeOf(visit: Visit, { method, signed_in, handler, lapsed }: PageRoute): Outcome | Promise<Outcome> {
  const out = signed_in && !visit.visitor
  if (method === 'GET' && out) return { to: `/login?return_to=${encodeURIComponent(visit.request.url)}` }
  if (method === 'POST' && isForeign(visit)) throw outOfDate()
  if (method === 'POST' && (out || !sameSecret(visit.form.get('csrf') ?? '', visit.csrf))) {
    if (!lapsed || (visit.visitor && !isToken(visit.form.get('csrf')))) throw outOfDate()
    return lapsed(visit)
  }
  const key = visit.visitor ? `user ${visit.visitor.id}` : `address ${visit.request.ip}`
  return withSlotsOf(visit.belfry.storage.reading, key, () => (handler as Handler<Visit>)(visit))
}

/** Pages redirect; a form must be sent again. */
const renamed = ({ to }: Moved) =>
  new Refusal('conflict', `The repository is called ${to.owner}/${to.name} now. Open its page, and send the form again.`)

/** The same page under the repository's present name. */
function addressIn({ owner, name }: Moved['to'], url: string) {
  return url.replace(/^(?:\/[^/?]*){2}/, `/${owner}/${name}`)
}

/** The signed-in user, for routes that are not pages. */
export async function findVisitor(belfry: Belfry, request: FastifyRequest): Promise<Account | null> {
  const found = await sessionOf(belfry, readCookie(request, sessionCookie))
  return found && !found.session.awaits_code ? found.user : null
}

async function sessionOf({ db }: Belfry, token: string | undefined) {
  return token === undefined ? undefined : findSession(db, token)
}

async function openVisit(belfry: Belfry, request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
  const token = readCookie(request, sessionCookie)
  const found = await sessionOf(belfry, token)
  if (found) await touchSession(belfry.db, found.session)
  const mark = request.url.indexOf('?')
  const query = new URLSearchParams(mark < 0 ? '' : request.url.slice(mark))
  const visitor = found && !found.session.awaits_code ? found.user : null
  return {
    belfry,
    db: belfry.db,
    request,
    reply,
    visitor,
    session: found?.session ?? null,
    params: request.params as Record<string, string>,
    query,
    form: new URLSearchParams(typeof request.body === 'string' ? request.body : ''),
    csrf: found && token ? csrfOf(token) : csrfOf(visitOf(belfry, request, reply)),
    flash: (visitor && request.method === 'GET' && (await flashOf(belfry, visitor, query.get('flash')))) || {},
  }
}

async function flashOf({ db, vault }: Belfry, visitor: Account, key: string | null): Promise<Flash | undefined> {
  return key === null ? undefined : takeState<Flash>(db, vault, visitor, 'flash', key)
}

function visitOf(belfry: Belfry, request: FastifyRequest, reply: FastifyReply) {
  const known = readCookie(request, visitCookie)
  if (known && /^\w{40}$/.test(known)) return known
  const fresh = randomText(40)
  writeCookie(reply, visitCookie, fresh, { secure: isSecure(belfry) })
  return fresh
}

/** Derived from the cookie without revealing it, so that the source of a page is not enough to take over the session. */
function csrfOf(cookie: string) {
  return createHmac('sha256', cookie).update('form').digest('hex')
}

/** Browsers send the origin of a form. A form of another site is refused, and its fields are not shown. */
function isForeign({ request, belfry }: Visit) {
  const { origin, 'sec-fetch-site': site } = request.headers
  const elsewhere = site === 'cross-site' || site === 'same-site'
  return elsewhere || (origin !== undefined && origin !== new URL(belfry.addresses.web).origin)
}

/** Has the form of a CSRF token; its session may have ended. */
const isToken = (csrf: string | null) => csrf !== null && /^[0-9a-f]{64}$/.test(csrf)

export const outOfDate = () =>
  new Refusal('forbidden', 'This form is out of date, or did not come from here. Go back, reload the page, and send it again.')

/** Any user may upload a file, so browsers must not show one as a page of ours. */
const fileHeaders = {
  'Content-Type': 'application/octet-stream',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': 'sandbox',
  'Cache-Control': 'private, no-cache',
}

async function send(site: Site, visit: Visit, outcome: Outcome) {
  const { reply, visitor, csrf } = visit
  if ('to' in outcome) {
    return reply
      .code(303)
      .header('Cache-Control', 'no-store')
      .header('Location', await withFlash(visit, outcome))
      .send()
  }
  if ('file' in outcome) {
    endWhenIdle(visit.request.raw, reply.raw, site.belfry.storage.limits.idle, () => visit.request.raw.destroy())
    return reply.headers({ ...fileHeaders, ...outcome.headers }).send(outcome.file)
  }
  const { title, body, status, above, ...extras } = outcome
  const whole = above ? html`${await above(visit)}${body}` : body
  return sendPage(
    reply,
    title,
    whole,
    statusFor(visit, status),
    visitor ? await signedBy(site, visitor, csrf) : undefined,
    extras,
  )
}

/** Turbo shows a page that answers a form only if its status is not 200. */
const statusFor = ({ request }: Visit, status = 200) =>
  status === 200 && request.method === 'POST' && shownHeader in request.headers ? 201 : status

async function signedBy({ belfry, countUnread }: Site, visitor: Account, csrf: string): Promise<Signed> {
  return { visitor, csrf, unread: await countUnread(belfry.db, visitor, mostShown + 1) }
}

/** An error page. During an outage of the database, it is shown as to an anonymous visitor. */
export async function sendErrorPage(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { title, body, status }: { title: string; body: Html; status: number },
) {
  const token = readCookie(request, sessionCookie) ?? ''
  const signed = await findVisitor(site.belfry, request)
    .then((visitor) => visitor && signedBy(site, visitor, csrfOf(token)))
    .catch(() => undefined)
  return sendPage(reply, title, body, status, signed ?? undefined)
}

async function withFlash({ db, belfry, visitor }: Visit, { to, flash }: { to: string; flash?: Flash }) {
  if (!flash || !visitor) return to
  const key = await keepState(db, belfry.vault, visitor, 'flash', flash)
  return `${to}${to.includes('?') ? '&' : '?'}flash=${key}`
}

const statuses: Partial<Record<Refusal['reason'], number>> = {
  unauthenticated: 401,
  bad_credentials: 401,
  forbidden: 403,
  conflict: 409,
  gone: 410,
  invalid: 422,
  rate_limited: 429,
  unavailable: 503,
}

function describeRefusal({ reason, message, faults }: Refusal): Outcome {
  if (reason === 'missing') return nothingHere
  const reasons = faults?.map((fault) => html`<li>${fault.message ?? fault.code}</li>`) ?? []
  return {
    title: 'Not possible',
    status: statuses[reason] ?? 400,
    body: html`<main><h1>That is not possible</h1><p class="error" role="alert">${message}</p><ul>${reasons}</ul></main>`,
  }
}

export function isSecure({ addresses }: Belfry) {
  return addresses.web.startsWith('https:')
}

interface FormOptions {
  class?: string
  id?: string
  /** The page after the form replaces this one in place: the scroll position and the history of the browser stay. */
  replace?: boolean
}

/** A form with the CSRF token. */
export function form({ csrf }: Pick<Visit, 'csrf'>, action: string, body: Html, options: FormOptions = {}): Html {
  const { class: name = 'form', id, replace = false } = options
  return html`<form method="post" action="${action}" class="${name}"${id && html` id="${id}"`}${replace && html` data-turbo-action="replace"`}><input type="hidden" name="csrf" value="${csrf}">${body}</form>`
}
