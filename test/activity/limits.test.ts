import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { type Client, expect, openForge } from '#test/forge.ts'
import { fillLog, record } from '#test/timelines.ts'
import { handOver } from '#test/transfers.ts'
import { day, second, type Told, tell, variants } from './variants.ts'

test('a poll is answered 304 until something new may be seen, and told when to come back', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans' }))
  await ada.owns('engine')
  await expect(204, await ben.put('/user/following/ada'))
  forge.clock.advance(600 * second)
  for (const { as, nobody, delay } of variants) {
    const paths: [Client, string][] = [
      [nobody(forge), '/events'],
      [nobody(forge), '/networks/ada/engine/events'],
      [nobody(forge), '/orgs/acme/events'],
      [nobody(forge), '/repos/ada/engine/events'],
      [as(ben), '/users/ben/events'],
      [as(ada), '/users/ada/events/orgs/acme'],
      [nobody(forge), '/users/ben/events/public'],
      [as(ada), '/users/ada/received_events'],
      [nobody(forge), '/users/ada/received_events/public'],
    ]
    const etags = new Map<string, string>()
    const poll = (client: Client, path: string) => client.with({ 'if-none-match': etags.get(path) ?? '' }).get(path)
    for (const [client, path] of paths) {
      const answer = await client.get(path)
      assert.equal(answer.status, 200, path)
      assert.match(answer.headers.get('etag') ?? '', /^"[^"]+"$/, path)
      assertInterval(answer)
      etags.set(path, answer.headers.get('etag') ?? '')
      const again = await poll(client, path)
      assert.equal(again.status, 304, path)
      assert.equal(again.headers.get('etag'), etags.get(path))
      assertInterval(again)
      assert.equal(await again.text(), '')
      const unquoted = client.with({ 'if-none-match': (etags.get(path) ?? '').replaceAll('"', '') })
      assert.equal((await unquoted.get(path)).status, 200, path)
    }
    // Ben stars both: news in every timeline, in everyone's after a while.
    for (const repo of ['acme/plans', 'ada/engine']) {
      await ben.delete(`/user/starred/${repo}`)
      assert.equal((await ben.put(`/user/starred/${repo}`)).status, 204)
    }
    for (const [client, path] of paths.slice(1)) assert.equal((await poll(client, path)).status, 200, path)
    const [client, path] = paths[0] ?? assert.fail()
    forge.clock.advance(delay - second)
    assert.equal((await poll(client, path)).status, 304, 'not old enough for everyone')
    forge.clock.advance(second)
    assert.equal((await poll(client, path)).status, 200, 'time alone makes it news')
  }
})

/** A minute, or more on a machine that is busy with other tests. */
function assertInterval({ headers, url }: Response) {
  const interval = headers.get('x-poll-interval') ?? ''
  assert.match(interval, /^\d+$/, url)
  assert.ok(Number(interval) >= 60 && Number(interval) <= 300, interval)
}

/** An engine in which so much has happened. */
async function openBusy(total: number) {
  const forge = await openForge()
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await fillLog(forge, id, (await ada.read('/user')).id, total - 1)
  forge.clock.advance(600 * second)
  return Object.assign(forge, { ada })
}

const timelinesOfAda = [
  '/repos/ada/engine/events',
  '/networks/ada/engine/events',
  '/users/ada/events',
  '/users/ada/received_events',
]

test('a timeline goes by thirty on the self-hosted variant whatever is asked, and ends with the three-hundredth event', async () => {
  await using forge = await openBusy(310)
  for (const path of ['/events', ...timelinesOfAda]) {
    const pages: string[][] = []
    for (let page = 1; page <= 10; page++) {
      const answer = await forge.ada.get(`${path}?per_page=${page % 2 ? 5 : 100}&page=${page}`)
      const events = (await expect(200, answer)) as { id: string }[]
      pages.push(events.map(({ id }) => id))
      const link = answer.headers.get('link') ?? ''
      assert.equal(link.includes('rel="next"'), page < 10, path)
      assert.equal(/page=(\d+)>; rel="last"/.exec(link)?.[1], page < 10 ? '10' : undefined, path)
      if (page > 1) assert.match(link, new RegExp(`page=${page - 1}>; rel="prev",.*page=1>; rel="first"$`))
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      Array(10).fill(30),
    )
    const ids = pages.flat().map(Number)
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => b - a),
      'each once, newest first',
    )
    const beyond = await expect(422, await forge.ada.get(`${path}?page=11`))
    assert.match(beyond.message, /pagination is limited for this resource/)
  }
})

