import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, linesOf, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const path = '/settings/emails'
const shown = (text: string) =>
  [...text.matchAll(/<strong>([^<]+@[^<]+)<\/strong>((?:<span class="badge[^>]*>[^<]+<\/span>)+)/g)].map(
    ([, email, badges = '']) => `${email}: ${[...badges.matchAll(/>([^<]+)<\/span>/g)].map(([, word]) => word).join(', ')}`,
  )

async function open() {
  const forge = await openForge()
  const api = await forge.person('ada')
  return Object.assign(forge, { api, ada: await signedIn(forge, 'ada') })
}

test('addresses are listed, added and removed', async () => {
  await using opened = await open()
  const { ada, api } = opened
  assert.deepEqual(shown((await ada.get(path)).text), ['ada@example.com: Primary, Verified, Private'])
  const added = await ada.fillAndFollow(path, { email: ' Ada@work.example ' })
  assert.match(added.text, /Ada@work\.example is added/)
  assert.deepEqual(shown(added.text), ['ada@example.com: Primary, Verified, Private', 'Ada@work.example: Not verified, Private'])
  for (const [email, message] of [
    ['"><img src=x>', /Email must be an e-mail address/],
    ['ada@WORK.example', /Email is already listed/],
    ['nu\0ll', /Email must be/],
  ] as const) {
    const refused = await ada.fill(path, { email })
    assert.equal(refused.status, 422)
    assert.match(refused.text, message)
    assert.ok(!refused.text.includes('<img src=x>'))
  }
  assert.match((await ada.fill(path, { email: 'not@here' + '\t' + 'x' })).text, /value="not@here\tx"/)
  const removed = await ada.fillAndFollow(path, { email: 'ada@work.example' }, `${path}/delete`)
  assert.match(removed.text, /ada@work\.example is removed/)
  assert.equal((await ada.fill(path, { email: 'ada@example.com' }, `${path}/delete`)).status, 422, 'the primary one stays')
  assert.equal((await ada.fill(path, { email: 'x@y.z' }, `${path}/delete`)).status, 404)
  assert.deepEqual(linesOf(await api.read('/user/emails'), 'email'), ['ada@example.com'])
})

test('another address becomes the primary one, private and unverified, and both still link commits', async () => {
  await using opened = await open()
  const { ada, api, web } = opened
  await ada.fill(path, { email: 'ada@work.example' })
  await ada.fillAndFollow(path, { visibility: 'public' }, `${path}/visibility`)
  assert.equal((await api.read('/users/ada')).email, 'ada@example.com')
  const question = await ada.get(`${path}/primary?email=ada%40work.example`)
  assert.match(question.text, /It is verified now, and loses that/)
  assert.equal((await ada.get(`${path}/primary?email=x`)).location, path)
  const changed = await ada.postAndFollow(`${path}/primary`, { email: 'ada@work.example' })
  assert.deepEqual(shown(changed.text), [
    'ada@work.example: Primary, Not verified, Private',
    'ada@example.com: Not verified, Private',
  ])
  assert.equal((await ada.post(`${path}/primary`, { email: 'ada@work.example' })).status, 404)
  assert.equal((await new Guest({ web }).signIn('ada@work.example', "ada's password")).status, 303)
  await api.owns('engine', { auto_init: true })
  for (const email of ['ada@example.com', 'ADA@work.example']) {
    const who = { name: 'X', email }
    const body = { message: email, content: '', author: who, committer: who }
    const { commit } = await expect(201, await api.put(`/repos/ada/engine/contents/${email}`, body))
    assert.equal((await api.read(`/repos/ada/engine/commits/${commit.sha}`)).author?.login, 'ada', email)
  }
})

test('adding an address and changing the primary one take the password after an hour', async () => {
  await using opened = await open()
  const { ada, clock, api } = opened
  await ada.fill(path, { email: 'ada@work.example' })
  clock.advance(2 * 3600_000)
  for (const [action, email] of [
    [path, 'eve@work.example'],
    [`${path}/primary`, 'ada@work.example'],
  ] as const) {
    const asked = await ada.fill(path, { email }, action)
    assert.equal(asked.status, 403)
    assert.match(asked.text, /Confirm that it is you/)
  }
  assert.deepEqual(linesOf(await api.read('/user/emails'), 'email'), ['ada@example.com', 'ada@work.example'])
  const done = await ada.fillAndFollow(path, { email: 'ada@work.example', confirm_password: "ada's password" }, `${path}/primary`)
  assert.match(done.text, /is your primary address now/)
})
