import { Skip } from '../answer.ts'
import type { Context } from '../check.ts'
import { isLoopback } from '../client.ts'
import { oauth } from './oauth.ts'
import { authorize, authorized, openFlow, revoke, withCode, withoutQuery } from './web-flow.ts'

const alone = { alone: true }

/** The configured callback: where a request without redirect_uri leads. */
const callbackOf = (context: Context) =>
  context.workspace.once('callback', async () => new URL(withoutQuery((await authorized(context, { scope: 'gist' })).to)))

oauth.check(
  'oauth.web.redirect.given',
  authorize,
  [
    'If redirect_uri is omitted, the callback URL configured for the application is used.',
    'its path must be the callback path or below it.',
  ],
  async (context) => {
    const callback = await callbackOf(context)
    const below = `${callback.href.replace(/\/$/, '')}/${context.workspace.run}`
    for (const redirect_uri of [callback.href, below]) {
      const { answer, to } = await authorized(context, { scope: 'gist', redirect_uri })
      answer.equals('the redirect', withoutQuery(to), redirect_uri)
    }
  },
  alone,
)

/** Addresses that the rules refuse; undefined if the callback cannot have such a one. */
const refused: [id: string, words: string, address: (callback: URL, run: string) => string | undefined][] = [
  [
    'host',
    "If given, its host and port must equal the callback's host and port",
    (callback, run) => callback.href.replace(callback.hostname, `${run}.example`),
  ],
  [
    'subdomain',
    "If given, its host and port must equal the callback's host and port",
    (callback) => callback.href.replace(callback.hostname, `x.${callback.hostname}`),
  ],
  [
    'port',
    "If given, its host and port must equal the callback's host and port",
    (callback) => (isLoopback(callback) ? undefined : callback.href.replace(callback.host, `${callback.hostname}:8765`)),
  ],
  [
    'path',
    'its path must be the callback path or below it.',
    ({ origin, pathname }, run) => (pathname === '/' ? undefined : `${origin}/${run}`),
  ],
  [
    'sibling',
    'its path must be the callback path or below it.',
    ({ origin, pathname }) => (pathname === '/' ? undefined : `${origin}${pathname.replace(/\/$/, '')}x`),
  ],
]
for (const [id, words, address] of refused)
  oauth.check(
    `oauth.web.redirect.other-${id}`,
    authorize,
    [words],
    async (context) => {
      const callback = await callbackOf(context)
      const redirect_uri = address(callback, context.workspace.run)
      if (redirect_uri === undefined)
        throw new Skip(`The callback of the application is ${callback.href}, so the rule allows any.`)
      const { application, visitor } = await openFlow(context)
      const { answer, to } = await visitor.authorize({ client_id: application.client_id, scope: 'gist', redirect_uri })
      answer.must(!to || withoutQuery(to) !== redirect_uri, `no redirect to ${redirect_uri}`, to?.origin)
      answer.must(!to?.searchParams.has('code'), 'no code', 'a redirect with a code')
      answer.must(answer.status < 500, 'a refusal', `status ${answer.status}`)
    },
    alone,
  )

oauth.check(
  'oauth.web.redirect.localhost',
  authorize,
  ["Localhost exception: when the redirect is a localhost URL with a port, the port need not match the callback's."],
  async (context) => {
    const { application, visitor } = await openFlow(context)
    const { local_client_id } = context.target
    const client_id = local_client_id ?? application.client_id
    if (local_client_id !== undefined)
      context.workspace.undoLater(`the authorization of ${local_client_id}`, () => revoke(context, local_client_id))
    const { to: callback } = withCode(await visitor.authorize({ client_id, scope: 'gist' }))
    if (!isLoopback(callback))
      throw new Skip('It needs an application whose callback is a localhost address: give --local-client-id.')
    const redirect_uri = withoutQuery(callback).replace(callback.host, `${callback.hostname}:8765`)
    const { answer, to } = await visitor.authorize({ client_id, scope: 'gist', redirect_uri })
    answer.equals('the redirect', to && withoutQuery(to), redirect_uri)
    withCode({ answer, to, asked: false })
  },
  alone,
)
