import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, expect, openForge } from '#test/forge.ts'
import { fillLog, read, tell, types } from '#test/timelines.ts'

test('starring twice makes one event, and the first event of a repository is its creation', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  assert.deepEqual(await types(ben, '/repos/ada/engine/events'), ['WatchEvent', 'CreateEvent'])
})

test('an event has exactly the documented fields', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { description: 'Computes' })
  const [event] = await read(forge.nobody, '/repos/ada/engine/events')
  const { id: actor_id } = await ada.read('/user')
  assert.deepEqual(event, {
    id: event?.id,
    type: 'CreateEvent',
    actor: {
      id: actor_id,
      login: 'ada',
      display_login: 'ada',
      gravatar_id: '',
      url: `${forge.web}/api/v3/users/ada`,
      avatar_url: `${forge.web}/avatars/${actor_id}`,
    },
    repo: { id, name: 'ada/engine', url: `${forge.web}/api/v3/repos/ada/engine` },
    payload: {
      ref: 'main',
      ref_type: 'repository',
      full_ref: 'refs/heads/main',
      master_branch: 'main',
      description: 'Computes',
      pusher_type: 'user',
    },
    public: true,
    created_at: '2026-02-03T04:05:06Z',
  })
  const [versioned] = await read(forge.nobodyVersioned, '/repos/ada/engine/events')
  assert.equal(versioned?.repo.name, 'ada/engine')
  assert.ok(JSON.stringify(versioned).includes(`${forge.versioned}/repos/ada/engine`))
})

test('the public timeline shows public events only, after five minutes or 30 seconds', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await ada.owns('secret', { private: true })
  assert.deepEqual(await tell(ada, '/events'), [])
  forge.clock.advance(30_000)
  assert.deepEqual(await tell(ada, '/events'), [])
  assert.deepEqual(await tell(ada.versioned, '/events'), ['ada CreateEvent ada/engine'])
  forge.clock.advance(270_000)
  assert.deepEqual(await tell(ada, '/events'), ['ada CreateEvent ada/engine'])
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

test('a user who watches hundreds of repositories receives the same events as one who watches a few', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id } = await ada.owns('engine')
  await ada.owns('secret', { private: true })
  const { db } = forge.belfry
  await db.pool.query(`
    insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
    select owner_id, 'quiet-' || n, false, 0, created_at, updated_at from repositories, generate_series(1, 250) n where name = 'engine'`)
  await db.pool.query(`
    insert into subscriptions (user_id, repo_id, created_at)
    select a.id, r.id, r.created_at from accounts a, repositories r where a.login = 'ben'`)
  db.notifyTransactionEnd('committed here')
  // Too few of the recent events match, so each source is read; then enough of them match.
  for (const filled of [3, 40]) {
    await fillLog(forge, id, (await ada.read('/user')).id, filled)
    const received = await read(ben, '/users/ben/received_events')
    assert.deepEqual(received, await read(ben, '/repos/ada/engine/events'))
    assert.equal(received.length, Math.min(30, filled === 3 ? 4 : 44))
  }
})

test('an organization’s timeline is public; only the member sees their dashboard', async () => {
  await using forge = await openForge()
  const [ada, ben, cleo] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cleo')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'anvil' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  await ada.owns('engine')
  for (const client of [ada, cleo, forge.nobody]) {
    const events = await read(client, '/orgs/acme/events')
    assert.deepEqual(
      events.map(({ repo }) => repo.name),
      ['acme/anvil'],
    )
    assert.equal(events[0]?.org?.login, 'acme')
  }
  assert.equal((await read(ada, '/repos/ada/engine/events'))[0]?.org, undefined)
  assert.deepEqual(await tell(ben, '/users/ben/events/orgs/acme'), ['ada CreateEvent acme/plans', 'ada CreateEvent acme/anvil'])
  for (const client of [ada, cleo, forge.nobody, forge.admin]) {
    assert.equal((await client.get('/users/ben/events/orgs/acme')).status, 404)
  }
  assert.equal((await cleo.get('/users/cleo/events/orgs/acme')).status, 404)
})

test('a network’s timeline has the public events of a repository and its forks, also by a former name', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  await ada.put('/user/starred/ben/engine')
  const network = ['ada WatchEvent ben/engine', 'ben ForkEvent ada/engine', 'ada CreateEvent ada/engine']
  assert.deepEqual(await tell(forge.nobody, '/networks/ada/engine/events'), network)
  assert.deepEqual(await tell(forge.nobody, '/networks/ben/engine/events'), network)
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  const moved = await forge.nobody.get('/networks/ada/engine/events?page=2')
  assert.equal(moved.status, 301)
  assert.equal(moved.headers.get('location'), `${forge.web}/api/v3/networks/ada/motor/events?page=2`)
  assert.equal((await forge.nobody.get('/networks/ada/nothing/events')).status, 404)
})

test('a page has 30 events on the self-hosted variant, and up to 100 on the versioned one', async () => {
  await using forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await fillLog(forge, id, (await ada.read('/user')).id, 400)
  const lengths = async (client: Client, path: string) => (await read(client, path)).length
  for (const path of ['/repos/ada/engine/events', '/events', '/users/ada/events', '/users/ada/received_events']) {
    assert.equal(await lengths(ada, `${path}?per_page=100`), 30)
    assert.equal(await lengths(ada, `${path}?page=10`), 30)
    assert.equal((await ada.get(`${path}?page=11`)).status, 422)
    assert.equal(await lengths(ada.versioned, path), path === '/events' ? 15 : 30)
    assert.equal(await lengths(ada.versioned, `${path}?per_page=1000`), 100)
    assert.equal(await lengths(ada.versioned, `${path}?per_page=70&page=5`), 20)
    const beyond = await ada.versioned.get(`${path}?per_page=100&page=4`)
    assert.match((await expect(422, beyond)).message, /^In order to keep the API fast for everyone, pagination is limited/)
  }
  const first = await ada.get('/repos/ada/engine/events')
  assert.match(first.headers.get('link') ?? '', /[?&]page=2>; rel="next", <[^>]*[?&]page=10>; rel="last"/)
  const last = await ada.get('/repos/ada/engine/events?page=10')
  assert.match(last.headers.get('link') ?? '', /page=9>; rel="prev", <[^>]*page=1>; rel="first"$/)
})

test('paging through a timeline returns every event once, newest first', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await fillLog(forge, id, (await ada.read('/user')).id, 65)
  const seen: number[] = []
  for (const page of [1, 2, 3, 4])
    seen.push(...(await read(ada, `/repos/ada/engine/events?page=${page}`)).map((event) => Number(event.id)))
  assert.equal(new Set(seen).size, 66)
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => b - a),
  )
})
