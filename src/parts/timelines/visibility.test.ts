import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { fillLog, read, tell, types } from '#test/timelines.ts'

test('timelines change at once when a repository is made private, renamed or deleted', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ben.put('/user/starred/ada/engine')
  const places = [
    '/users/ben/events',
    '/users/ben/events/public',
    '/users/ada/received_events/public',
    '/users/ada/events/public',
  ]
  const seen = async () => (await Promise.all(places.map((path) => tell(forge.nobody, path)))).map(({ length }) => length)
  assert.deepEqual(await seen(), [1, 1, 2, 1])
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  assert.deepEqual(await tell(forge.nobody, '/users/ben/events'), ['ben WatchEvent ada/motor'])
  await expect(200, await ada.patch('/repos/ada/motor', { private: true }))
  assert.deepEqual(await seen(), [0, 0, 0, 0])
  assert.deepEqual(await tell(ben, '/users/ben/events'), [])
  const own = await read(ada, '/users/ada/events')
  assert.deepEqual(
    own.map((event) => event.public),
    [false],
  )
  await expect(200, await ada.patch('/repos/ada/motor', { private: false }))
  assert.deepEqual(await seen(), [1, 1, 3, 2])
  await expect(204, await ada.delete('/repos/ada/motor'))
  assert.deepEqual(await seen(), [0, 0, 0, 0])
  assert.deepEqual(await tell(ada, '/users/ada/events'), [])
})

test('events of a suspended user are hidden until the suspension ends', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ben.put('/user/starred/ada/engine')
  await expect(204, await forge.admin.put('/users/ben/suspended'))
  assert.deepEqual(await types(ada, '/repos/ada/engine/events'), ['CreateEvent'])
  assert.deepEqual(await types(ada, '/users/ben/events'), [])
  await expect(204, await forge.admin.delete('/users/ben/suspended'))
  assert.deepEqual(await types(ada, '/repos/ada/engine/events'), ['WatchEvent', 'CreateEvent'])
})

test('the event of a fork is hidden when the fork is private or deleted', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  await expect(200, await ben.patch('/repos/ben/engine', { private: true }))
  for (const client of [ada, forge.nobody]) assert.deepEqual(await types(client, '/repos/ada/engine/events'), ['CreateEvent'])
  assert.deepEqual(await types(ben, '/repos/ada/engine/events'), ['ForkEvent', 'CreateEvent'])
  await expect(204, await ben.delete('/repos/ben/engine'))
  assert.deepEqual(await types(ben, '/repos/ada/engine/events'), ['CreateEvent'])
})

test('the link to the last page is right at once when a timeline becomes shorter than 300 events', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id } = await ada.owns('engine')
  await fillLog(forge, id, (await ada.read('/user')).id, 264)
  await fillLog(forge, id, (await ben.read('/user')).id, 50)
  const last = async (path: string) => /page=(\d+)>; rel="last"/.exec((await ada.get(path)).headers.get('link') ?? '')?.[1]
  const paths = ['/repos/ada/engine/events', '/networks/ada/engine/events', '/users/ada/received_events']
  for (const path of paths) assert.equal(await last(path), '10', path)
  await expect(204, await forge.admin.put('/users/ben/suspended'))
  for (const path of paths) assert.equal(await last(path), '9', path)
})
