import { type Answer, Skip } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { formsOf } from '../forms.ts'
import { Visitor } from '../visitor.ts'

export const oauth = new Part('OAuth')

const authorize = 'GET /login/oauth/authorize'
const exchange = 'POST /login/oauth/access_token'

const page = ({ anonymous, target }: Context, parameters: Record<string, string>) =>
  anonymous.get(`${target.web}/login/oauth/authorize?${new URLSearchParams(parameters)}`, { accept: 'text/html' })

/** Asks for a token with a code that does not exist. */
function ask(
  { anonymous, target, workspace }: Context,
  accept?: string,
  parameters: Record<string, string> = {},
): Promise<Answer> {
  const { client_id, client_secret } = target.application ?? { client_id: workspace.run, client_secret: workspace.run }
  const body = new URLSearchParams({ client_id, client_secret, code: workspace.run, ...parameters })
  return anonymous.send('POST', `${target.web}/login/oauth/access_token`, { headers: accept ? { accept } : {}, body })
}

function application({ target }: Context) {
  if (!target.application) throw new Skip('It needs an OAuth application: give --client-id and --client-secret.')
  return target.application
}

oauth.check('oauth.authorize.unknown', authorize, ['client_id | string | required'], async (context) => {
  const answer = await page(context, { client_id: context.workspace.run, redirect_uri: 'https://example.com/' })
  answer.must(
    !`${answer.headers.get('location')}`.startsWith('https://example.com'),
    'no redirect to an application that is not registered',
    answer.headers.get('location'),
  )
})

oauth.check('oauth.authorize.missing-client', authorize, ['client_id | string | required'], async (context) => {
  const answer = await page(context, { redirect_uri: 'https://example.com/' })
  answer.must(
    !`${answer.headers.get('location')}`.startsWith('https://example.com'),
    'no redirect without a client_id',
    answer.headers.get('location'),
  )
})

oauth.check(
  'oauth.authorize.page',
  authorize,
  [
    '{auth_url} is the web root of the same installation. It serves the OAuth and settings pages.',
    'Redirect the user to GET {auth_url}/login/oauth/authorize with query:',
    'unguessable random string; protects against cross-site request forgery',
  ],
  async (context) => {
    const { client_id } = application(context)
    // A visitor without a session is asked to sign in, on this page or another one of the server.
    const answer = (await page(context, { client_id, scope: 'user', state: context.workspace.run, allow_signup: 'false' })).is(
      200,
      302,
      303,
    )
    const location = answer.headers.get('location')
    if (location)
      answer.equals('the host of the page', new URL(location, context.target.web).host, new URL(context.target.web).host)
  },
)

oauth.check('oauth.authorize.login', authorize, ['suggests which account to sign in with'], async (context) => {
  const { client_id } = application(context)
  const stranger = new Visitor(context.anonymous, context.target.web)
  const login = `${context.workspace.run}-login`
  const path = (parameters: Record<string, string>) => `/login/oauth/authorize?${new URLSearchParams(parameters)}`
  const plain = (await stranger.open(path({ client_id }))).is(200)
  if (!formsOf(plain).some((form) => form.login && form.password))
    throw new Skip('The page where users sign in has no form with a login and a password.')
  const answer = (await stranger.open(path({ client_id, login }))).is(200)
  answer.must(
    formsOf(answer).some((form) => form.fields.some(([name, value]) => name === form.login && value === login)),
    `the login ${login} in the form`,
    formsOf(answer).map((form) => form.fields.find(([name]) => name === form.login)),
  )
})

oauth.check(
  'oauth.authorize.redirect',
  authorize,
  ['If given, its host and port must equal the callback', 'the callback path or below it.'],
  async (context) => {
    const { client_id } = application(context)
    const answer = await page(context, { client_id, redirect_uri: `https://${context.workspace.run}.example/` })
    const location = answer.headers.get('location') ?? ''
    answer.must(
      !location.includes(`//${context.workspace.run}.example`),
      'no redirect to a host that is not registered',
      location,
    )
  },
)

const formats: [
  id: string,
  accept: string | undefined,
  type: RegExp,
  words: string,
  reads: (text: string) => string | null | undefined,
][] = [
  [
    'form',
    undefined,
    /^application\/x-www-form-urlencoded/,
    'The default answer is form-encoded with access_token and token_type (bearer).',
    (text) => new URLSearchParams(text).get('error'),
  ],
  [
    'json',
    'application/json',
    /^application\/json/,
    'With accept: application/json it is a JSON object with access_token, scope (comma-separated scopes), token_type.',
    (text) => JSON.parse(text).error,
  ],
  [
    'xml',
    'application/xml',
    /^application\/xml/,
    'With accept: application/xml it is an XML element OAuth holding token_type, scope, access_token.',
    (text) => (text.includes('<OAuth>') ? /<error>([^<]+)/.exec(text)?.[1] : undefined),
  ],
]
for (const [id, accept, type, words, reads] of formats)
  oauth.check(`oauth.exchange.${id}`, exchange, [words], async (context) => {
    const answer = await ask(context, accept)
    answer.header('content-type', type)
    answer.must(typeof reads(answer.text) === 'string', 'an error in this format', answer.text.slice(0, 200))
    answer.must(!answer.text.includes('access_token'), 'no token for a wrong code', answer.text.slice(0, 200))
  })

oauth.check(
  'oauth.exchange.wrong-code',
  exchange,
  [
    'Exchange the code: POST {auth_url}/login/oauth/access_token with parameters client_id (required), client_secret (required), code (required), redirect_uri, state.',
  ],
  async (context) => {
    application(context)
    const answer = await ask(context, 'application/json')
    answer.must(answer.status < 500 && !answer.row().access_token, 'a refusal', answer.row())
  },
)

oauth.check(
  'oauth.exchange.wrong-secret',
  exchange,
  ['client_id (required), client_secret (required), code (required)'],
  async (context) => {
    application(context)
    const answer = await ask(context, 'application/json', { client_secret: context.workspace.run })
    answer.must(answer.status < 500 && !answer.row().access_token, 'a refusal', answer.row())
  },
)

oauth.check('oauth.implicit', authorize, ['The implicit grant is not supported.'], async (context) => {
  const answer = await page(context, {
    client_id: context.target.application?.client_id ?? context.workspace.run,
    response_type: 'token',
  })
  answer.must(
    !/access_token=/.test(`${answer.headers.get('location')}`),
    'no token in a redirect',
    answer.headers.get('location'),
  )
})

oauth.check(
  'oauth.review',
  authorize,
  ['Review link for users: {auth_url}/settings/connections/applications/<client_id>.'],
  async (context) => {
    const { client_id } = application(context)
    const answer = await context.anonymous.get(`${context.target.web}/settings/connections/applications/${client_id}`, {
      accept: 'text/html',
    })
    // A visitor without a session is sent to sign in; a missing page is 404.
    answer.is(200, 302, 303, 401)
  },
)
