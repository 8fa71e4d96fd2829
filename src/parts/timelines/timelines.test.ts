import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, expect, type Forge, openForge, type Person } from '#test/forge.ts'

interface Event {
  id: string
  type: string
  public: boolean
  actor: { login: string }
  repo: { id: number; name: string }
  org?: { login: string }
  payload: Record<string, unknown>
}

const day = 86_400_000

const read = async (client: Client, path: string): Promise<Event[]> => client.read(path)
const types = async (client: Client, path: string) => (await read(client, path)).map(({ type }) => type)
const tell = async (client: Client, path: string) =>
  (await read(client, path)).map(({ type, actor, repo }) => `${actor.login} ${type} ${repo.name}`)

/** Many branches made one after the other: a timeline of some length. */
async function fill(person: Person, repo: string, count: number, prefix = 'b') {
  const { object } = await person.read(`/repos/${person.login}/${repo}/git/ref/heads/main`)
  for (let n = 0; n < count; n++) {
    const body = { ref: `refs/tags/${prefix}${n}`, sha: object.sha }
    await expect(201, await person.post(`/repos/${person.login}/${repo}/git/refs`, body))
  }
}

/** The same, written straight into the log: for timelines that are far longer. */
async function fillLog({ belfry: { db, clock } }: Forge, repo_id: number, actor_id: number, count: number) {
  const act = { type: 'CreateEvent', payload: { ref: 'x', ref_type: 'tag', master_branch: 'main', description: null } }
  await db.pool.query('select record_events($1, $2, $3, $4)', [
    clock.now(),
    actor_id,
    repo_id,
    JSON.stringify(Array.from({ length: count }, () => act)),
  ])
  db.noteEnd('committed here')
}

test('a star makes news once, and a repository begins with its creation', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  assert.deepEqual(await types(ben, '/repos/ada/engine/events'), ['WatchEvent', 'CreateEvent'])
})

