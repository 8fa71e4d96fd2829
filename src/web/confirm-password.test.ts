import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Forge, openForge } from '#test/forge.ts'
import { type Guest, type Shown, signedIn } from '#test/guest.ts'

const hour = 3600_000
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

/** What makes a credential on a page: where, with which fields, and what shows that it was made. */
const makers: [path: string, fields: Record<string, string | string[]>, made: RegExp][] = [
  ['/settings/tokens', { note: 'a "token"', days: '7', scopes: ['gist', 'user'] }, /bfp_\w{36}/],
  ['/settings/tokens/fine-grained', { note: 'fine', reach: 'all', 'permission:contents': 'read' }, /bff_\w{36}/],
  ['/settings/feeds', { name: 'reader' }, /token=/],
  ['/settings/developers', { name: 'App', url: 'https://a.example', callback_url: 'https://a.example/cb' }, /[\da-f]{40}/],
  ['/settings/keys', { title: 'laptop', key }, /<strong>laptop</],
]

const asks = ({ status, text }: Shown) => status === 403 && text.includes('name="confirm_password"')

/** The hidden fields of the page that asks, as its form sends them. */
function carried({ text }: Shown) {
  const fields: Record<string, string[]> = {}
  for (const [, name = '', value = ''] of text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)) {
    if (name !== 'csrf') fields[name] = [...(fields[name] ?? []), value.replaceAll('&quot;', '"').replaceAll('&#39;', "'")]
  }
  return fields
}

/** Signed in, and an hour later. */
async function openLater(): Promise<{ forge: Forge; ada: Guest } & AsyncDisposable> {
  const forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  forge.clock.advance(hour + 1)
  return { forge, ada, [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose]() }
}

test('within an hour of signing in, credentials are made without asking', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  forge.clock.advance(hour - 1)
  for (const [path, fields, made] of makers) assert.match((await ada.fillAndFollow(path, fields)).text, made, path)
})

test('after an hour, whatever makes a credential asks for the password, and then goes on with what was typed', async () => {
  await using scene = await openLater()
  const { forge, ada } = scene
  for (const [path, fields, made] of makers) {
    const asked = await ada.fill(path, fields)
    assert.ok(asks(asked), path)
    assert.deepEqual(Object.keys(carried(asked)).sort(), Object.keys(fields).sort())
    const wrong = await ada.post(path, { ...carried(asked), confirm_password: 'not it' })
    assert.ok(asks(wrong) && wrong.text.includes('The password is wrong.'))
    const done = await ada.postAndFollow(path, { ...carried(wrong), confirm_password: "ada's password" })
    assert.match(done.text, made, path)
    forge.clock.advance(hour + 1)
  }
  const page = (await ada.get('/settings/tokens')).text
  assert.ok(page.includes('a &quot;token&quot;') && page.includes('gist, user'))
})

test('a password that was given counts for an hour, in this session only', async () => {
  await using scene = await openLater()
  const { forge, ada } = scene
  const other = await signedIn(forge, 'ada')
  forge.clock.advance(hour + 1)
  assert.ok(asks(await ada.fill('/settings/feeds', { name: 'one' })))
  assert.match((await ada.postAndFollow('/settings/feeds', { name: 'one', confirm_password: "ada's password" })).text, /token=/)
  forge.clock.advance(hour - 1)
  assert.match((await ada.fillAndFollow('/settings/feeds', { name: 'two' })).text, /token=/)
  assert.ok(asks(await other.fill('/settings/feeds', { name: 'three' })))
  forge.clock.advance(2)
  assert.ok(asks(await ada.fill('/settings/feeds', { name: 'four' })))
})

test('guessing at it is limited as at sign-in', async () => {
  await using scene = await openLater()
  const { ada } = scene
  await ada.get('/settings/feeds')
  const guess = (confirm_password: string) => ada.post('/settings/feeds', { name: 'x', confirm_password })
  await Promise.all(Array.from({ length: 20 }, () => guess('wrong')))
  const refused = await guess("ada's password")
  assert.ok(asks(refused) && refused.text.includes('Maximum number of login attempts exceeded'))
})

test('a new secret of an application, and a second factor, ask too', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  const { text } = await ada.fillAndFollow('/settings/developers', {
    name: 'App',
    url: 'https://a.example',
    callback_url: 'https://a.example/cb',
  })
  const client_id = /Client id: <code>(\w+)</.exec(text)?.[1] ?? ''
  forge.clock.advance(hour + 1)
  assert.ok(asks(await ada.fill(`/settings/developers/${client_id}`, {}, `/settings/developers/${client_id}/secret`)))
  for (const path of ['/settings/security/app', '/settings/security/text']) {
    const asked = await ada.get(path)
    assert.ok(asks(asked), path)
    assert.ok(!asked.text.includes('class="seed"'))
    assert.ok(asks(await ada.post(path, { proposal: 'x', otp: '000000' })))
  }
  const on = await ada.post('/settings/confirm', { return_to: '/settings/security/app', confirm_password: "ada's password" })
  assert.equal(on.location, '/settings/security/app')
  assert.match((await ada.get('/settings/security/app')).text, /class="seed"/)
})

test('without the password in the last hour, a code alone does not turn the second factor off', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  const { text } = await ada.get('/settings/security/app')
  const proposal = /name="proposal" value="([\w-]+)"/.exec(text)?.[1] ?? ''
  const { Secret, TOTP } = await import('otpauth')
  const seed = (/class="seed">([^<]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '')
  const otp = () => new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: forge.clock.now().getTime() })
  assert.equal((await ada.post('/settings/security/app', { proposal, otp: otp() })).status, 303)
  const change = (fields: Record<string, string>) =>
    ada.fillAndFollow('/settings/security', { action: 'off', ...fields }, '/settings/security/two-factor')
  forge.clock.advance(hour + 1)
  const refused = await change({ otp: otp() })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /role="alert">Give your password: it was not asked for within the last hour\./)
  assert.match((await change({ password: "ada's password", action: 'recovery' })).text, /Recovery codes/)
  forge.clock.advance(60_000)
  assert.match((await change({ otp: otp() })).text, /It is turned off/)
})
