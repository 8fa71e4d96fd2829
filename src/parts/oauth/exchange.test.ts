import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import type { Forge } from '#test/forge.ts'
import { ask, authorizePath, consent, openWeather, register, target } from '#test/oauth.ts'

const callback = 'https://weather.example/back'

async function open() {
  const weather = await openWeather()
  const { ada, client_id } = weather
  const code = (more: Record<string, string> = {}) => consent(ada, { client_id, scope: 'gist repo', ...more })
  return { ...weather, code }
}

function post(forge: Forge, init: { query?: string; body?: string; headers?: Record<string, string> }) {
  const { query = '', body = '', headers = {} } = init
  return fetch(`${forge.web}/login/oauth/access_token${query}`, { method: 'POST', headers, body: body || null })
}

test('the answer is a form, JSON or XML, as the client accepts', async () => {
  await using scene = await open()
  const { forge, app, code } = scene
  const given = async (accept?: string) => {
    const body = new URLSearchParams({ ...app, code: await code() }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(accept && { accept }) }
    const answer = await post(forge, { body, headers })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    return { type: answer.headers.get('content-type'), text: await answer.text() }
  }
  for (const accept of [undefined, '*/*', 'text/html', 'application/x-www-form-urlencoded']) {
    const { type, text } = await given(accept)
    assert.equal(type, 'application/x-www-form-urlencoded; charset=utf-8')
    assert.match(text, /^access_token=bfo_\w{36}&scope=gist%2Crepo&token_type=bearer$/)
  }
  for (const accept of ['application/json', 'application/vnd.github+json', 'text/html, application/JSON;q=0.9']) {
    const { type, text } = await given(accept)
    assert.equal(type, 'application/json; charset=utf-8')
    const { access_token, ...rest } = JSON.parse(text)
    assert.match(access_token, /^bfo_/)
    assert.deepEqual(rest, { scope: 'gist,repo', token_type: 'bearer' })
  }
  for (const accept of ['application/xml', 'text/xml']) {
    const { type, text } = await given(accept)
    assert.equal(type, 'application/xml; charset=utf-8')
    assert.match(
      text.replaceAll(/\s*\n\s*/g, ''),
      /<OAuth><token_type>bearer<\/token_type><scope>gist,repo<\/scope><access_token>bfo_/,
    )
  }
})

test('an error has the form of an answer, and succeeds like one', async () => {
  await using scene = await open()
  const { forge, app } = scene
  const body = new URLSearchParams({ ...app, code: 'wrong' }).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const uri = encodeURIComponent(`${forge.web}/docs`)
  const form = await post(forge, { body, headers: type })
  assert.equal(form.status, 200)
  const expected = `error=bad_verification_code&error_description=The+code+passed+is+incorrect+or+expired.&error_uri=${uri}`
  assert.equal(await form.text(), expected)
  const xml = await (await post(forge, { body, headers: { ...type, accept: 'application/xml' } })).text()
  assert.match(xml, /<OAuth>\s*<error>bad_verification_code<\/error>\s*<error_description>/)
})

test('what is no request at all is told so, in the same form', async () => {
  await using scene = await open()
  const { forge } = scene
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const answer = await post(forge, { body: 'x'.repeat(2_000_000), headers })
  assert.equal(answer.status, 413)
  assert.equal(((await answer.json()) as { error: string }).error, 'invalid_request')
})

test('addresses in other alphabets are gone to as browsers write them', async () => {
  await using scene = await open()
  const { forge, ada } = scene
  const { client_id, client_secret } = await register(forge, { callback_url: 'https://bücher.example/zurück' })
  for (const redirect_uri of ['https://bücher.example/zurück', 'https://xn--bcher-kva.example/zur%C3%BCck/日本']) {
    const path = authorizePath({ client_id, redirect_uri })
    const first = await ada.get(path)
    const to = target(first.status === 303 ? first : await ada.fill(path, { decision: 'authorize' }))
    assert.equal(`${to.origin}${to.pathname}`, new URL(redirect_uri).href)
    const code = to.searchParams.get('code') ?? ''
    assert.ok((await ask(forge, { client_id, client_secret, code, redirect_uri })).access_token)
  }
})

