import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { withSlotsOf } from '#hosting/git/slots.ts'
import type { Account } from '#hosting/people/people.ts'
import { Moved } from '#hosting/repositories/repositories.ts'
import { findSession, type Session, touchSession } from '#parts/authentication/sessions.ts'
import { countThreads } from '#parts/notifications/threads.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { randomText, sameSecret } from '#platform/secrets.ts'
import { readCookie, writeCookie } from './cookies.ts'
import { type Html, html } from './html.ts'
import { type Extras, mostShown, nothingHere, sendPage } from './layout.ts'

/** One person looking at one page. */
export interface Visit {
  belfry: Belfry
  db: Database
  request: FastifyRequest
  reply: FastifyReply
  /** Whoever is signed in, second factor and all. */
  visitor: Account | null
  /** Also there when only the password was right so far. */
  session: Session | null
  params: Record<string, string>
  query: URLSearchParams
  form: URLSearchParams
  /** Goes into every form, and comes back with it. */
  csrf: string
}

export type SignedIn = Visit & { visitor: Account; session: Session }

/** What a handler gives: a page, or somewhere else to go. */
export type Outcome = ({ title: string; body: Html; status?: number } & Extras) | { to: string }

export interface PageRoute {
  method: 'GET' | 'POST'
  path: string
  signed_in: boolean
  handler: (visit: never) => Outcome | Promise<Outcome>
}

type Handler<V> = (visit: V) => Outcome | Promise<Outcome>

/** Pages for everyone, and for those who are signed in; a form is sent to the path of a page. */
export const show = (path: string, handler: Handler<Visit>): PageRoute => ({ method: 'GET', path, signed_in: false, handler })
export const submit = (path: string, handler: Handler<Visit>): PageRoute => ({ method: 'POST', path, signed_in: false, handler })
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

export const sessionCookie = 'belfry_session'
/** What forms are bound to before anyone is signed in. */
const visitCookie = 'belfry_visit'

export function mountPages(listener: FastifyInstance, belfry: Belfry, routes: PageRoute[]) {
  listener.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_: FastifyRequest, text: string) => text,
    )
    for (const route of routes) {
      app.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => servePage(belfry, route, request, reply),
      })
    }
  })
}

/** For an address that is a page to some who ask, and something else to others. */
export async function servePage(belfry: Belfry, route: PageRoute, request: FastifyRequest, reply: FastifyReply) {
  const { method, signed_in, handler } = route
  const visit = await openVisit(belfry, request, reply)
  try {
    if (method === 'POST') checkForm(visit)
    if (signed_in && !visit.visitor) return send(visit, { to: `/login?return_to=${encodeURIComponent(request.url)}` })
    const key = visit.visitor ? `user ${visit.visitor.id}` : `address ${request.ip}`
    const outcome = withSlotsOf(belfry.storage.reading, key, () => (handler as Handler<Visit>)(visit))
    return send(visit, await outcome)
  } catch (error) {
    if (error instanceof Refusal) return send(visit, describeRefusal(error))
    if (!(error instanceof Moved)) throw error
    return send(visit, method === 'GET' ? { to: addressIn(error.to, request.url) } : describeRefusal(renamed(error)))
  }
}

/** A form was shown while the repository had another name; a page leads on by itself. */
const renamed = ({ to }: Moved) =>
  new Refusal('conflict', `The repository is called ${to.owner}/${to.name} now. Open its page, and send the form again.`)

/** The same page of a repository that has another name by now. */
function addressIn({ owner, name }: Moved['to'], url: string) {
  return url.replace(/^(?:\/[^/?]*){2}/, `/${owner}/${name}`)
}

/** Who is signed in, for what is no page. */
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
  return {
    belfry,
    db: belfry.db,
    request,
    reply,
    visitor: found && !found.session.awaits_code ? found.user : null,
    session: found?.session ?? null,
    params: request.params as Record<string, string>,
    query: new URLSearchParams(mark < 0 ? '' : request.url.slice(mark)),
    form: new URLSearchParams(typeof request.body === 'string' ? request.body : ''),
    csrf: found && token ? csrfOf(token) : csrfOf(visitOf(belfry, request, reply)),
  }
}

function visitOf(belfry: Belfry, request: FastifyRequest, reply: FastifyReply) {
  const known = readCookie(request, visitCookie)
  if (known && /^\w{40}$/.test(known)) return known
  const fresh = randomText(40)
  writeCookie(reply, visitCookie, fresh, { secure: isSecure(belfry) })
  return fresh
}

/** Follows from the cookie and does not show it: whoever reads a page's source cannot take the session over. */
function csrfOf(cookie: string) {
  return createHmac('sha256', cookie).update('form').digest('hex')
}

/** A form must be one of ours: it carries the token of this visit, and the browser does not say it came from elsewhere. */
function checkForm({ form, csrf, request, belfry }: Visit) {
  const origin = request.headers.origin
  const foreign = origin !== undefined && origin !== new URL(belfry.addresses.web).origin
  if (foreign || !sameSecret(form.get('csrf') ?? '', csrf)) {
    throw new Refusal(
      'forbidden',
      'This form is out of date, or did not come from here. Go back, reload the page, and send it again.',
    )
  }
}

async function send({ db, reply, visitor, csrf }: Visit, outcome: Outcome) {
  if ('to' in outcome) return reply.code(303).header('Cache-Control', 'no-store').header('Location', outcome.to).send()
  const { title, body, status, ...extras } = outcome
  const unread = visitor ? await countThreads(db, visitor, { view: 'unread' }, mostShown + 1) : 0
  return sendPage(reply, title, body, status, visitor ? { visitor, csrf, unread } : undefined, extras)
}

const statuses: Partial<Record<Refusal['reason'], number>> = {
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

/** Where a person wanted to go, if that is a place of ours: a path, and not one that a browser reads as another host. */
export function safeReturn(asked: string | null): string {
  const ours = asked && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(asked) ? asked : '/'
  // A header takes plain characters only, and a path may be written with any.
  return ours.replaceAll(/[^!-~]+/gu, encodeURIComponent)
}

/** A form that carries the token of the visit. */
export function form({ csrf }: Pick<Visit, 'csrf'>, action: string, body: Html, options: { class?: string } = {}): Html {
  return html`<form method="post" action="${action}" class="${options.class ?? 'form'}"><input type="hidden" name="csrf" value="${csrf}">${body}</form>`
}
