import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

test('what is written in the profile is what the interface shows', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  const fields = { name: 'Ada <b>', bio: 'Notes', company: '', location: 'London', hireable: 'yes' }
  const saved = await ada.fillAndFollow('/settings/profile', fields)
  assert.match(saved.text, /role="status">.*Your profile is saved/)
  assert.match(saved.text, /value="Ada &lt;b&gt;"/)
  const { name, email, bio, company, location, hireable } = await api.read('/user')
  assert.deepEqual({ name, bio, company, location, hireable }, { ...fields, company: null, hireable: true })
  assert.equal(email, 'ada@example.com', 'addresses have a page of their own')
  assert.equal((await ada.fill('/settings/profile', { ...fields, name: 'nu\0ll' })).status, 303)
})

test('changing the password takes the present one, and ends the other sessions', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const [ada, other] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ada')]
  const change = (current: string, password: string) =>
    ada.fillAndFollow('/settings/security', { current, password }, '/settings/security/password')
  const wrong = await change('not it', 'a new password')
  assert.deepEqual([wrong.status, /role="alert">([^<]*)/.exec(wrong.text)?.[1]], [422, 'The current password is wrong.'])
  assert.equal((await change("ada's password", 'short')).status, 422)
  assert.equal((await other.get('/settings/profile')).status, 200)
  const changed = await change("ada's password", 'a new password')
  assert.match(changed.text, /Your password is changed/)
  assert.ok(!changed.text.includes('a new password'))
  assert.equal((await other.get('/settings/profile')).status, 303)
  assert.equal((await ada.get('/settings/profile')).status, 200)
  assert.equal((await new Guest(forge).signIn('ada')).status, 422)
  assert.equal((await new Guest(forge).signIn('ada', 'a new password')).status, 303)
})

test('guessing the present password is slowed too', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const thief = await signedIn(forge, 'ada')
  const change = (current: string) =>
    thief.fill('/settings/security', { current, password: 'a new password' }, '/settings/security/password')
  for (let count = 0; count < 10; count++) assert.equal((await change(`guess ${count}`)).status, 422)
  assert.equal((await change("ada's password")).status, 403)
})

test('sessions are listed with where they come from, and end one by one', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  await forge.person('eve')
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const phone = new Guest(forge, { 'user-agent': firefox, 'x-forwarded-for': '192.0.2.9' })
  const ada = new Guest(forge, { 'user-agent': '<curl>' })
  for (const guest of [phone, ada]) assert.equal((await guest.signIn('ada')).status, 303)
  const { text } = await ada.get('/settings/sessions')
  assert.match(text, /192\.0\.2\.9/)
  assert.match(text, /Firefox on Linux/)
  assert.match(text, /&lt;curl&gt;/)
  assert.match(text, /This browser<\/span><\/p>\s*<p>Network address <code>127\.0\.0\.1/)
  const id = /name="id" value="(\d+)"/.exec(text)?.[1] ?? ''
  const eve = await signedIn(forge, 'eve')
  assert.equal((await eve.fill('/settings/sessions', { id })).status, 404, 'not by someone else')
  assert.equal((await ada.fill('/settings/sessions', { id: 'x' })).status, 404)
  assert.equal((await phone.get('/settings/profile')).status, 200)
  assert.match((await ada.fillAndFollow('/settings/sessions', { id })).text, /That session has ended/)
  assert.equal((await phone.get('/settings/profile')).status, 303)
})

test('all other sessions end at once', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const others = [await signedIn(forge, 'ada'), await signedIn(forge, 'ada')]
  const ada = await signedIn(forge, 'ada')
  const { text } = await ada.fillAndFollow('/settings/sessions', {}, '/settings/sessions/others')
  assert.match(text, /All other sessions have ended/)
  assert.match(text, /1 session</)
  assert.ok(!text.includes('Sign out all others'))
  for (const other of others) assert.equal((await other.get('/settings/profile')).status, 303)
})
