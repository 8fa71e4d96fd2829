import type { Account } from '#identity/accounts.ts'
import { type Application, loadApplication } from '#identity/clients.ts'
import { expandScopes, isScope, normaliseScopes } from '#identity/scopes.ts'
import type { Queryable, Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { countNewTokens, issueCode } from './codes.ts'
import { errorParameters } from './errors.ts'
import { findGrant, lockGrant, recordGrant } from './grants.ts'
import { redirectTarget, withParameters } from './redirects.ts'

/** A verified authorization request. */
export interface AuthorizeRequest {
  application: Application
  /** The verified address that every response goes to. */
  redirect_uri: string
  state: string | undefined
  /** Null if the request has none: then the token gets all scopes that were granted before. */
  scopes: string[] | null
  code_challenge: string | null
}

/** What the consent page shows, and whether it is needed. */
export interface Consent {
  needed: boolean
  /** The requested scopes and those granted before. */
  scopes: string[]
  added: string[]
  known: boolean
  /** The application got so many tokens lately that the user must confirm. */
  busy: boolean
}

/** An error that is sent to the application's redirect address. */
export class SentBack extends Error {
  readonly to: string
  constructor(address: string, fault: ReturnType<typeof faultOf>) {
    super(fault.error_description)
    this.to = answerAt(address, fault)
  }
}

/** The steps that verify an authorization request, in order. */
export async function readRequest(db: Queryable, query: URLSearchParams, docs: string): Promise<AuthorizeRequest> {
  checkGivenOnce(query)
  const application = await loadApplication(db, query.get('client_id') ?? '')
  const redirect_uri = checkRedirect(application, query, docs)
  checkResponseType(query)
  const code_challenge = checkChallenge(query, redirect_uri, docs)
  return {
    application,
    redirect_uri,
    state: query.get('state') ?? undefined,
    scopes: scopesFor(application, query.get('scope')),
    code_challenge,
  }
}

/** Two values for one name are two requests: one that we check and one that somebody else reads. */
function checkGivenOnce(query: URLSearchParams) {
  const names = [...query.keys()]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new Refusal('malformed', `The application gave the parameter '${twice.slice(0, 50)}' more than once.`)
}

/** A wrong redirect address is reported to the registered one, never to the wrong one. */
function checkRedirect(application: Application, query: URLSearchParams, docs: string) {
  const target = redirectTarget(application, query.get('redirect_uri') ?? undefined)
  if (target === undefined) throw new SentBack(application.callback_url, faultOf('redirect_uri_mismatch', query, docs))
  return target
}

/** There is no implicit grant, because an address must not contain a token. */
function checkResponseType(query: URLSearchParams) {
  const asked = query.get('response_type')
  if (asked !== null && asked !== 'code') {
    throw new Refusal(
      'malformed',
      `The application asks for the response type '${asked.slice(0, 50)}'. Only 'code' is given here.`,
    )
  }
}

/** A challenge is used or refused, never ignored, because the application relies on it. */
function checkChallenge(query: URLSearchParams, redirect_uri: string, docs: string) {
  const challenge = query.get('code_challenge')
  const method = query.get('code_challenge_method')
  if (challenge === null && method === null) return null
  if (method !== 'S256' || challenge === null || !/^[\w-]{43}$/.test(challenge)) {
    throw new SentBack(redirect_uri, faultOf('invalid_request', query, docs))
  }
  return challenge
}

function faultOf(error: 'redirect_uri_mismatch' | 'access_denied' | 'invalid_request', query: URLSearchParams, docs: string) {
  return { ...errorParameters(error, docs), state: query.get('state') ?? undefined }
}

/**
 * Separated by spaces, or by commas as older clients do. Unknown scopes are ignored. An empty parameter counts as omitted (RFC 6749,
 * section 3.1).
 */
function readAskedScopes(text: string | null | undefined): string[] | null {
  return text?.trim() ? normaliseScopes(text.split(/[\s,]+/).filter(isScope)) : null
}

/** An app has permissions instead of scopes. */
export function scopesFor({ app }: Application, asked: string | null | undefined): string[] | null {
  return app ? [] : readAskedScopes(asked)
}

/** The user must confirm new scopes, and tokens that are created faster than users sign in. */
export async function planConsent(db: Queryable, user: Account, request: AuthorizeRequest): Promise<Consent> {
  const { application } = request
  const scopes = request.scopes ?? []
  const grant = await findGrant(db, application, user)
  const held = expandScopes(grant?.scopes ?? [])
  const added = scopes.filter((scope) => !held.has(scope))
  const busy = (await countNewTokens(db, application, user)) >= mostNewTokens
  const union = normaliseScopes([...(grant?.scopes ?? []), ...scopes])
  return { needed: !grant || added.length > 0 || busy, scopes: union, added, known: grant !== undefined, busy }
}

/** The number of tokens within an hour without confirmation. */
const mostNewTokens = 10

/** Undefined if the user must confirm. Locks the grant, so that a concurrent revocation is not undone. */
export async function allowAgain(db: Transaction, user: Account, request: AuthorizeRequest): Promise<string | undefined> {
  await lockGrant(db, request.application, user)
  const { needed } = await planConsent(db, user, request)
  return needed ? undefined : allow(db, user, request)
}

/**
 * Adds the scopes to the grant and returns the redirect with the code. The token gets the requested scopes only, so an application can have
 * a narrower token than its grant.
 */
export async function allow(db: Transaction, user: Account, request: AuthorizeRequest): Promise<string> {
  const { application, redirect_uri, code_challenge, state } = request
  const grant = await recordGrant(db, application, user, request.scopes ?? [])
  const scopes = request.scopes ?? grant.scopes
  const code = await issueCode(db, { application, user, redirect_uri, scopes, code_challenge })
  return answerAt(redirect_uri, { code, state })
}

export function deny({ redirect_uri, state }: AuthorizeRequest, docs: string) {
  return answerAt(redirect_uri, { ...errorParameters('access_denied', docs), state })
}

/** A header contains ASCII only, so other characters are percent-encoded as in browsers. */
function answerAt(address: string, parameters: Record<string, string | undefined>) {
  return withParameters(/^[\x21-\x7e]+$/.test(address) ? address : new URL(address).href, parameters)
}
