import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text as read } from 'node:stream/consumers'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { ask, authorizePath, consent, openWeather, register, signIn, target } from '#test/oauth.ts'

const callback = 'https://weather.example/back'

async function open() {
  const weather = await openWeather()
  const works = async (token: string) =>
    (await weather.forge.nobody.with({ authorization: `Bearer ${token}` }).get('/user')).status === 200
  return { ...weather, works }
}

test('a code presented twice gives nothing, and ends what it gave; others go on', async () => {
  await using scene = await open()
  const { forge, app, ada, client_id, works } = scene
  const other = (await ask(forge, { ...app, code: await consent(ada, { client_id }) })).access_token
  const code = await consent(ada, { client_id })
  const { access_token } = await ask(forge, { ...app, code })
  assert.equal(await works(access_token), true)
  assert.equal((await ask(forge, { ...app, code })).error, 'bad_verification_code')
  assert.equal(await works(access_token), false)
  assert.equal(await works(other), true)
  const late = await consent(ada, { client_id })
  const kept = (await ask(forge, { ...app, code: late })).access_token
  forge.clock.advance(3 * 3600_000)
  await consent(ada, { client_id })
  await ask(forge, { ...app, code: late })
  assert.equal(await works(kept), false, 'also long after the code was forgotten')
})

test('a code presented by many at once gives one token, which does not survive it', async () => {
  await using scene = await open()
  const { forge, app, ada, client_id, works } = scene
  const code = await consent(ada, { client_id })
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(forge, { ...app, code })))
  const tokens = answers.flatMap((answer) => answer.access_token ?? [])
  assert.equal(tokens.length, 1)
  assert.equal(await works(tokens[0]), false)
})

test('a code of another client is no code, and stays good for its own', async () => {
  await using scene = await open()
  const { forge, app, ada, client_id, works } = scene
  const evil = await register(forge, { name: 'Evil', callback_url: 'https://evil.example/back' })
  const code = await consent(ada, { client_id })
  assert.equal((await ask(forge, { ...evil, code })).error, 'bad_verification_code')
  assert.equal((await ask(forge, { ...evil, client_id, code })).error, 'incorrect_client_credentials')
  const { access_token } = await ask(forge, { ...app, code })
  assert.equal((await ask(forge, { ...evil, code })).error, 'bad_verification_code')
  assert.equal(await works(access_token), true, 'another client’s replay ends nothing')
})

test('nothing is sent to an address that was not registered', async () => {
  await using scene = await open()
  const { forge, ada, client_id } = scene
  for (const redirect_uri of [
    'https://evil.example/back',
    `${callback}/../x`,
    'https://weather.example@evil.example/back',
    '',
    '//evil.example',
  ]) {
    const path = authorizePath({ client_id, redirect_uri, state: 'kept' })
    const stranger = await fetch(`${forge.web}${path}`, { redirect: 'manual' })
    assert.equal(stranger.status, 400, 'whoever is not signed in is sent nowhere')
    assert.match(await stranger.text(), /role="alert">The redirect_uri MUST match the registered callback URL/)
    const to = target(await ada.get(path))
    assert.equal(`${to.origin}${to.pathname}`, callback, redirect_uri)
    const { error, error_description, state, code } = Object.fromEntries(to.searchParams)
    assert.deepEqual([error, state, code], ['redirect_uri_mismatch', 'kept', undefined])
    assert.equal(error_description, 'The redirect_uri MUST match the registered callback URL for this application.')
  }
  const twice = await ada.get(`${authorizePath({ client_id, redirect_uri: callback })}&redirect_uri=https://evil.example`)
  assert.equal(twice.status, 400)
  for (const unknown of ['', '0'.repeat(20), '%00', 'x'.repeat(300)]) {
    const answer = await ada.get(`/login/oauth/authorize?client_id=${unknown}&redirect_uri=https://evil.example`)
    assert.equal(answer.status, 404)
    assert.equal(answer.headers.get('location'), null)
  }
})

test('there is no implicit grant', async () => {
  await using scene = await open()
  const { ada, client_id } = scene
  await consent(ada, { client_id })
  for (const response_type of ['token', 'code token', 'id_token', 'none', '']) {
    const answer = await ada.get(authorizePath({ client_id, response_type }))
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.get('location'), null)
  }
  assert.equal((await ada.get(authorizePath({ client_id, response_type: 'code' }))).status, 303)
})

test('a state comes back as it was, whatever is in it, by every way', async () => {
  await using scene = await open()
  const { ada, client_id } = scene
  const states = [
    'a+b c&d=e',
    'q?r?s',
    '%41%',
    'ünïcödé 日本 🔔',
    '"><script>',
    "'; drop",
    'x\r\nSet-Cookie: evil=1',
    'line\nbreak\ttab',
    '\0',
    '',
    '#frag',
    '\\',
    'x'.repeat(4000),
  ]
  for (const decision of ['deny', 'authorize', 'skip']) {
    for (const state of states) {
      const path = authorizePath({ client_id, state })
      if (decision === 'authorize') assert.ok(!(await (await ada.get(path)).text()).includes('<script>'))
      const answer =
        decision === 'skip'
          ? await ada.get(path)
          : await ada.fill(path, { decision }, authorizePath({ client_id, scope: 'user' }))
      const to = target(answer)
      assert.equal(to.searchParams.get('state'), state, `${decision} ${JSON.stringify(state)}`)
      assert.equal(`${to.origin}${to.pathname}`, callback)
      assert.equal(answer.headers.get('set-cookie'), null)
    }
  }
  const none = target(await ada.get(authorizePath({ client_id })))
  assert.deepEqual([...none.searchParams.keys()], ['code'], 'no state, none invented')
  const raw = target(await ada.get(`/login/oauth/authorize?client_id=${client_id}&state=a?b/c:d`))
  assert.equal(raw.searchParams.get('state'), 'a?b/c:d')
})

