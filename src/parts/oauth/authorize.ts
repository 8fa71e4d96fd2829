import type { Account } from '#identity/accounts.ts'
import { type Application, loadApplication } from '#identity/clients.ts'
import { expandScopes, isScope, normaliseScopes } from '#identity/scopes.ts'
import type { Queryable, Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { countNewTokens, issueCode } from './codes.ts'
import { errorParameters } from './errors.ts'
import { findGrant, holdGrant, recordGrant } from './grants.ts'
import { redirectTarget, withParameters } from './redirects.ts'

/** What an application asks of a person, once it is known to be that application and to have a right to the answer. */
export interface AuthorizeRequest {
  application: Application
  /** Verified: the only place an answer goes to. */
  redirect_uri: string
  state: string | undefined
  /** Null when it names none: then the token gets all that was granted before. */
  scopes: string[] | null
  code_challenge: string | null
}

/** What a person is asked, and whether they have to be. */
export interface Consent {
  needed: boolean
  /** All that the application may do afterwards: what it asks for and what it was given before. */
  scopes: string[]
  added: string[]
  known: boolean
  /** It was given so many tokens lately that a person should look. */
  busy: boolean
}

/** The request is answered at the application's address, and the answer is a fault. */
export class SentBack extends Error {
  readonly to: string
  constructor(address: string, fault: ReturnType<typeof faultOf>) {
    super(fault.error_description)
    this.to = answerAt(address, fault)
  }
}

/** The steps from an address to a request that may be answered, in their order. */
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
    scopes: readAskedScopes(query.get('scope')),
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

/** A wrong address is reported at the registered one, and never at the wrong one. */
function checkRedirect(application: Application, query: URLSearchParams, docs: string) {
  const target = redirectTarget(application, query.get('redirect_uri') ?? undefined)
  if (target === undefined) throw new SentBack(application.callback_url, faultOf('redirect_uri_mismatch', query, docs))
  return target
}

/** There is no implicit grant: a token never travels in an address. */
function checkResponseType(query: URLSearchParams) {
  const asked = query.get('response_type')
  if (asked !== null && asked !== 'code') {
    throw new Refusal(
      'malformed',
      `The application asks for the response type '${asked.slice(0, 50)}'. Only 'code' is given here.`,
    )
  }
}

/** A challenge that is sent is honoured or refused, never dropped: the application relies on it. */
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

/** Separated by spaces, or by commas as older clients write them. What we do not know is not asked for. */
export function readScopes(text: string | null | undefined): string[] {
  return normaliseScopes((text ?? '').split(/[\s,]+/).filter(isScope))
}

/** A parameter without a value counts as omitted, as OAuth says. */
export function readAskedScopes(text: string | null | undefined): string[] | null {
  return text?.trim() ? readScopes(text) : null
}

/** A person is asked for what is new, and when tokens are made faster than people sign in. */
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

/** In an hour, without anyone looking. */
const mostNewTokens = 10

/** Undefined when the person must be asked. Held meanwhile, so that a grant which is just being revoked does not come back by itself. */
export async function allowAgain(db: Transaction, user: Account, request: AuthorizeRequest): Promise<string | undefined> {
  await holdGrant(db, request.application, user)
  const { needed } = await planConsent(db, user, request)
  return needed ? undefined : allow(db, user, request)
}

/**
 * Adds what was allowed to the grant; returns where the browser goes with the code for it. The token gets the scopes that were asked for, so
 * that an application can have a narrower one than its grant.
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

/** A header holds plain letters only; an address that has others is written as browsers would. */
function answerAt(address: string, parameters: Record<string, string | undefined>) {
  return withParameters(/^[\x21-\x7e]+$/.test(address) ? address : new URL(address).href, parameters)
}