test('a timeline goes by as many as asked, a hundred at most, on the versioned variant, and ends with the three-hundredth event', async () => {
  await using forge = await openBusy(310)
  const { versioned } = forge.ada
  for (const path of ['/events', ...timelinesOfAda]) {
    const usual = path === '/events' ? 15 : 30
    for (const [query, size] of [
      ['', usual],
      ['?per_page=7', 7],
      ['?per_page=100', 100],
      ['?per_page=1000', 100],
      ['?per_page=0', usual],
      ['?per_page=many', usual],
    ] as const) {
      assert.equal((await versioned.read(`${path}${query}`)).length, size, `${path}${query}`)
    }
    const first = await versioned.get(`${path}?per_page=100`)
    assert.match(first.headers.get('link') ?? '', /per_page=100&page=2>; rel="next", .*per_page=100&page=3>; rel="last"/)
    assert.equal((await versioned.read(`${path}?per_page=100&page=3`)).length, 100)
    assert.equal((await versioned.get(`${path}?per_page=100&page=4`)).status, 422)
    assert.equal((await versioned.read(`${path}?per_page=70&page=5`)).length, 20, 'what is left of three hundred')
    assert.equal((await versioned.get(`${path}?per_page=70&page=6`)).status, 422)
  }
})

test('past the end of a short timeline there is nothing', async () => {
  await using forge = await openBusy(3)
  for (const client of [forge.ada, forge.ada.versioned]) {
    for (const path of ['/events', ...timelinesOfAda]) assert.deepEqual(await client.read(`${path}?page=2`), [], path)
  }
})

test('a timeline goes back thirty days on the versioned variant and ninety on the self-hosted one', async () => {
  await using forge = await openBusy(2)
  const { ada, clock } = forge
  const lengths = async () => {
    const counts = await Promise.all(
      ['/events', ...timelinesOfAda].flatMap((path) =>
        [ada, ada.versioned].map(async (client) => (await client.read(path)).length),
      ),
    )
    return [...new Set(counts)]
  }
  clock.advance(30 * day - 600 * second - second)
  assert.deepEqual(await lengths(), [2])
  clock.advance(second)
  for (const path of ['/events', ...timelinesOfAda]) {
    assert.deepEqual(await ada.versioned.read(path), [], path)
    assert.equal((await ada.read(path)).length, 2, path)
  }
  clock.advance(60 * day - second)
  for (const path of ['/events', ...timelinesOfAda]) assert.equal((await ada.read(path)).length, 2, path)
  clock.advance(second)
  assert.deepEqual(await lengths(), [0])
})

/** Ben watches so many repositories of Ada's, the last of which is private, and follows as many people. */
async function openMany(total: number) {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.belfry.db.transaction(async (db) => {
    const now = db.now
    await db.query(sql`
      insert into accounts (type, login, created_at, updated_at)
      select 'User', 'person-' || n, ${now}, ${now} from generate_series(1, ${total}::integer) n`)
    await db.query(sql`
      insert into repositories (id, owner_id, name, private, network_id, created_at, updated_at)
      select 1000000 + n, (select id from accounts where login = 'ada'), 'r' || n, n = ${total}, 1000000 + n, ${now}, ${now}
      from generate_series(1, ${total}::integer) n`)
    await db.query(sql`
      insert into follows (follower_id, followed_id, created_at)
      select ben.id, a.id, ${now} from accounts a, accounts ben where ben.login = 'ben' and a.login like 'person-%'`)
    await db.query(sql`
      insert into subscriptions (user_id, repo_id, created_at)
      select ben.id, r.id, ${now} from repositories r, accounts ben where ben.login = 'ben'`)
    await db.query(sql`
      insert into collaborators (repo_id, user_id, access, created_at)
      select 1000000 + ${total}::integer, id, 1, ${now} from accounts where login = 'ben'`)
  })
  const star = async (login: string, repo: number) => {
    forge.clock.advance(second)
    await forge.belfry.db.transaction(async (db) => {
      const actor = await db.first<{ id: number }>(sql`select id from accounts where login = ${login}`)
      await record(db, actor ?? assert.fail(), { id: 1000000 + repo }, { type: 'WatchEvent', payload: { action: 'started' } })
    })
  }
  return Object.assign(forge, { ada, ben, star })
}