test('a line break in a raw request is no header', async () => {
  await using scene = await open()
  const { forge, ada, client_id } = scene
  await consent(ada, { client_id })
  const { hostname, port } = new URL(forge.web)
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET ${authorizePath({ client_id })}&state=a%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: x\r\nCookie: ${ada.cookie}\r\nConnection: close\r\n\r\n`,
  )
  const text = await read(socket)
  assert.match(text, /^HTTP\/1\.1 303/)
  assert.doesNotMatch(text, /^x-evil/im)
  assert.match(text, /state=a%0D%0AX-Evil/i)
})

test('nobody consents by a form of another site', async () => {
  await using scene = await open()
  const { forge, ada, client_id } = scene
  await forge.person('eve')
  const path = authorizePath({ client_id, scope: 'repo' })
  const eves = /name="csrf" value="(\w+)"/.exec(await (await (await signIn(forge, 'eve')).get(path)).text())?.[1] ?? ''
  const own = /name="csrf" value="(\w+)"/.exec(await (await ada.get(path)).text())?.[1] ?? ''
  assert.ok(eves && own && eves !== own)
  for (const [csrf, headers] of [
    [undefined, {}],
    ['', {}],
    [eves, {}],
    [own, { origin: 'https://evil.example' }],
  ] as const) {
    const answer = await ada.post(path, { decision: 'authorize', ...(csrf !== undefined && { csrf }) }, headers)
    assert.equal(answer.status, 403)
    assert.equal(answer.headers.get('location'), null)
  }
  assert.equal((await ada.get(path)).status, 200, 'nothing was allowed')
  const frame = await ada.get(path)
  assert.match(frame.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
})

test('a union has what this person gave this application, and nothing more', async () => {
  await using scene = await open()
  const { forge, app, ada, client_id } = scene
  await forge.person('eve')
  const other = await register(forge, { name: 'Other' })
  const eve = await signIn(forge, 'eve')
  await consent(ada, { client_id: other.client_id, scope: 'admin:org' })
  await consent(eve, { client_id, scope: 'delete_repo' })
  const code = await consent(ada, { client_id, scope: 'gist' })
  assert.equal((await ask(forge, { ...app, code, scope: 'repo delete_repo' })).scope, 'gist', 'the exchange widens nothing')
  assert.equal(
    (await ada.get(authorizePath({ client_id, scope: 'gist delete_repo' }))).status,
    200,
    'another’s consent is not theirs',
  )
  const denied = await ada.fill(authorizePath({ client_id, scope: 'repo' }), { decision: 'deny' })
  assert.equal(target(denied).searchParams.get('error'), 'access_denied')
  assert.equal((await ask(forge, { ...app, code: await consent(ada, { client_id }) })).scope, 'gist', 'nor does a refusal')
  await ada.fill(`/settings/connections/applications/${client_id}`, {})
  assert.equal(
    (await ask(forge, { ...app, code: await consent(ada, { client_id }) })).scope,
    '',
    'what was revoked does not come back',
  )
  await consent(ada, { client_id, scope: 'public_repo' })
  assert.equal((await ada.get(authorizePath({ client_id, scope: 'repo' }))).status, 200, 'a child does not stand for its parent')
})

test('no secret is logged', async () => {
  await using scene = await open()
  const { forge, app, ada, client_id } = scene
  const code = await consent(ada, { client_id, state: 'x' })
  const query = new URLSearchParams({ ...app, code })
  const answer = await fetch(`${forge.web}/login/oauth/access_token?${query}`, {
    method: 'POST',
    headers: { accept: 'application/json' },
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  await ask(forge, { ...app, code: await consent(ada, { client_id }) })
  const log = forge.logged.join('')
  assert.ok(log.includes('/login/oauth/access_token'))
  for (const secret of [app.client_secret, code, access_token]) assert.ok(!log.includes(secret))
})

test('what a client sends makes no line of its own in the log', async () => {
  await using forge = await openForge()
  const forged = '\n{"level":60,"msg":"forged"}'
  const basic = `Basic ${Buffer.from(`ada${forged}:wrong${forged}`).toString('base64')}`
  await forge.nobody.with({ authorization: basic }).get(`/users/${encodeURIComponent(forged)}?x=${encodeURIComponent(forged)}`)
  await fetch(`${forge.web}/login?login=${encodeURIComponent(forged)}&return_to=${encodeURIComponent(`/${forged}`)}`)
  assert.ok(forge.logged.length >= 2)
  for (const line of forge.logged) {
    assert.equal(line.indexOf('\n'), line.length - 1)
    assert.notEqual(JSON.parse(line).msg, 'forged')
  }
})