test('parameters come by form, address or JSON, and the client’s also by Basic', async () => {
  await using scene = await open()
  const { forge, app, client_id, code } = scene
  const accept = 'application/json'
  const authorization = `Basic ${btoa(`${client_id}:${app.client_secret}`)}`
  const json = 'application/json; charset=utf-8'
  const form = 'application/x-www-form-urlencoded'
  for (const init of [
    { query: `?${new URLSearchParams({ ...app, code: await code() })}` },
    { body: JSON.stringify({ ...app, code: await code(), redirect_uri: callback, state: 1 }), headers: { 'content-type': json } },
    {
      body: new URLSearchParams({ ...app, code: await code(), grant_type: 'authorization_code' }).toString(),
      headers: { 'content-type': form },
    },
    { body: `code=${await code()}`, headers: { 'content-type': form, authorization } },
    { body: `code=${await code()}&client_id=${client_id}`, headers: { 'content-type': form, authorization } },
    { query: `?code=${await code()}`, headers: { authorization: authorization.replace('Basic', 'basic') } },
  ]) {
    const answer = await post(forge, { ...init, headers: { accept, ...init.headers } })
    assert.match(((await answer.json()) as { access_token?: string }).access_token ?? '', /^bfo_/, JSON.stringify(init.headers))
  }
  for (const init of [
    {},
    { body: 'not json', headers: { 'content-type': json } },
    { body: 'null', headers: { 'content-type': json } },
    { query: `?code=${await code()}&client_id=${client_id}` },
    { query: `?code=${await code()}`, headers: { authorization: `Basic ${btoa(`${client_id}:wrong`)}` } },
    { query: `?code=${await code()}&client_id=00000000000000000000`, headers: { authorization } },
    { query: '?client_id=%00&client_secret=%00' },
  ]) {
    const answer = await post(forge, { ...init, headers: { accept, ...init.headers } })
    assert.deepEqual(await answer.json(), {
      error: 'incorrect_client_credentials',
      error_description: 'The client_id and/or client_secret passed are incorrect.',
      error_uri: `${forge.web}/docs`,
    })
  }
})

test('a code is good for ten minutes', async () => {
  await using scene = await open()
  const { forge, app, code } = scene
  const [early, late] = [await code(), await code()]
  forge.clock.advance(599_000)
  assert.ok((await ask(forge, { ...app, code: early })).access_token)
  forge.clock.advance(1000)
  assert.equal((await ask(forge, { ...app, code: late })).error, 'bad_verification_code')
})

test('a redirect that is named at the exchange is the one that was used', async () => {
  await using scene = await open()
  const { forge, app, code } = scene
  const deeper = `${callback}/deeper?x=1`
  const exchange = async (asked: Record<string, string>, redirect_uri: string) =>
    (await ask(forge, { ...app, code: await code(asked), redirect_uri })).error
  assert.equal(await exchange({}, callback), undefined)
  assert.equal(await exchange({ redirect_uri: deeper }, deeper), undefined)
  assert.equal(await exchange({ redirect_uri: deeper }, callback), 'redirect_uri_mismatch')
  assert.equal(await exchange({}, deeper), 'redirect_uri_mismatch')
  assert.equal(await exchange({}, 'https://evil.example'), 'redirect_uri_mismatch')
})

test('other grant types are not supported', async () => {
  await using scene = await open()
  const { forge, app, code } = scene
  for (const grant_type of ['refresh_token', 'password', 'client_credentials', '', 'implicit']) {
    assert.equal((await ask(forge, { ...app, code: await code(), grant_type })).error, 'unsupported_grant_type', grant_type)
  }
})

test('a challenge is S256 or refused, and then its verifier is needed', async () => {
  await using scene = await open()
  const { forge, app, ada, client_id, code } = scene
  const verifier = 'v'.repeat(43)
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  const pkce = { code_challenge, code_challenge_method: 'S256' }
  assert.ok((await ask(forge, { ...app, code: await code(pkce), code_verifier: verifier })).access_token)
  const kept = await code(pkce)
  for (const wrong of [{}, { code_verifier: '' }, { code_verifier: code_challenge }, { code_verifier: `${verifier}v` }]) {
    assert.equal((await ask(forge, { ...app, code: kept, ...wrong })).error, 'bad_verification_code')
  }
  // An attacker who begins without a challenge cannot slip the code to a client that sends its verifier.
  assert.equal((await ask(forge, { ...app, code: await code(), code_verifier: verifier })).error, 'bad_verification_code')
  assert.ok((await ask(forge, { ...app, code: kept, code_verifier: verifier })).access_token)
  for (const wrong of [
    { code_challenge: verifier, code_challenge_method: 'plain' },
    { code_challenge },
    { code_challenge_method: 'S256' },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge: '', code_challenge_method: 'S256' },
  ]) {
    const to = target(await ada.get(authorizePath({ client_id, state: 's', ...(wrong as Record<string, string>) })))
    assert.equal(`${to.origin}${to.pathname}`, callback)
    assert.deepEqual([to.searchParams.get('error'), to.searchParams.get('state')], ['invalid_request', 's'])
    assert.equal(to.searchParams.get('code'), null)
  }
})

test('a suspended account gets no token for a code it has', async () => {
  await using scene = await open()
  const { forge, app, code } = scene
  const pending = await code()
  await forge.belfry.db.query(sql`update accounts set suspended_at = ${forge.belfry.db.now} where login = 'ada'`)
  assert.equal((await ask(forge, { ...app, code: pending })).error, 'bad_verification_code')
})

test('a token that was just given works, also when its request began before those of ten others', async () => {
  await using scene = await open()
  const { forge, app, code } = scene
  for (let n = 0; n < 10; n++) await ask(forge, { ...app, code: await code() })
  const last = await code()
  // Transactions carry the time at which they began, and may have to wait for others.
  forge.clock.advance(-1000)
  const { access_token } = await ask(forge, { ...app, code: last })
  const answer = await fetch(`${forge.web}/api/v3/user`, { headers: { authorization: `Bearer ${access_token}` } })
  assert.equal(answer.status, 200)
})
