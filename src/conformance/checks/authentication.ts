import { Skip } from '../answer.ts'
import { Part } from '../check.ts'
import { basic } from '../client.ts'
import { user } from '../resources.ts'

export const authentication = new Part('Authentication')

const self = 'GET /user'
const authorizations = 'POST /authorizations'

for (const scheme of ['token', 'Bearer'] as const)
  authentication.check(
    `authentication.${scheme.toLowerCase()}`,
    self,
    [
      scheme === 'token'
        ? 'Authorization: token <ACCESS_TOKEN> on the self-hosted variant'
        : 'Authorization: Bearer <ACCESS_TOKEN> on the versioned variant',
      'Call the API with the token, for example GET /user.',
      'Personal access tokens: count as OAuth tokens.',
    ],
    async ({ anonymous, target }) => {
      const answer = (await anonymous.get('/user', { authorization: `${scheme} ${target.token}` })).is(200).matches(user)
      answer.equals('login', answer.row().login, target.login)
    },
    { variant: scheme === 'token' ? 'self-hosted' : 'versioned' },
  )

authentication.check(
  'authentication.basic.token',
  self,
  ['Basic authentication with username and password, or with username and a token as the password.'],
  async ({ anonymous, target }) => (await anonymous.get('/user', basic(target.login, target.token))).is(200),
)

authentication.check(
  'authentication.basic.password',
  self,
  ['Basic authentication with username and password, or with username and a token as the password.'],
  async ({ withPassword, target }) => {
    const answer = await withPassword().get('/user')
    // A one-time code is asked for at this endpoint only.
    if (answer.status === 401 && (await withPassword().get('/authorizations')).headers.has('x-service-otp'))
      throw new Skip('The user of --token has two-factor authentication, so a password is not enough.')
    answer.is(200).equals('login', answer.row().login, target.login)
  },
)

authentication.check('authentication.anonymous', self, ['authentication required.'], async ({ anonymous }) =>
  (await anonymous.get('/user')).is(401),
)

authentication.check('authentication.wrong-token', self, ['authentication required.'], async ({ anonymous }) =>
  (await anonymous.get('/user', { authorization: 'Bearer no-such-token' })).is(401),
)

const hidden: [id: string, operation: string, rest: string][] = [
  ['events', 'GET /repos/{owner}/{repo}/events', '/events'],
  ['stargazers', 'GET /repos/{owner}/{repo}/stargazers', '/stargazers'],
  ['subscribers', 'GET /repos/{owner}/{repo}/subscribers', '/subscribers'],
  ['subscription', 'GET /repos/{owner}/{repo}/subscription', '/subscription'],
  ['notifications', 'GET /repos/{owner}/{repo}/notifications', '/notifications'],
  ['hooks', 'GET /repos/{owner}/{repo}/hooks', '/hooks'],
]
const leak = 'Unauthenticated or failed requests that would leak the existence of data get 404, not 401.'
for (const [id, operation, rest] of hidden) {
  authentication.check(
    `authentication.private.${id}`,
    operation,
    [leak, 'Also used instead of 401 by Basic authentication for requests that would expose private data.'],
    async ({ anonymous, workspace }) => (await anonymous.get(`${(await workspace.privateRepo()).path}${rest}`)).is(404),
  )
  authentication.check(`authentication.private.${id}.other-user`, operation, [leak], async ({ other, workspace }) => {
    const caller = other()
    ;(await caller.get(`${(await workspace.privateRepo()).path}${rest}`)).is(404)
  })
}

authentication.check(
  'authorizations.create',
  authorizations,
  [
    'A client creates a token with Basic authentication. POST /authorizations takes a JSON body with scopes (array of strings) and note (string).',
    'Username and password are needed only to create OAuth tokens or to call the authorizations endpoint.',
  ],
  async ({ withPassword, anonymous, target, workspace }) => {
    const caller = withPassword()
    const answer = (await caller.post('/authorizations', { scopes: ['notifications'], note: workspace.name('token') })).is(201)
    const { id, token } = answer.row()
    workspace.deleteLater(`authorization ${id}`, `/authorizations/${id}`, basic(target.login, target.password ?? ''))
    answer.must(typeof token === 'string' && token !== '', 'a token', answer.row())
    ;(await anonymous.get('/notifications', { authorization: `Bearer ${token}` })).is(200)
  },
)

