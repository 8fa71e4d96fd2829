import type { Answer } from '../answer.ts'
import type { Context } from '../check.ts'
import { oauth } from './oauth.ts'
import { actsForUser, authorize, authorized, exchange, exchanged, openFlow, reviewPath, revoke, tokenOf } from './web-flow.ts'

const alone = { alone: true }
const scope = 'gist notifications'

interface Read {
  access_token: unknown
  token_type: unknown
  /** Not part of the form. */
  scope?: unknown
}

const inElement = (text: string, name: string) =>
  /<OAuth>/.test(text) && /<\/OAuth>/.test(text) ? new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] : undefined

const formats: [id: string, accept: string | undefined, type: RegExp, words: string, read: (answer: Answer) => Read][] = [
  [
    'form',
    undefined,
    /^application\/x-www-form-urlencoded/,
    'The default answer is form-encoded with access_token and token_type (bearer).',
    ({ text }) => {
      const fields = new URLSearchParams(text)
      return { access_token: fields.get('access_token'), token_type: fields.get('token_type') }
    },
  ],
  [
    'json',
    'application/json',
    /^application\/json/,
    'With accept: application/json it is a JSON object with access_token, scope (comma-separated scopes), token_type.',
    (answer) => {
      const { access_token, token_type, scope } = answer.row()
      return { access_token, token_type, scope }
    },
  ],
  [
    'xml',
    'application/xml',
    /^application\/xml/,
    'With accept: application/xml it is an XML element OAuth holding token_type, scope, access_token.',
    ({ text }) => ({
      access_token: inElement(text, 'access_token'),
      token_type: inElement(text, 'token_type'),
      scope: inElement(text, 'scope'),
    }),
  ],
]

for (const [id, accept, type, words, read] of formats)
  oauth.check(
    `oauth.web.exchange.${id}`,
    exchange,
    [words, 'Call the API with the token, for example GET /user.', 'space-delimited scopes.'],
    async (context) => {
      const { to, code } = await authorized(context, { scope, state: context.workspace.run })
      const { origin, pathname } = to
      const more = { redirect_uri: `${origin}${pathname}`, state: context.workspace.run }
      const answer = (await exchanged(context, code, accept, more)).is(200)
      answer.header('content-type', type)
      const { access_token, token_type, ...others } = read(answer)
      answer.equals('token_type', token_type, 'bearer')
      if ('scope' in others) answer.equals('the scopes', `${others.scope}`.split(',').sort(), ['gist', 'notifications'])
      if (typeof access_token !== 'string' || access_token === '')
        return answer.fail('an access_token', answer.text.slice(0, 200))
      await actsForUser(context, access_token)
      await context.workspace.once(`token of ${id}`, async () => access_token)
    },
    alone,
  )

oauth.check(
  'oauth.web.tokens',
  exchange,
  ['Multiple tokens can exist per user, application and scope combination.'],
  async (context) => {
    // The checks above leave theirs; without them, these are made here.
    const made = async () => (await tokenOf(context, (await authorized(context, { scope })).code)).access_token
    const [one, other] = [await context.workspace.once('token of form', made), await context.workspace.once('token of xml', made)]
    const user = await context.anonymous.get('/user', { authorization: `Bearer ${one}` })
    user.must(one !== other, 'two tokens', 'the same token twice')
    await actsForUser(context, one)
    await actsForUser(context, other)
  },
  alone,
)

oauth.check(
  'oauth.web.exchange.refused',
  exchange,
  [
    'Exchange the code: POST {auth_url}/login/oauth/access_token with parameters client_id (required), client_secret (required), code (required), redirect_uri, state.',
  ],
  async (context) => {
    const { code, to } = await authorized(context, { scope })
    const wrong = [
      { client_secret: context.workspace.run },
      { client_secret: '' },
      { client_id: context.workspace.run },
      { redirect_uri: `https://${context.workspace.run}.example${to.pathname}` },
    ]
    for (const more of wrong) {
      const answer = await exchanged(context, code, 'application/json', more)
      answer.must(!answer.text.includes('access_token'), `no token with a wrong ${Object.keys(more)[0]}`, 'a token')
      answer.must(answer.status < 500, 'a refusal', `status ${answer.status}`)
    }
  },
  alone,
)

oauth.check(
  'oauth.web.scopes',
  exchange,
  [
    'Notification endpoints need the notifications or repo scope.',
    'Scopes: repo, public_repo, gist, user, notifications, read:repo_hook, write:repo_hook.',
  ],
  async (context) => {
    const { code } = await authorized(context, { scope: 'gist' })
    const token = await tokenOf(context, code)
    token.answer.equals('the scopes', token.scopes, ['gist'])
    const list = (authorization: string) => context.anonymous.get('/notifications', { authorization })
    ;(await list(`Bearer ${token.access_token}`)).is(403)
    const made = async () => (await tokenOf(context, (await authorized(context, { scope })).code)).access_token
    ;(await list(`Bearer ${await context.workspace.once('token of json', made)}`)).is(200)
    await context.workspace.once('used code', async () => code)
  },
  alone,
)

oauth.check(
  'oauth.web.code.once',
  exchange,
  ['On acceptance the service redirects to the callback with query code (temporary, expires after 10 minutes)'],
  async (context) => {
    const used = async () => {
      const { code } = await authorized(context, { scope: 'gist' })
      await tokenOf(context, code)
      return code
    }
    const again = await exchanged(context, await context.workspace.once('used code', used), 'application/json')
    again.must(!again.text.includes('access_token'), 'no token for a code that was used', 'a token')
    again.must(again.status < 500, 'a refusal', `status ${again.status}`)
  },
  alone,
)

/** By the clock of the server. */
const dateOf = (answer: Answer) => Date.parse(answer.header('date'))

async function untilDate({ me, workspace }: Context, date: number) {
  for (;;) {
    const left = date - dateOf(await me.get('/user'))
    if (left <= 0) return
    await workspace.sleep(Math.min(left, 5000))
  }
}

oauth.check(
  'oauth.web.code.expiry',
  exchange,
  [
    'On acceptance the service redirects to the callback with query code (temporary, expires after 10 minutes)',
    'Authorization code lifetime | 10 minutes',
  ],
  async (context) => {
    const [first, second] = [await authorized(context, { scope: 'gist' }), await authorized(context, { scope: 'gist' })]
    const issued = dateOf(second.answer)
    await untilDate(context, issued + 9.5 * 60_000)
    await tokenOf(context, first.code)
    await untilDate(context, issued + 10.25 * 60_000)
    const late = await exchanged(context, second.code, 'application/json')
    late.must(!late.text.includes('access_token'), 'no token for a code that is older than 10 minutes', 'a token')
    late.must(late.status < 500, 'a refusal', `status ${late.status}`)
  },
  { alone: true, slow: true },
)

oauth.check(
  'oauth.web.revoke',
  authorize,
  [
    'Review link for users: {auth_url}/settings/connections/applications/<client_id>.',
    'Revoking all permissions of an OAuth application',
  ],
  async (context) => {
    const { application, visitor } = await openFlow(context)
    const made = async () => (await tokenOf(context, (await authorized(context, { scope })).code)).access_token
    const token = await context.workspace.once('token of json', made)
    await actsForUser(context, token)
    const page = (await visitor.open(reviewPath(application.client_id))).is(200)
    page.must(/\brevoke\b/i.test(page.text), 'a page that can revoke access', page.text.slice(0, 200))
    await revoke(context, application.client_id)
    ;(await context.anonymous.get('/user', { authorization: `Bearer ${token}` })).is(401)
  },
  alone,
)