test('who watches hundreds of repositories and follows hundreds of people receives each event once, in order', async () => {
  for (const total of [3, 250]) {
    await using forge = await openMany(total)
    const { ada, ben, star } = forge
    await ada.owns('apart')
    const expected: string[] = []
    const happens = async (login: string, repo: number) => {
      await star(login, repo)
      expected.unshift(`${login} WatchEvent in ada/r${repo}${repo === total ? ' privately' : ''}`)
    }
    const read = async (client: Client, path = '/users/ben/received_events') => ((await client.read(path)) as Told[]).map(tell)
    // A quiet place: few events, and all of them far back.
    for (const [login, repo] of [
      ['ada', 1],
      ['person-1', 2],
      ['person-2', total],
      ['ben', total],
      ['ada', 3],
    ] as const) {
      await happens(login, repo)
    }
    assert.deepEqual(await read(ben), expected)
    const open = () => expected.filter((line) => !line.endsWith('privately'))
    assert.deepEqual(await read(forge.nobody), open())
    assert.deepEqual(await read(ben, '/users/ben/received_events/public'), open())
    // A busy one: more than a page.
    for (let round = 0; round < 40; round++) await happens(`person-${1 + (round % total)}`, 1 + ((round * 7) % total))
    assert.deepEqual(await read(ben), expected.slice(0, 30), `${total} places`)
    assert.deepEqual(await read(ben, '/users/ben/received_events?page=2'), expected.slice(30))
    assert.deepEqual(await read(ben.versioned, '/users/ben/received_events?per_page=100'), expected)
    assert.deepEqual(await read(forge.nobody), open().slice(0, 30))
    assert.deepEqual(await read(forge.nobodyVersioned, '/users/ben/received_events/public?per_page=100'), open())
  }
})

test('the timelines of a repository that was renamed or moved lead to where it is', async () => {
  await using forge = await openBusy(2)
  const ben = await forge.person('ben')
  await expect(200, await forge.ada.patch('/repos/ada/engine', { name: 'machine' }))
  const { id } = await forge.ada.read('/repos/ada/machine')
  const leads = async (old: string, name: string) => {
    for (const client of [forge.nobody, forge.nobodyVersioned]) {
      for (const [path, kind] of [
        [`/networks/${old}/events`, 'networks'],
        [`/repos/${old}/events`, 'repos'],
      ] as const) {
        const answer = await client.get(`${path}?per_page=1`)
        assert.equal(answer.status, 301, path)
        const location = answer.headers.get('location') ?? ''
        assert.ok(location.startsWith(`${client.base}/`), location)
        assert.ok(location.includes(`${id}`) || location.includes(name), location)
        assert.ok(location.endsWith('?per_page=1'), location)
        const events = await client.read(location)
        assert.ok(events.length > 0, `${kind} at ${location}`)
        assert.equal(events[0].repo.name, name)
      }
    }
  }
  await leads('ada/engine', 'ada/machine')
  await handOver(forge.ada, '/repos/ada/machine', ben)
  await leads('ada/engine', 'ben/machine')
  await leads('ada/machine', 'ben/machine')
  await expect(200, await ben.patch('/repos/ben/machine', { private: true }))
  for (const path of ['/networks/ada/machine/events', '/repos/ada/machine/events', '/networks/ada/nothing/events']) {
    assert.equal((await forge.nobody.get(path)).status, 404, path)
  }
})
