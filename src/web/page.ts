import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { endWhenIdle } from '#git/idle-clients.ts'
import { withSlotsOf } from '#git/slots.ts'
import { markStreamed } from '#http/body-deadlines.ts'
import { explainDeletion } from '#http/deletion.ts'
import { handleError } from '#http/errors.ts'
import { Moved } from '#http/moved.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { keepState } from '#web/page-states.ts'
import { readSessionCookie } from './cookies.ts'
import { csrfOf, isCsrfToken, isSameCsrf } from './csrf.ts'
import { type Html, html } from './html.ts'
import { type Extras, makePage, mostShown, nothingHere, type SentPage, type Signed, sendPage } from './layout.ts'
import type { PageCache } from './page-cache.ts'
import { type Flash, findVisitor, isSecure, openVisit, type SignedIn, type Visit } from './visit.ts'

export type { Flash, SignedIn, Visit } from './visit.ts'
export { findVisitor, isSecure } from './visit.ts'

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
  /** The form may have files, see `Visit.upload`. */
  takes_files?: boolean
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

/** A form that may have files. */
export const submitFiles = (path: string, handler: Handler<SignedIn>): PageRoute => ({
  ...submitOwn(path, handler),
  takes_files: true,
})

/** Turbo fetches the pages that it shows; its requests have this header, see assets/navigation.js. */
export const shownHeader = 'x-belfry-shown'

/** The server, with what pages need from parts. */
export interface Site {
  belfry: Belfry
  /** Counts the visitor's unread notifications, up to `most`. */
  countUnread(db: Database, visitor: Account, most: number): Promise<number>
  /** Why the server is read-only, if it is. Every page shows it. */
  findNotice(): Promise<string | undefined>
  /** Answers a form of a signed-in user whose session has ended. */
  lapsed: Lapsed
  cache: PageCache
}

export function mountPages(listener: FastifyInstance, site: Site, routes: PageRoute[]) {
  listener.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_: FastifyRequest, text: string) => text,
    )
    const mount = (scope: FastifyInstance, declared: PageRoute) => {
      const route = declared.signed_in ? { ...declared, lapsed: site.lapsed } : declared
      scope.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => servePage(site, route, request, reply),
      })
    }
    for (const route of routes) if (!route.takes_files) mount(app, route)
    app.register(async (scope) => {
      markStreamed(scope)
      // Not read here: the handler reads it while it arrives.
      scope.addContentTypeParser('multipart/form-data', (_request, _content, done) => done(null))
      for (const route of routes) if (route.takes_files) mount(scope, route)
    })
  })
}

/** For routes that serve a page or something else, depending on the request. */
export async function servePage(site: Site, route: PageRoute, request: FastifyRequest, reply: FastifyReply) {
  const kept = site.cache.find(request)
  if (kept) return sendPage(reply, kept)
  const keep = site.cache.begin(request)
  const visit = await openVisit(site.belfry, request, reply)
  try {
    await visit.upload?.readFirst()
    return await send(site, visit, await outcomeOf(visit, route), keep)
  } catch (thrown) {
    const error = await explainDeletion(site.belfry.db, request, thrown)
    if (error instanceof Refusal) {
      handleError(request, reply, error)
      return send(site, visit, describeRefusal(error))
    }
    if (!(error instanceof Moved)) throw error
    const moved = route.method === 'GET' ? { to: addressIn(error.to, request.url) } : describeRefusal(renamed(error))
    return send(site, visit, moved)
  } finally {
    keep()
    // The rest is dropped, so that the browser reads the answer.
    if (visit.upload) request.raw.resume()
  }
}

function outcomeOf(visit: Visit, { method, signed_in, handler, lapsed }: PageRoute): Outcome | Promise<Outcome> {
  const out = signed_in && !visit.visitor
  if (method === 'GET' && out) return { to: `/login?return_to=${encodeURIComponent(visit.request.url)}` }
  if (method === 'POST' && isForeign(visit)) throw outOfDate()
  if (method === 'POST' && (out || !isSameCsrf(visit.form.get('csrf'), visit.csrf))) {
    if (!lapsed || (visit.visitor && !isCsrfToken(visit.form.get('csrf')))) throw outOfDate()
    return lapsedWith(visit, lapsed)
  }
  const caller = { user_id: visit.visitor?.id, ip: visit.request.ip }
  return withSlotsOf(visit.belfry.storage.reading, caller, () => (handler as Handler<Visit>)(visit))
}

