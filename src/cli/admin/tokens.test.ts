import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registerApp } from '#test/apps.ts'
import { Client, injecting, openForge, pick } from '#test/forge.ts'
import { ask, consent, signIn } from '#test/oauth.ts'
import { operatorOf } from '#test/operator.ts'

const inject = injecting(openForge)

test('an operator creates a token for a user, lists and revokes it', inject(async (forge) => {
  const operator = operatorOf(forge)
  await forge.person('ada')
  const { id, token, scopes } = await operator.data('tokens', 'create', 'ada', '--scopes', 'repo,gist', '--note', 'For CI')
  assert.deepEqual(scopes, ['gist', 'repo'])
  const client = new Client(forge.nobody.base, { authorization: `Bearer ${token}` })
  assert.equal((await client.read('/user')).login, 'ada')
  const [latest] = await operator.data('tokens', 'list', 'ada')
  assert.partialDeepStrictEqual(latest, { id, login: 'ada', note: 'For CI', kind: 'classic', last_eight: token.slice(-8) })
  assert.ok(!(await operator.text('tokens', 'list')).includes(token))
  assert.equal(await operator.text('tokens', 'revoke', `${id}`), `Revoked token ${id} of ada.`)
  forge.clock.advance(1000)
  assert.equal((await client.get('/user')).status, 401)
  assert.equal((await operator.run('tokens', 'revoke', `${id}`)).stderr, `There is no token ${id}.`)
  const audit = pick(await operator.data('audit', '--limit', '2'), 'action', 'subject')
  assert.deepEqual(audit, [
    ['token.revoke', `ada token ${id}`],
    ['user.impersonate', 'ada'],
  ])
}))

test('all tokens of a user are revoked together', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  const ben = await forge.person('ben')
  await operator.data('tokens', 'create', 'ada', '--scopes', 'all')
  const { client_id, client_secret } = await registerApp(ben, { callback_urls: ['https://helper.example/back'] })
  const code = await consent(await signIn(forge, 'ben'), { client_id })
  const { refresh_token } = await ask(forge, { client_id, client_secret, code })
  assert.deepEqual(await operator.data('tokens', 'revoke', '--user', 'ada'), { login: 'ada', revoked: 2 })
  forge.clock.advance(1000)
  assert.equal((await ada.get('/user')).status, 401)
  assert.equal((await ben.get('/user')).status, 200)
  assert.ok((await ask(forge, { client_id, client_secret, grant_type: 'refresh_token', refresh_token })).access_token)
  assert.match((await operator.run('tokens', 'create', 'ada', '--scopes', 'odd')).stderr, /there is no scope odd/)
  for (const given of [[], ['1', '--user', 'ada']])
    assert.match((await operator.run('tokens', 'revoke', ...given)).stderr, /^Give either the id of a token or --user/)
}))
