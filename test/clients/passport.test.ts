import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { register, signIn, target } from '#test/oauth.ts'
import { npmVersion, requireClient, Story } from './story.ts'

const { Passport } = requireClient('passport')
const { Strategy } = requireClient('passport-github2')

interface Profile {
  username: string
  displayName: string | null
  profileUrl: string
  emails: { value: string }[]
}

/** A site whose visitors sign in with Belfry: `/login` sends them there, `/back` shows who came back. */
async function openSite() {
  const session = {}
  let authenticate: (request: object, response: ServerResponse, next: (error: unknown) => void) => void
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const query = Object.fromEntries(new URL(request.url ?? '', 'http://site').searchParams)
    const show = (error?: unknown) => {
      const { user } = request as { user?: Profile }
      response.statusCode = error ? 500 : 200
      response.end(JSON.stringify(error ? `${error}` : user))
    }
    authenticate(Object.assign(request, { query, session }), response, show)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use(options: object) {
      const passport = new Passport()
      const accept = (_token: string, _refresh: string, profile: Profile, done: (error: null, user: Profile) => void) =>
        done(null, profile)
      passport.use(new Strategy(options, accept))
      authenticate = passport.authenticate('github', { session: false })
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

test('a newcomer with passport-github2', async (t) => {
  await using forge = await openForge()
  await using site = await openSite()
  await forge.person('ada')
  const callbackURL = `${site.url}/back`
  const { client_id: clientID, client_secret: clientSecret } = await register(forge, { callback_url: callbackURL })
  site.use({
    clientID,
    clientSecret,
    callbackURL,
    scope: ['user:email'],
    state: true,
    authorizationURL: `${forge.web}/login/oauth/authorize`,
    tokenURL: `${forge.web}/login/oauth/access_token`,
    userProfileURL: `${forge.web}/api/v3/user`,
    userEmailURL: `${forge.web}/api/v3/user/emails`,
  })
  const ada = await signIn(forge, 'ada')
  const leave = async () => {
    const { headers } = await ada.get(`${site.url}/login`)
    return headers.get('location') ?? ''
  }
  const story = new Story(t, { client: '`passport-github2`', version: npmVersion('passport-github2') })

  await story.works('sign-in with the verified email address', async () => {
    const back = target(await ada.fill(await leave(), { decision: 'authorize' })).href
    const user: Profile = JSON.parse(await (await ada.get(back)).text())
    assert.equal(user.username, 'ada')
    assert.deepEqual(user.emails, [{ value: 'ada@example.com' }])
    assert.equal(user.profileUrl, `${forge.web}/ada`)
  })

  await story.works('sign-in again without a question', async () => {
    const back = target(await ada.get(await leave())).href
    assert.equal(JSON.parse(await (await ada.get(back)).text()).username, 'ada')
  })

  await story.works('refusal', async () => {
    const page = new URL(await leave())
    page.searchParams.set('scope', 'repo')
    const back = target(await ada.fill(page.href, { decision: 'deny' }))
    assert.equal(back.searchParams.get('error'), 'access_denied')
    assert.equal((await ada.get(back.href)).status, 401)
  })
  await story.end()
})
