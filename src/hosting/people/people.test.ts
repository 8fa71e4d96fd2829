import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'

test('a user is found by their login in letters of either case', async () => {
  await using forge = await openForge()
  await forge.person('Ada')
  assert.equal((await forge.nobody.read('/users/aDA')).login, 'Ada')
  assert.equal((await forge.nobody.get('/users/nobody-here')).status, 404)
})

test('following again changes nothing, and one cannot follow oneself', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  assert.equal((await ada.get('/user/following/ben')).status, 404)
  assert.equal((await ada.put('/user/following/ben')).status, 204)
  assert.equal((await ada.put('/user/following/ben')).status, 204)
  assert.equal((await ada.get('/user/following/ben')).status, 204)
  assert.equal((await forge.nobody.get('/users/ada/following/ben')).status, 204)
  assert.deepEqual(
    (await ben.read('/user/followers')).map((user: { login: string }) => user.login),
    ['ada'],
  )
  assert.equal((await ada.put('/user/following/ada')).status, 422)
  assert.equal((await ada.delete('/user/following/ben')).status, 204)
  assert.deepEqual(await forge.nobody.read('/users/ben/followers'), [])
})