test('an event has the documented fields, and no more', async () => {
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

test('everyone’s timeline shows public events only, and those of five minutes or half a minute ago', async () => {
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

test('the operator sets the delay of everyone’s timeline for both variants', async () => {
  await using forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const client of [ada, ada.versioned]) assert.deepEqual(await tell(client, '/events'), ['ada CreateEvent ada/engine'])
})

test('private events of a user are for that user alone, also if others could see the repository', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ada.owns('secret', { private: true })
  await expect(201, await ada.put('/repos/ada/secret/collaborators/ben', { permission: 'push' }))
  const [{ id }] = await ben.read('/user/repository_invitations')
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  const both = ['ada MemberEvent ada/secret', 'ada CreateEvent ada/secret', 'ada CreateEvent ada/engine']
  assert.deepEqual(await tell(ada, '/users/ada/events'), both)
  for (const client of [ben, forge.nobody, forge.admin]) {
    assert.deepEqual(await tell(client, '/users/ada/events'), ['ada CreateEvent ada/engine'])
    assert.deepEqual(await tell(client, '/users/ada/received_events'), ['ada CreateEvent ada/engine'])
  }
  assert.deepEqual(await tell(ada, '/users/ada/events/public'), ['ada CreateEvent ada/engine'])
  assert.deepEqual(await tell(ben, '/repos/ada/secret/events'), both.slice(0, 2))
  assert.equal((await forge.nobody.get('/repos/ada/secret/events')).status, 404)
  const narrow = await forge.tokenFor('ada', ['public_repo'])
  assert.deepEqual(await tell(narrow, '/users/ada/events'), ['ada CreateEvent ada/engine'])
})

test('received events are those of watched repositories and followed people, each once, public ones for all to see', async () => {
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

test('whoever watches and follows hundreds receives the same as if it were few', async () => {
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
  db.noteEnd('committed here')
  // Few hits among all that happened lately: each place is looked at. Then many: a page is found among them.
  for (const filled of [3, 40]) {
    await fillLog(forge, id, (await ada.read('/user')).id, filled)
    const received = await read(ben, '/users/ben/received_events')
    assert.deepEqual(received, await read(ben, '/repos/ada/engine/events'))
    assert.equal(received.length, Math.min(30, filled === 3 ? 4 : 44))
  }
})

test('an organization’s timeline is public; its dashboard is for the member who asks for it, and for nobody else', async () => {
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

test('a network’s timeline is that of a repository and all its forks, in public, also by its old name', async () => {
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

test('pages are of thirty on the self-hosted variant whatever is asked, and of up to a hundred on the versioned one', async () => {
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

test('a walk through all pages meets every event once, newest first', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  await fill(ada, 'engine', 65)
  const seen: Event[] = []
  for (let page = 1; page <= 3; page++) seen.push(...(await read(ada, `/repos/ada/engine/events?page=${page}`)))
  assert.equal(seen.length, 67)
  assert.deepEqual(
    seen.map(({ id }) => Number(id)),
    seen.map(({ id }) => Number(id)).toSorted((a, b) => b - a),
  )
  assert.equal(new Set(seen.map(({ id }) => id)).size, 67)
  assert.equal((await read(ada, '/repos/ada/engine/events?page=4')).length, 0)
})

test('timelines go back thirty days on the versioned variant and ninety on the self-hosted one', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  forge.clock.advance(30 * day - 1000)
  assert.equal((await read(ada.versioned, '/users/ada/events')).length, 1)
  forge.clock.advance(1000)
  assert.equal((await read(ada.versioned, '/users/ada/events')).length, 0)
  assert.equal((await read(ada, '/users/ada/events')).length, 1)
  forge.clock.advance(60 * day)
  assert.equal((await read(ada, '/users/ada/events')).length, 0)
})

/** Waits until the worker has nothing to do. */
async function idle({ belfry: { db } }: Forge) {
  for (let n = 0; n < 500; n++) {
    const { rows } = await db.pool.query(`select from graphile_worker.jobs where run_at <= now()`)
    if (!rows.length) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('the log forgets what a deleted repository had, however much', async () => {
  await using forge = await openForge({ worker: true })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await ada.owns('mill')
  await fillLog(forge, id, (await ada.read('/user')).id, 12_000)
  await expect(204, await ada.delete('/repos/ada/engine'))
  assert.deepEqual(await tell(ada, '/users/ada/events'), ['ada CreateEvent ada/mill'])
  await idle(forge)
  const { rows } = await forge.belfry.db.pool.query('select repo_id from events')
  assert.equal(rows.length, 1)
})

test('events of months that nobody is shown any more are dropped as whole tables', async () => {
  await using forge = await openForge({ worker: true })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  forge.clock.advance(60 * day)
  await ada.owns('mill')
  const months = async () =>
    (
      await db.pool.query(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
      )
    ).rows.map(({ name }) => name)
  assert.deepEqual(await months(), ['events_2026_02', 'events_2026_04'])
  const forget = async () => {
    await db.pool.query(`select graphile_worker.add_job('forget_events')`)
    await idle(forge)
  }
  await forget()
  assert.deepEqual(await months(), ['events_2026_02', 'events_2026_04'])
  forge.clock.advance(57 * day)
  await forget()
  assert.deepEqual(await months(), ['events_2026_04'])
  assert.deepEqual(await tell(ada, '/users/ada/events'), ['ada CreateEvent ada/mill'])
})

test('timelines follow at once when a repository is hidden, renamed or deleted', async () => {
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

test('what happened in private stays so when the repository is published', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { private: true })
  await expect(200, await ada.patch('/repos/ada/engine', { private: false }))
  assert.deepEqual(await tell(ben, '/repos/ada/engine/events'), ['ada PublicEvent ada/engine'])
  assert.deepEqual(await tell(ada, '/repos/ada/engine/events'), ['ada PublicEvent ada/engine', 'ada CreateEvent ada/engine'])
})

test('the acts of a suspended person leave every timeline, and come back with them', async () => {
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

test('a fork that is hidden or gone is not told of', async () => {
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
