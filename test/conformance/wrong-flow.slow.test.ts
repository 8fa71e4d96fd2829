import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runConformance, startChecked } from './checked-server.ts'
import { type Fault, openWrongServer } from './wrong-server.ts'

let server: Awaited<ReturnType<typeof startChecked>>

const isAuthorization = (path: string) => path.startsWith('/login/oauth/authorize?')
const isExchange = (path: string) => path === '/login/oauth/access_token'

/** Changes the parameters of a request for authorization. */
const inRequest = (change: (query: URLSearchParams) => void): Fault => ({
  request: (request) => {
    if (!isAuthorization(request.path)) return
    const url = new URL(request.path, 'http://server')
    change(url.searchParams)
    request.path = `${url.pathname}?${url.searchParams}`
  },
})

/** Changes where the user is sent with a code. */
const inRedirect = (change: (to: URL, asked: URLSearchParams) => URL): Fault => ({
  answer: ({ status, headers }, { path }) => {
    const location = headers.get('location')
    if (isAuthorization(path) && status === 303 && location && !location.startsWith('/'))
      headers.set('location', change(new URL(location), new URL(path, 'http://server').searchParams).href)
  },
})

/** Changes a token's answer. */
const inToken = (change: (text: string) => string): Fault => ({
  answer(answer, { path }) {
    if (isExchange(path) && answer.text.includes('access_token')) answer.text = change(answer.text)
  },
})

function withoutState(to: URL) {
  to.searchParams.delete('state')
  return to
}

const answers = new Map<string, string>()
const redirects = ['host', 'path', 'port', 'sibling', 'subdomain'].map((rule) => `oauth.web.redirect.other-${rule}`)

/** A way of being wrong, what the check for it has in its id, and the checks that must find it. */
const faults: [name: string, only: string, fault: Fault, found: string[]][] = [
  ['a state that is lost', 'oauth.web.code', inRedirect(withoutState), ['oauth.web.code']],
  [
    'a redirect_uri that is ignored',
    'oauth.web.redirect',
    inRequest((query) => query.delete('redirect_uri')),
    ['oauth.web.redirect.given', 'oauth.web.redirect.localhost', ...redirects],
  ],
  [
    'a redirect to any address',
    'oauth.web.redirect',
    inRedirect((to, asked) => new URL(`${asked.get('redirect_uri') ?? to.origin + to.pathname}${to.search}`)),
    redirects,
  ],
  [
    'a token of another type',
    'oauth.web.exchange',
    inToken((text) => text.replace(/bearer/, 'mac')),
    ['oauth.web.exchange.form', 'oauth.web.exchange.json', 'oauth.web.exchange.xml'],
  ],
  [
    'a token that does not work',
    'oauth.web.exchange',
    inToken((text) => text.replace(/(bfo_)\w+/, '$1wrong')),
    ['oauth.web.exchange.form', 'oauth.web.exchange.json', 'oauth.web.exchange.xml'],
  ],
  [
    'an XML element of another name',
    'oauth.web.exchange',
    inToken((text) => text.replaceAll('OAuth>', 'Hash>')),
    ['oauth.web.exchange.xml'],
  ],
  [
    'scopes separated by spaces',
    'oauth.web.exchange',
    inToken((text) => text.replace(/gist,\s*/, 'gist ')),
    ['oauth.web.exchange.json', 'oauth.web.exchange.xml'],
  ],
  [
    'more scopes than were asked for',
    'oauth.web.scope',
    inRequest((query) => query.has('scope') && query.set('scope', `${query.get('scope')} repo`)),
    ['oauth.web.scope.union', 'oauth.web.scopes'],
  ],
  [
    'scopes without an authorization',
    'oauth.web.scope',
    inRequest((query) => query.has('scope') || query.set('scope', 'user')),
    ['oauth.web.scope.none', 'oauth.web.scope.union'],
  ],
  [
    'a code that works twice',
    'oauth.web.code.once',
    {
      answer: (answer, { path, body }) => {
        if (!isExchange(path)) return
        const code = new URLSearchParams(`${body}`).get('code') ?? ''
        if (answer.text.includes('access_token')) answers.set(code, answer.text)
        answer.text = answers.get(code) ?? answer.text
      },
    },
    ['oauth.web.code.once'],
  ],
  [
    'a token for a wrong secret',
    'oauth.web.exchange.refused',
    {
      request: (request) => {
        if (!isExchange(request.path)) return
        const fields = new URLSearchParams(`${request.body}`)
        fields.set('client_secret', `${server.secrets.BELFRY_CONFORMANCE_CLIENT_SECRET}`)
        request.body = Buffer.from(`${fields}`)
      },
    },
    ['oauth.web.exchange.refused'],
  ],
  [
    'a page that revokes nothing',
    'oauth.web.revoke',
    {
      request(request) {
        if (request.method === 'POST' && /\/settings\/connections\//.test(request.path)) request.method = 'GET'
      },
    },
    ['oauth.web.revoke'],
  ],
]

before(async () => {
  server = await startChecked(faults.length)
})
after(() => server.close())

for (const [index, [name, only, fault, found]] of faults.entries())
  test(`${name} is found`, async () => {
    await using wrong = await openWrongServer(server.url, fault)
    // A server may ask the user again after many tokens of one application, so each run has its own.
    const secrets = { ...server.secrets, BELFRY_CONFORMANCE_CLIENT_ID: `conformance-${index}` }
    const { report } = await runConformance([wrong.url, '--only', only], secrets)
    const failed = report.results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
    assert.deepEqual(failed.sort(), found)
    const shown = JSON.stringify(report)
    assert.doesNotMatch(shown, /bfo_\w{20}|belfry_session=\w/, 'the report has no token and no session')
  })

for (const [name, isRight] of [
  ['a code that expires after ten minutes passes', true],
  ['a code that lives longer is found', false],
] as const)
  test(name, async () => {
    await using own = await startChecked()
    let codes = 0
    let ahead = 0
    const fault: Fault = {
      async answer({ headers }, { path }) {
        headers.set('date', new Date(Date.now() + 1000 * ahead).toUTCString())
        const isCode = /[?&]code=/.test(headers.get('location') ?? '')
        if (isCode) codes++
        // The first code is used before it expires, the second one after that.
        const seconds = isCode && codes === 2 ? 590 : isExchange(path) ? 60 : 0
        ahead += seconds
        if (isRight && seconds > 0) await own.clock.advance({ seconds })
      },
    }
    await using wrong = await openWrongServer(own.url, fault)
    const { report } = await runConformance([wrong.url, '--only', 'oauth.web.code.expiry', '--slow'], own.secrets)
    assert.deepEqual(
      report.results.map(({ outcome, failure }) => failure?.got ?? outcome),
      [isRight ? 'passed' : 'a token'],
    )
  })
