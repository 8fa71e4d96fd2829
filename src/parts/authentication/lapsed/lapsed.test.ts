import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { type Forge, openForge } from '#test/forge.ts'
import { Guest, type Shown, signedIn } from '#test/guest.ts'

const path = '/ada/engine/issues/new'

/** ada at the form of a new issue, whose session has ended since. */
async function openScene() {
  const forge = await openForge()
  const api = await forge.person('ada')
  await api.owns('engine')
  const ada = await signedIn(forge, 'ada')
  await ada.get(path)
  await endSessions(forge)
  return { forge, api, ada, [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose]() }
}

const endSessions = (forge: Forge) => forge.belfry.db.query(sql`delete from sessions`)

const hidden = ({ text }: Shown, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''

const written = { title: 'It <halts>', body: 'First line\n\n"Second" & last' }

test('a form sent after its session ended leads to the sign-in page, and back to what was written', async () => {
  await using scene = await openScene()
  const { forge, api, ada } = scene
  const asked = await ada.post(path, written, { referer: `${forge.web}${path}` })
  assert.equal(asked.status, 403)
  assert.match(asked.text, /<h1>Sign in to Belfry<\/h1>[\s\S]*You were signed out/)
  assert.equal(hidden(asked, 'return_to'), path)
  const draft = hidden(asked, 'draft')
  const wrong = await ada.post('/login', { login: 'ada', password: 'wrong', draft })
  assert.equal(hidden(wrong, 'draft'), draft, 'also after a wrong password')
  const signed = await ada.post('/login', { login: 'ada', password: "ada's password", draft })
  assert.match(signed.location ?? '', /^\/login\/resume\/\w{30}$/)
  for (const _ of ['', 'reloaded']) {
    const page = await ada.get(signed.location ?? '')
    assert.equal(page.status, 200)
    assert.ok(page.text.includes('value="It &lt;halts&gt;"') && page.text.includes('First line\n\n&quot;Second&quot; &amp; last'))
    assert.match(page.text, new RegExp(`action="${path}"[\\s\\S]*href="${path}">Do not send it`))
  }
  assert.deepEqual(await api.read('/repos/ada/engine/issues'), [], 'nothing was sent by itself')
  assert.equal((await ada.post(path, written)).location, '/ada/engine/issues/1')
  assert.equal((await api.read('/repos/ada/engine/issues/1')).body, written.body)
  await forge.person('eve')
  const eve = await signedIn(forge, 'eve')
  assert.equal((await eve.get(signed.location ?? '')).status, 404, 'for its owner alone')
  forge.clock.advance(3600_000)
  assert.equal((await ada.get(signed.location ?? '')).status, 404, 'for an hour')
})

test('a form of an earlier session is shown again to who has signed in since', async () => {
  await using scene = await openScene()
  const { api, ada } = scene
  const { csrf } = ada
  await ada.signIn('ada')
  const shown = await ada.post(path, { ...written, csrf })
  assert.equal(shown.status, 403)
  assert.match(shown.text, /<h1>What you wrote<\/h1>/)
  assert.deepEqual(await api.read('/repos/ada/engine/issues'), [])
  assert.equal((await ada.post(path, written)).location, '/ada/engine/issues/1')
})

test('no form of another site is carried along', async () => {
  await using scene = await openScene()
  const { forge, ada } = scene
  for (const headers of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const refused = await ada.post(path, written, headers)
    assert.equal(refused.status, 403)
    assert.doesNotMatch(refused.text, /name="draft"|It &lt;halts/)
  }
  // Nor one that somebody else made: a link cannot bring it, and it opens on no other server.
  const own = hidden(await ada.post(path, written), 'draft')
  assert.equal(hidden(await new Guest(forge).get(`/login?draft=${own}`), 'draft'), '')
  const forged = await ada.fill('/login', { login: 'ada', password: "ada's password", draft: `${own.slice(0, -2)}AA` })
  assert.equal(forged.location, '/')
})

test('secrets are not carried, and what is too long is not either', async () => {
  await using scene = await openScene()
  const { forge, ada } = scene
  const hook = { url: 'https://ci.example/', secret: 'hush', content_type: 'json', events: ['push', 'issues'] }
  const carried = await ada.post('/ada/engine/settings/hooks/new', hook)
  const signed = await ada.post('/login', { login: 'ada', password: "ada's password", draft: hidden(carried, 'draft') })
  const page = await ada.get(signed.location ?? '')
  assert.ok(!page.text.includes('hush'))
  assert.match(page.text, /<input id="secret" name="secret" type="password"/)
  assert.equal(page.text.match(/name="events" value="(push|issues)"/g)?.length, 2)
  await endSessions(forge)
  const password = { current: "ada's password", password: 'a new password' }
  assert.equal((await ada.post('/settings/security/password', password)).location, '/login?return_to=%2F')
  const chosen = await ada.post(
    '/ada/engine/issues/1/subscription',
    { subscribe: 'no' },
    { referer: `${forge.web}/ada/engine/issues/1` },
  )
  assert.equal(chosen.location, '/login?return_to=%2Fada%2Fengine%2Fissues%2F1', 'nothing was written')
  const long = await ada.post(path, { ...written, body: 'x'.repeat(400_000) })
  assert.equal(long.status, 403)
  assert.match(long.text, /too long to be kept/)
  assert.equal(hidden(long, 'draft'), '')
})

test('what was written is also there after a one-time code', async () => {
  await using scene = await openScene()
  const { forge, ada } = scene
  const [user] = await forge.belfry.db.rows<{ id: number }>(sql`select id from accounts where login = 'ada'`)
  await forge.belfry.db.query(sql`
    insert into two_factor (user_id, kind, phone, enabled_at) values (${user?.id}, 'sms', '+4930123456', ${forge.clock.now()})`)
  const draft = hidden(await ada.post(path, written), 'draft')
  const half = await ada.post('/login', { login: 'ada', password: "ada's password", draft })
  const return_to = new URL(half.location ?? '', forge.web).searchParams.get('return_to') ?? ''
  assert.equal((await ada.get(return_to)).status, 303, 'not before the code')
  await ada.get(half.location ?? '')
  const otp = /^\d{6}/.exec(forge.texts.at(-1)?.text ?? '')?.[0] ?? ''
  assert.equal((await ada.post('/login/otp', { otp, return_to })).location, return_to)
  assert.match((await ada.get(return_to)).text, /It &lt;halts&gt;/)
})

test('sign-in pages that were open for too long are shown again', async () => {
  await using scene = await openScene()
  const { forge } = scene
  const late = { csrf: 'a'.repeat(128), login: 'ada', password: "ada's password", return_to: '/settings' }
  const again = await new Guest(forge).post('/login', late)
  assert.equal(again.status, 403)
  assert.match(again.text, /open for too long[\s\S]*value="ada"/)
  assert.equal(hidden(again, 'return_to'), '/settings')
  const signup = await new Guest(forge).post('/signup', { ...late, email: 'x@example.com' })
  assert.match(signup.text, /open for too long[\s\S]*value="x@example.com"/)
  assert.equal((await new Guest(forge).post('/logout', {})).location, '/')
})
