import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { openReading } from '#test/reading.ts'
import { listenAs } from '#test/streams.ts'

test('pages of commits, releases, invitations and teams respect access', async () => {
  await using forge = await openReading()
  await forge.organization('acme', forge.ada)
  await expect(201, await forge.ada.post('/orgs/acme/teams', { name: 'Writers', description: 'Who write' }))
  await forge.ada.owns('vault', { private: true, auto_init: true })
  await expect(201, await forge.ada.post('/repos/ada/vault/releases', { tag_name: 'v1' }))
  await expect(201, await forge.ada.post(`${engine}/releases`, { tag_name: 'later', draft: true }))
  await expect(201, await forge.ada.put('/repos/ada/vault/collaborators/ben', { permission: 'pull' }))
  const { sha } = await forge.ada.read('/repos/ada/vault/commits/main')
  const [nobody, ada, ben, dan] = [
    new Guest(forge),
    ...(await Promise.all(['ada', 'ben', 'dan'].map((login) => signedIn(forge, login)))),
  ]
  const hidden = [`/ada/vault/commit/${sha}`, '/ada/vault/releases/tag/v1', '/orgs/acme/teams/writers', '/orgs/acme/teams/none']
  const draft = '/ada/engine/releases/tag/later'
  const never = [
    '/ada/engine/releases/tag/%00',
    '/ada/engine/commit/main',
    `/ada/engine/commit/${'0'.repeat(40)}`,
    '/orgs/ada/teams/x',
    '/orgs/%00/teams/x',
  ]
  for (const path of [...hidden, ...never, draft]) {
    for (const guest of [nobody, dan]) assert.equal((await guest?.get(path))?.status, 404, path)
  }
  for (const path of never) assert.equal((await ada?.get(path))?.status, 404, path)
  for (const path of [...hidden.slice(0, 3), draft]) assert.equal((await ada?.get(path))?.status, 200, path)
  assert.equal((await dan?.get('/ada/vault/invitations'))?.status, 404)
  assert.equal((await dan?.post('/ada/vault/invitations', { answer: 'accept' }))?.status, 404)
  assert.match(
    (await ben?.get('/ada/vault/invitations'))?.text ?? '',
    /invites you to collaborate, with the role <strong>read<\/strong>/,
  )
  assert.match((await ben?.post('/ada/vault/invitations', { answer: 'decline' }))?.location ?? '', /^\/notifications\?flash=/)
  assert.equal((await ben?.get('/ada/vault/invitations'))?.status, 404)
})

test('the stream of the page sends the unread count and ends at sign-out', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  await ben.get('/notifications')
  await using stream = await listenAs(forge, ben, '/notifications/stream')
  assert.equal(stream.answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  await expect(201, await forge.ada.post(`${engine}/issues`, { title: 'More' }))
  assert.deepEqual(await stream.until(1), [{ unread: 5 }])
  assert.match(stream.messages[0]?.id ?? '', /^\d+$/)
  assert.equal((await ben.post('/logout', {})).status, 303)
  await stream.ended
})