/** Operations that a token without scopes may not use. */
for (const [id, method, operation, words] of [
  ['notifications', 'GET', 'GET /notifications', 'Notification endpoints need the notifications or repo scope.'],
  ['mark', 'PUT', 'PUT /notifications', 'Notification endpoints need the notifications or repo scope.'],
] as const)
  authentication.check(
    `scopes.${id}`,
    operation,
    [words, '403 | forbidden', 'Scopes: repo, public_repo, gist, user, notifications, read:repo_hook, write:repo_hook.'],
    async ({ withPassword, anonymous, target, workspace }) => {
      const made = (await withPassword().post('/authorizations', { scopes: ['gist'], note: workspace.name('token') }))
        .is(201)
        .row()
      workspace.deleteLater(`authorization ${made.id}`, `/authorizations/${made.id}`, basic(target.login, target.password ?? ''))
      const path = operation.slice(operation.indexOf('/'))
      ;(await anonymous.send(method, path, { headers: { authorization: `Bearer ${made.token}` } })).is(403)
    },
  )

authentication.check(
  'scopes.hooks',
  'GET /repos/{owner}/{repo}/hooks/{hook_id}/config',
  ['Webhook configuration endpoints need read:repo_hook or repo (read) and write:repo_hook or repo (write).'],
  async ({ withPassword, anonymous, target, workspace }) => {
    const caller = withPassword()
    const { path } = await workspace.hook()
    const tokenOf = async (scope: string) => {
      const made = (await caller.post('/authorizations', { scopes: [scope], note: workspace.name('token') })).is(201).row()
      workspace.deleteLater(`authorization ${made.id}`, `/authorizations/${made.id}`, basic(target.login, target.password ?? ''))
      return { authorization: `Bearer ${made.token}` }
    }
    const [reads, other] = [await tokenOf('read:repo_hook'), await tokenOf('gist')]
    ;(await anonymous.get(`${path}/config`, reads)).is(200)
    ;(await anonymous.send('PATCH', `${path}/config`, { headers: reads, body: { content_type: 'json' } })).is(403, 404)
    ;(await anonymous.get(`${path}/config`, other)).is(403, 404)
  },
)

authentication.check(
  'authorizations.token',
  authorizations,
  ['Username and password are needed only to create OAuth tokens or to call the authorizations endpoint.'],
  async ({ me, workspace }) =>
    (await me.post('/authorizations', { scopes: [], note: workspace.name('token') })).is(401, 403, 404),
)

authentication.check(
  'authorizations.anonymous',
  authorizations,
  ['On the authorizations endpoint it also signals that a one-time code is required, via the X-Service-OTP header.'],
  async ({ anonymous, workspace }) =>
    (await anonymous.post('/authorizations', { scopes: [], note: workspace.name('token') })).is(401, 404),
)

authentication.check(
  'versions.header',
  self,
  ['The versioned variant takes the request header X-Service-Api-Version; the value that appears is a date, 2026-03-10.'],
  async ({ me }) => (await me.get('/user', { 'x-service-api-version': '2026-03-10' })).is(200),
  { variant: 'versioned' },
)

authentication.check(
  'versions.media-type',
  self,
  ['The accept value application/vnd.service+json is recommended there.'],
  async ({ me }) => (await me.get('/user', { accept: 'application/vnd.service+json' })).is(200),
  { variant: 'versioned' },
)

authentication.check(
  'versions.prefix',
  self,
  [
    'The self-hosted variant uses the path prefix /api/v3 and the media type application/vnd.service.v3+json.',
    'On the self-hosted variant it ends with the prefix /api/v3.',
  ],
  async ({ me, target }) => {
    const answer = (await me.get('/user', { accept: 'application/vnd.service.v3+json' })).is(200)
    answer.must(`${answer.row().url}`.startsWith(`${target.base}/`), `links below ${target.base}`, answer.row().url)
  },
  { variant: 'self-hosted' },
)

authentication.check(
  'bodies.json',
  self,
  ['Bodies are JSON unless stated. Timestamps are ISO 8601 strings in UTC.'],
  async ({ me }) => {
    const answer = (await me.get('/user')).is(200)
    answer.header('content-type', /^application\/json/)
    answer.matches(user)
  },
)