/** The sign-in page keeps what was typed, but no files. */
async function lapsedWith(visit: Visit, lapsed: Lapsed): Promise<Outcome> {
  await visit.upload?.readFields()
  return lapsed(visit)
}

/** Pages redirect; a form must be sent again. */
const renamed = ({ to }: Moved) =>
  new Refusal('conflict', `The repository is called ${to.owner}/${to.name} now. Open its page, and send the form again.`)

/** The same page under the repository's present name. */
function addressIn({ owner, name }: Moved['to'], url: string) {
  return url.replace(/^(?:\/[^/?]*){2}/, `/${owner}/${name}`)
}

/** Browsers send the origin of a form. A form of another site is refused, and its fields are not shown. */
function isForeign({ request, belfry }: Visit) {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  if (site === 'cross-site' || site === 'same-site') return true
  if (origin === undefined) return false
  const [sent, own] = [URL.parse(origin), new URL(belfry.addresses.web)]
  return sent?.origin !== own.origin && !(sent?.host === host && isLoopback(sent) && isLoopback(own))
}

/** On one's own machine people type `localhost` for 127.0.0.1. No site elsewhere has one of these names. */
const isLoopback = (url: URL | null) => url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)

export const outOfDate = () =>
  new Refusal('forbidden', 'This form is out of date, or did not come from here. Go back, reload the page, and send it again.')

/** Any user may upload a file, so browsers must not show one as a page of ours. */
const fileHeaders = {
  'Content-Type': 'application/octet-stream',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': 'sandbox',
  'Cache-Control': 'private, no-cache',
}

async function send(site: Site, visit: Visit, outcome: Outcome, keep?: (page: SentPage) => void) {
  const { request, reply, visitor } = visit
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
  const signed = visitor ? await signedBy(site, visitor, visit.csrf) : undefined
  const page = makePage(request, title, whole, signed, { ...extras, notice: await site.findNotice() })
  const code = statusFor(visit, status)
  // A page with a form is for this visitor only.
  if (code === 200 && !visit.has_form) keep?.(page)
  return sendPage(reply, page, code)
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
  const token = readSessionCookie(request, isSecure(site.belfry))?.token ?? ''
  const signed = await findVisitor(site.belfry, request)
    .then((visitor) => visitor && signedBy(site, visitor, csrfOf(token)))
    .catch(() => undefined)
  const notice = await site.findNotice().catch(() => undefined)
  return sendPage(reply, makePage(request, title, body, signed ?? undefined, { notice }), status)
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
    body: html`<main><h1>That is not possible</h1><p class="error" role="alert">${message}</p>${reasons.length > 0 && html`<ul>${reasons}</ul>`}</main>`,
  }
}

interface FormOptions {
  class?: string
  id?: string
  /** The form has fields for files. */
  files?: boolean
  /** The page after the form replaces this one in place: the scroll position and the history of the browser stay. */
  replace?: boolean
  /** The id of the frame that shows the answer; the rest of the page stays. */
  frame?: string
  /** The button that Enter in a field presses, if it is not the first one of the form; `nothing` for a form of equal acts. */
  enter?: { name: string; value: string } | 'plain' | 'nothing'
}

/** Browsers press the first submit button at Enter, even one that is not seen. Outside of a dialog, the method `dialog` does nothing. */
function pressedAtEnter(enter: FormOptions['enter']): Html | undefined {
  if (enter === undefined) return undefined
  const what =
    enter === 'nothing' ? html` formmethod="dialog"` : enter !== 'plain' && html` name="${enter.name}" value="${enter.value}"`
  return html`<button class="unseen main-act" tabindex="-1" aria-hidden="true"${what}></button>`
}

/** A form with the CSRF token. */
export function form({ csrf }: Pick<Visit, 'csrf'>, action: string, body: Html, options: FormOptions = {}): Html {
  const { class: name = 'form', id, files = false, replace = false, frame, enter } = options
  return html`<form method="post" action="${action}" class="${name}"${id && html` id="${id}"`}${files && html` enctype="multipart/form-data" data-upload`}${replace && html` data-turbo-action="replace"`}${frame && html` data-turbo-frame="${frame}"`}><input type="hidden" name="csrf" value="${csrf}">${pressedAtEnter(enter)}${body}</form>`
}
