import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDocumented } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf, withPeople } from '#test/forge.ts'

const inject = injecting(withPeople('ada', 'ben'))

test('an application with user:email reads the primary, verified address', inject(async ({ tokenFor }) => {
  const app = await tokenFor('ada', ['user:email'])
  const primary = { email: 'ada@example.com', primary: true, verified: true, visibility: 'private' }
  assert.deepEqual(await app.read('/user/emails'), [primary])
  assert.deepEqual(await app.versioned.read('/user/emails'), [primary])
  assert.equal((await (await tokenFor('ada', ['read:user'])).get('/user/emails')).status, 403)
  assert.equal((await app.post('/user/emails', { emails: ['x@example.com'] })).status, 403)
}))

test('addresses are added unverified and deleted, and never reveal who else has them', inject(async ({ forge, ada, ben }) => {
  const added = await expect(201, await ada.post('/user/emails', { emails: ['Ada@work.example', 'ben@example.com'] }))
  assert.deepEqual(linesOf(added, 'email', 'primary', 'verified', 'visibility'), [
    'Ada@work.example false false ',
    'ben@example.com false false ',
  ])
  assert.deepEqual(linesOf(await ada.read('/user/emails'), 'email'), ['ada@example.com', 'Ada@work.example', 'ben@example.com'])
  assert.equal((await ben.read('/user/emails')).length, 1)
  for (const emails of [['ADA@example.com'], ['ada@WORK.example'], ['x@y.z', 'X@y.z']]) {
    const refused = await expect(422, await ada.post('/user/emails', { emails }))
    assert.partialDeepStrictEqual(refused.errors, [{ resource: 'UserEmail', field: 'email', code: 'already_exists' }])
  }
  assert.equal((await ada.post('/user/emails', { emails: ['no address'] })).status, 422)
  assert.equal((await ada.post('/user/emails', { emails: [] })).status, 422)
  const many = Array.from({ length: 20 }, (_, index) => `${index}@example.com`)
  assert.equal((await ada.post('/user/emails', { emails: many })).status, 422)
  assert.equal((await ada.delete('/user/emails', { emails: ['ada@example.com'] })).status, 422, 'the primary one stays')
  assert.equal((await ada.delete('/user/emails', { emails: ['ben@example.com', 'x@y.z'] })).status, 404)
  assert.equal((await ada.delete('/user/emails', { emails: many })).status, 404)
  assert.equal((await ada.delete('/user/emails', { emails: [...many, 'x@y.z'] })).status, 422, 'more than an account has')
  assert.equal((await ada.delete('/user/emails', ['BEN@example.com'])).status, 204)
  assert.equal((await ada.read('/user/emails')).length, 2)
  await expect(200, await ada.patch('/user', { email: 'ada@WORK.example' }))
  assert.deepEqual(linesOf(await ada.read('/user/emails'), 'email', 'primary'), ['ada@WORK.example true'])
  assert.deepEqual(errorsOf(forge), [])
}))

test('the primary address is on the profile when it is public', inject(async ({ ada, nobody }) => {
  assert.deepEqual(await ada.read('/user/public_emails'), [])
  const [shown] = await expect(200, await ada.patch('/user/email/visibility', { visibility: 'public' }))
  assert.equal(shown.visibility, 'public')
  assert.equal((await nobody.read('/users/ada')).email, 'ada@example.com')
  assert.deepEqual(linesOf(await ada.read('/user/public_emails'), 'email'), ['ada@example.com'])
  await expect(200, await ada.patch('/user/email/visibility', { visibility: 'private' }))
  assert.equal((await nobody.read('/users/ada')).email, null)
}))

test('commits with a further address belong to the account', inject(async ({ ada, ben }) => {
  await ada.owns('engine', { auto_init: true })
  const authorOf = async (email: string) => {
    const who = { name: 'X', email }
    const body = { message: email, content: '', author: who, committer: who }
    const { commit } = await expect(201, await ada.put(`/repos/ada/engine/contents/${Math.random()}`, body))
    return (await ada.read(`/repos/ada/engine/commits/${commit.sha}`)).author?.login ?? null
  }
  await expect(201, await ben.post('/user/emails', { emails: ['ben@work.example', 'ada@example.com'] }))
  assert.deepEqual([await authorOf('BEN@work.example'), await authorOf('ada@example.com')], ['ben', 'ada'])
  const listed = await ada.read('/repos/ada/engine/commits?author=ben')
  assert.deepEqual(linesOf(listed, 'commit.message'), ['BEN@work.example'])
}))

test('responses about addresses match the public documentation', inject(async ({ ada }) => {
  for (const variant of ['self-hosted', 'versioned'] as const) {
    await assertDocumented(ada, variant, [
      ['users/add-email-for-authenticated-user', 'post', '/user/emails', { emails: [`${variant}@example.com`] }],
      ['users/list-emails-for-authenticated-user', 'get', '/user/emails'],
    ])
  }
  await assertDocumented(ada, 'versioned', [
    ['users/set-primary-email-visibility-for-authenticated-user', 'patch', '/user/email/visibility', { visibility: 'public' }],
    ['users/list-public-emails-for-authenticated-user', 'get', '/user/public_emails'],
  ])
}))
