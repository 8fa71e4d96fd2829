import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { read, tell } from '#test/timelines.ts'

test('an event has exactly the documented fields', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { description: 'It <computes> & prints' })
  const { id: actor_id } = await ada.read('/user')
  for (const client of [forge.nobody, forge.nobodyVersioned]) {
    const [event] = await read(client, '/repos/ada/engine/events')
    assert.deepEqual(event, {
      id: event?.id,
      type: 'CreateEvent',
      actor: {
        ...{ id: actor_id, login: 'ada', display_login: 'ada', gravatar_id: '' },
        ...{ url: `${client.base}/users/ada`, avatar_url: `${forge.web}/avatars/${actor_id}` },
      },
      repo: { id, name: 'ada/engine', url: `${client.base}/repos/ada/engine` },
      payload: {
        ...{ ref: 'main', ref_type: 'repository', full_ref: 'refs/heads/main', master_branch: 'main' },
        ...{ description: 'It <computes> & prints', pusher_type: 'user' },
      },
      public: true,
      created_at: '2026-02-03T04:05:06Z',
    })
  }
})

test('BELFRY_PUBLIC_EVENTS_DELAY sets the delay of the public timeline for both variants', async () => {
  await using forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const client of [ada, ada.versioned]) assert.deepEqual(await tell(client, '/events'), ['ada CreateEvent ada/engine'])
})

test('received events come from watched repositories and followed users, each once; public ones are visible to everyone', async () => {
  await using forge = await openForge()
  const [ada, ben, cleo] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cleo')]
  await ada.owns('engine')
  await ben.owns('mill')
  await ben.put('/user/starred/ada/engine')
  await cleo.put('/user/following/ben')
  await cleo.put('/repos/ada/engine/subscription', { subscribed: true })
  const received = ['ben WatchEvent ada/engine', 'ben CreateEvent ben/mill', 'ada CreateEvent ada/engine']
  for (const client of [cleo, ben, forge.nobody]) {
    assert.deepEqual(await tell(client, '/users/cleo/received_events'), received)
    assert.deepEqual(await tell(client, '/users/cleo/received_events/public'), received)
  }
  await cleo.put('/repos/ada/engine/subscription', { ignored: true })
  assert.deepEqual(await tell(cleo, '/users/cleo/received_events'), received.slice(0, 2))
  await cleo.delete('/user/following/ben')
  assert.deepEqual(await tell(cleo, '/users/cleo/received_events'), [])
})
