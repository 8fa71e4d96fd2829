import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Forge, injecting, openForge } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'

const inject = injecting(openForge)
const password = 'long enough'

async function signUp(forge: Forge, login: string, email: string) {
  const guest = new Guest(forge)
  const { status, location, text } = await guest.fill('/signup', { login, email, password })
  return { guest, answer: { status, location, text: text.replaceAll(/name="csrf" value="\w+"/g, '') } }
}

const signsIn = async (forge: Forge, name: string, secret = password) =>
  (await new Guest(forge).signIn(name, secret)).status === 303

test('neither sign-up nor sign-in reveals whether an address is taken', inject(async (forge) => {
  await forge.person('ada')
  await signUp(forge, 'ben', 'ben@example.com')
  const answers = []
  const names = ['eve-1', 'eve-2', 'eve-3']
  for (const [index, address] of ['ADA@example.com', 'ben@example.com', 'free@example.com'].entries()) {
    const { guest, answer } = await signUp(forge, names[index] ?? '', address)
    answers.push(answer)
    assert.ok((await guest.get('/settings/emails')).text.includes(address))
    assert.ok(await signsIn(forge, address), 'who has given an address signs in with it, whoever else has')
  }
  assert.deepEqual(answers[0], answers[1])
  assert.deepEqual(answers[1], answers[2])
  assert.ok(await signsIn(forge, 'ada@example.com', "ada's password"), 'it is still hers')
  assert.ok(await signsIn(forge, 'BEN@example.com'))
}))

test('a profile change does not reveal whether an address is taken', inject(async ({ person }) => {
  const [, eve] = [await person('ada'), await person('eve')]
  for (const email of ['ada@example.com', 'free@example.com']) {
    assert.equal((await expect(200, await eve.patch('/user', { email }))).email, email)
    assert.equal((await eve.read('/user')).email, email)
  }
}))

test('commits belong to the account with the verified address, or else to the first that claimed it', inject(async (forge) => {
  const [ada, eve] = [await forge.person('ada'), await forge.person('eve')]
  await ada.owns('engine', { auto_init: true })
  let files = 0
  const authorOf = async (email: string) => {
    const who = { name: 'X', email }
    const body = { message: email, content: '', author: who, committer: who }
    await expect(201, await ada.put(`/repos/ada/engine/contents/${files++}`, body))
    return (await ada.read('/repos/ada/engine/commits/HEAD')).author?.login ?? null
  }
  await expect(200, await eve.patch('/user', { email: 'ada@example.com' }))
  assert.equal(await authorOf('ADA@example.com'), 'ada')
  await signUp(forge, 'first', 'team@example.com')
  forge.clock.advance(1000)
  await expect(200, await eve.patch('/user', { email: 'team@example.com' }))
  assert.equal(await authorOf('team@example.com'), 'first')
  await expect(201, await forge.admin.post('/admin/users', { login: 'cleo', email: 'Team@example.com' }))
  assert.equal(await authorOf('team@example.com'), 'cleo')
  const taken = await expect(422, await forge.admin.post('/admin/users', { login: 'dora', email: 'team@example.com' }))
  assert.deepEqual([taken.errors[0].field, taken.errors[0].code], ['email', 'already_exists'])
}))

test('an address stays verified until it is changed', inject(async ({ person, admin }) => {
  const ada = await person('ada')
  await expect(200, await ada.patch('/user', { email: 'Ada@example.com', name: 'Ada' }))
  assert.equal((await admin.post('/admin/users', { login: 'dora', email: 'ada@example.com' })).status, 422)
  await expect(200, await ada.patch('/user', { email: 'other@example.com' }))
  await expect(201, await admin.post('/admin/users', { login: 'dora', email: 'ada@example.com' }))
}))
