import { type Answer, Skip } from '../answer.ts'
import type { Context } from '../check.ts'
import { formsOf } from '../forms.ts'
import type { Authorized } from '../visitor.ts'
import { oauth } from './oauth.ts'

export const authorize = 'GET /login/oauth/authorize'
export const exchange = 'POST /login/oauth/access_token'

/** The application and the user whom it asks. At the end, and here, what the user authorized before is revoked. */
export async function openFlow(context: Context) {
  const { target, workspace } = context
  const { application } = target
  if (!application) throw new Skip('It needs an OAuth application: give --client-id and --client-secret.')
  const visitor = await workspace.visitor()
  await workspace.once(`no authorization of ${application.client_id}`, async () => {
    await revoke(context, application.client_id)
    workspace.undoLater(`the authorization of ${application.client_id} by ${target.login}`, () =>
      revoke(context, application.client_id),
    )
  })
  return { application, visitor }
}

export const reviewPath = (client_id: string) => `/settings/connections/applications/${client_id}`

/** Revokes all permissions of an application at the review link. Without any, there is nothing to revoke. */
export async function revoke({ workspace }: Context, client_id: string): Promise<Answer> {
  const visitor = await workspace.visitor()
  const page = await visitor.open(reviewPath(client_id))
  if (page.status === 404) return page
  if ([401, 403].includes(page.status)) throw new Skip(`${page.exchange.url} does not know the session: give another --session.`)
  const choice = formsOf(page.is(200)).flatMap((form) =>
    form.buttons.filter(({ label }) => /\brevoke\b/i.test(label)).map((button) => ({ form, button })),
  )[0]
  if (!choice) throw new Skip(`The review link ${page.exchange.url} has no button that revokes access.`)
  return visitor.submit(page, choice.form, choice.button)
}

/** Asks for authorization, and returns the query that the application gets at its callback. */
export async function authorized(context: Context, parameters: Record<string, string> = {}) {
  const { application, visitor } = await openFlow(context)
  const given = await visitor.authorize({ client_id: application.client_id, ...parameters })
  return { ...given, ...withCode(given) }
}

/** The redirect must be there and have a code. */
export function withCode({ answer, to }: Authorized): { to: URL; code: string } {
  const code = to?.searchParams.get('code')
  if (!to || !code)
    return answer.fail('a redirect to the callback with a code', to ? `${to.origin}${to.pathname}` : 'no redirect')
  return { to, code }
}

/** The callback of an address with what the server added. */
export const withoutQuery = ({ origin, pathname }: URL) => `${origin}${pathname}`

/** Asks for the token of a code. */
export function exchanged({ anonymous, target }: Context, code: string, accept?: string, more: Record<string, string> = {}) {
  const { client_id = '', client_secret = '' } = target.application ?? {}
  const body = new URLSearchParams({ client_id, client_secret, code, ...more })
  return anonymous.send('POST', `${target.web}/login/oauth/access_token`, { headers: accept ? { accept } : {}, body })
}

export interface Token {
  answer: Answer
  access_token: string
  scopes: string[]
}

/** A token by the JSON form of the exchange. */
export async function tokenOf(context: Context, code: string): Promise<Token> {
  const answer = (await exchanged(context, code, 'application/json')).is(200)
  const { access_token, scope } = answer.row()
  if (typeof access_token !== 'string' || typeof scope !== 'string')
    return answer.fail('an access_token and a scope', answer.text)
  return { answer, access_token, scopes: scope.split(',').filter(Boolean).sort() }
}

/** The token must act for the user. */
export async function actsForUser({ anonymous, target }: Context, access_token: string) {
  const scheme = target.variant === 'versioned' ? 'Bearer' : 'token'
  const answer = (await anonymous.get('/user', { authorization: `${scheme} ${access_token}` })).is(200)
  answer.equals('login', answer.row().login, target.login)
}

const alone = { alone: true }

// The checks of the flow run one after the other, because an authorization changes what the next one gets. These two come first: a server may
// ask again after many tokens within a short time.

oauth.check(
  'oauth.web.scope.none',
  authorize,
  [
    'If omitted, it defaults to an empty list for users who have authorized none.',
    'It authorizes third-party applications to act for a user through the OAuth authorization-code flow.',
  ],
  async (context) => {
    const { application } = await openFlow(context)
    await revoke(context, application.client_id)
    const { answer, asked, code } = await authorized(context)
    answer.must(asked, 'a page that asks the user', 'a redirect')
    const token = await tokenOf(context, code)
    token.answer.equals('the scopes', token.scopes, [])
    await actsForUser(context, token.access_token)
  },
  alone,
)

oauth.check(
  'oauth.web.scope.union',
  authorize,
  ['For a user who already authorized scopes, the page is skipped and the union of those scopes is used.'],
  async (context) => {
    const scopes = ['gist', 'notifications']
    for (const scope of scopes) await authorized(context, { scope })
    const { answer, asked, code } = await authorized(context)
    answer.must(!asked, 'no page', 'a page that asks the user')
    const token = await tokenOf(context, code)
    token.answer.equals('the scopes', token.scopes, scopes)
  },
  alone,
)

oauth.check(
  'oauth.web.code',
  authorize,
  [
    'On acceptance the service redirects to the callback with query code (temporary, expires after 10 minutes) and the state given earlier.',
    'unguessable random string; protects against cross-site request forgery',
  ],
  async (context) => {
    for (const state of [context.workspace.run, 'a state/with = odd & characters+ü'])
      await authorized(context, { scope: 'gist', state }).then(({ answer, to }) =>
        answer.equals('state', to.searchParams.getAll('state'), [state]),
      )
    const { answer, to, code } = await authorized(context, { scope: 'gist' })
    answer.must(!to.searchParams.get('state'), 'no state that was not given', to.searchParams.get('state'))
    const other = await authorized(context, { scope: 'gist' })
    other.answer.must(other.code !== code, 'another code for each request', 'the same')
  },
  alone,
)

oauth.check(
  'oauth.web.implicit',
  authorize,
  ['The implicit grant is not supported.'],
  async (context) => {
    const { application, visitor } = await openFlow(context)
    const { answer, to } = await visitor.authorize({ client_id: application.client_id, scope: 'gist', response_type: 'token' })
    answer.must(!`${to}`.includes('access_token'), 'no token in a redirect', 'a redirect with access_token')
    answer.must(answer.status < 500, 'a refusal or a code', `status ${answer.status}`)
  },
  alone,
)

oauth.check(
  'oauth.web.unknown',
  authorize,
  ['client_id | string | required'],
  async (context) => {
    const { visitor } = await openFlow(context)
    const { answer, to } = await visitor.authorize({ client_id: context.workspace.run, redirect_uri: 'https://example.com/' })
    answer.must(!to, 'no redirect to an application that is not registered', to?.origin)
    answer.must(answer.status >= 400 && answer.status < 500, 'a refusal', `status ${answer.status}`)
  },
  alone,
)
