import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWeather, target } from '#test/oauth.ts'
import { npmVersion, requireClient, Story } from './story.ts'

const { AuthorizationCode } = requireClient('simple-oauth2')

test('a newcomer with simple-oauth2', async (t) => {
  await using weather = await openWeather()
  const { forge, app, ada } = weather
  const client = new AuthorizationCode({
    client: { id: app.client_id, secret: app.client_secret },
    auth: { tokenHost: forge.web, tokenPath: '/login/oauth/access_token', authorizePath: '/login/oauth/authorize' },
  })
  const redirect_uri = 'https://weather.example/back'
  const story = new Story(t, { client: '`simple-oauth2`', version: npmVersion('simple-oauth2') })

  await story.works('authorization code', async () => {
    const page = client.authorizeURL({ redirect_uri, scope: ['repo', 'user:email'], state: 'a state' })
    const back = target(await ada.fill(page, { decision: 'authorize' }))
    assert.equal(back.searchParams.get('state'), 'a state')
    const { token } = await client.getToken({ code: back.searchParams.get('code'), redirect_uri })
    assert.equal(token.token_type, 'bearer')
    assert.deepEqual(token.scope.split(','), ['repo', 'user:email'])
    const user = await forge.nobody.with({ authorization: `Bearer ${token.access_token}` }).read('/user')
    assert.equal(user.login, 'ada')
  })

  await story.works('an expired code', async () => {
    const { token } = await client.getToken({ code: 'wrong', redirect_uri })
    assert.equal(token.error, 'bad_verification_code')
  })
  await story.end()
})
