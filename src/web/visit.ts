import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import type { Account } from '#identity/accounts.ts'
import { findSession, renewSession, type Session, touchSession } from '#identity/sessions.ts'
import type { Database } from '#platform/database.ts'
import { randomText } from '#platform/secrets.ts'
import { takeState } from '#web/page-states.ts'
import { readOwnCookie, readSessionCookie, replaceOldSessionCookie, visitCookie, writeCookie } from './cookies.ts'
import { csrfOf } from './csrf.ts'
import { Upload } from './multipart.ts'

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
  /** A form with files, of which only the CSRF token is read so far; `form` gets its fields as they are read. */
  upload: Upload | undefined
  /** Every form contains it and must send it back. */
  readonly csrf: string
  /** Whether `csrf` was used. */
  readonly has_form: boolean
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

/** The signed-in user, for routes that are not pages. */
export async function findVisitor(belfry: Belfry, request: FastifyRequest): Promise<Account | null> {
  const found = await sessionOf(belfry, request, readSessionCookie(request, isSecure(belfry))?.token)
  return found && !found.session.awaits_code ? found.user : null
}

async function sessionOf({ db }: Belfry, request: FastifyRequest, token: string | undefined) {
  const found = token === undefined ? undefined : await findSession(db, token)
  request.visitor_login = found?.user.login
  return found
}

export async function openVisit(belfry: Belfry, request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
  const { token, found } = await openSessionOf(belfry, request, reply)
  const mark = request.url.indexOf('?')
  const query = new URLSearchParams(mark < 0 ? '' : request.url.slice(mark))
  const visitor = found && !found.session.awaits_code ? found.user : null
  let csrf: string | undefined
  const upload = uploadOf(request)
  return {
    belfry,
    db: belfry.db,
    request,
    reply,
    visitor,
    session: found?.session ?? null,
    params: request.params as Record<string, string>,
    query,
    form: upload?.form ?? new URLSearchParams(typeof request.body === 'string' ? request.body : ''),
    upload,
    get csrf() {
      csrf ??= csrfOf(found && token ? token : visitOf(belfry, request, reply))
      return csrf
    },
    get has_form() {
      return csrf !== undefined
    },
    flash: (visitor && request.method === 'GET' && (await flashOf(belfry, visitor, query.get('flash')))) || {},
  }
}

async function openSessionOf(belfry: Belfry, request: FastifyRequest, reply: FastifyReply) {
  const cookie = readSessionCookie(request, isSecure(belfry))
  const found = await sessionOf(belfry, request, cookie?.token)
  if (!cookie || !found) return { token: undefined, found: undefined }
  // Not for a form: its token against forgery belongs to the cookie of its page.
  const renewed = cookie.is_old && request.method === 'GET' ? await renewSession(belfry.db, found.session) : undefined
  if (renewed) {
    replaceOldSessionCookie(reply, renewed.token)
    return { token: renewed.token, found: { user: found.user, session: { ...found.session, id: renewed.id } } }
  }
  if (!cookie.is_old) await touchSession(belfry.db, found.session)
  return { token: cookie.token, found }
}

function uploadOf({ method, headers, raw }: FastifyRequest): Upload | undefined {
  const type = headers['content-type'] ?? ''
  return method === 'POST' && /^multipart\/form-data\b/i.test(type)
    ? new Upload(raw.iterator({ destroyOnReturn: false }), type)
    : undefined
}

async function flashOf({ db, vault }: Belfry, visitor: Account, key: string | null): Promise<Flash | undefined> {
  return key === null ? undefined : takeState<Flash>(db, vault, visitor, 'flash', key)
}

function visitOf(belfry: Belfry, request: FastifyRequest, reply: FastifyReply) {
  const known = readOwnCookie(request, visitCookie, isSecure(belfry))
  if (known && /^\w{40}$/.test(known)) return known
  const fresh = randomText(40)
  writeCookie(reply, visitCookie, fresh, { secure: isSecure(belfry) })
  return fresh
}

export function isSecure({ addresses }: Belfry) {
  return addresses.web.startsWith('https:')
}
