import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { DatabaseProxy } from '#test/database-proxy.ts'
import { expect, openForge } from '#test/forge.ts'
import { Desk } from '#test/git.ts'
import { until } from '#test/machine.ts'
import { listen } from '#test/streams.ts'

/** Short enough for a test; the relation of these to each other is that of the real ones. */
const quick = { suspicion: 150, probe: 600, retry: 50, brief: { connect: 800, lock: 300, statement: 900 } }

async function openCut() {
  await using undo = new AsyncDisposableStack()
  const proxy = undo.use(await DatabaseProxy.open())
  const forge = undo.use(await openForge({ own_database: true, proxy, database: quick }))
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const running = undo.move()
  return { forge, proxy, ada, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

test('without a database every caller gets 503 with Retry-After in the shape that it asked for, and what it asked for afterwards', async () => {
  await using cut = await openCut()
  const { forge, proxy, ada } = cut
  await using desk = await Desk.open(forge)
  const clone = await desk.clone(ada, 'ada/engine')
  await using stream = await listen(ada, '/repos/ada/engine/events')
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' }
  const json = 'application/json; charset=utf-8'
  const page = 'text/html; charset=utf-8'
  const atom = 'application/atom+xml; charset=utf-8'
  const authorization = { authorization: `Bearer ${ada.token}` }
  const cookie = { cookie: 'belfry_session=somebody' }
  const asked: [string, RequestInit, string, RegExp][] = [
    [`${forge.web}/readyz`, {}, json, /^\{"status":"the database is not reachable"\}$/],
    [`${forge.web}/api/v3/user`, { headers: authorization }, json, /^\{"message":"The database is not reachable/],
    [
      `${forge.versioned}/user/repos`,
      { method: 'POST', headers: authorization, body: '{"name":"lost"}' },
      json,
      /"status":"503"\}$/,
    ],
    [`${forge.web}/api/v3/events`, { headers: { accept: 'text/event-stream', ...authorization } }, json, /"status":"503"\}$/],
    [`${forge.web}/`, { headers: cookie }, page, /<h1>Back in a moment<\/h1>/],
    [`${forge.web}/ada/engine/issues`, {}, page, /<h1>Back in a moment<\/h1>/],
    [`${forge.web}/login`, { ...form, headers: { ...form.headers, ...cookie } }, page, /<h1>Back in a moment<\/h1>/],
    [`${forge.web}/notifications/stream`, { headers: cookie }, page, /<h1>Back in a moment<\/h1>/],
    [`${forge.web}/ada`, {}, page, /<h1>Back in a moment<\/h1>/],
    [`${forge.web}/ada`, { headers: { accept: 'application/atom+xml' } }, atom, /<title>The database is not reachable/],
    [`${forge.web}/timeline.atom`, {}, atom, /^<\?xml .*<\/feed>\n$/s],
    [`${forge.web}/ada/engine.git/info/refs?service=git-upload-pack`, {}, 'text/plain; charset=utf-8', /^The database is not/],
    [`${forge.web}/login/oauth/access_token`, form, 'application/x-www-form-urlencoded; charset=utf-8', /^error=server_error&/],
    [
      `${forge.web}/ada/engine.git/info/lfs/objects/${'a'.repeat(64)}`,
      {},
      'application/vnd.git-lfs+json; charset=utf-8',
      /^\{"message":"The database is not/,
    ],
  ]
  for (const mode of ['refuse', 'drop'] as const) {
    await proxy.set(mode)
    // Nobody knows yet: whoever asks first waits until it is found out.
    for (const [url, init, type, body] of asked) {
      const answer = await fetch(url, { ...init, redirect: 'manual' })
      const text = await answer.text()
      assert.deepEqual(
        [answer.status, answer.headers.get('retry-after'), answer.headers.get('content-type')],
        [503, '5', type],
        url,
      )
      assert.match(text, body, url)
    }
    assert.equal((await fetch(`${forge.web}/healthz`)).status, 200)
    await clone.commit('kept')
    const push = await clone.attempt('push', 'origin', 'HEAD')
    assert.match(push.stderr, /returned error: 503/)

    await proxy.set('pass')
    await until('it is ready', async () => (await fetch(`${forge.web}/readyz`)).status === 200)
    await expect(201, await ada.post('/repos/ada/engine/issues', { title: `after ${mode}` }))
    await until('the stream tells of it', () => stream.messages.some(({ data }) => data.includes(`after ${mode}`)))
    await clone.push()
  }
  assert.equal((await ada.get('/repos/ada/lost')).status, 404)
})

test('a commit whose answer is lost is no success, and may have taken place', async () => {
  await using cut = await openCut()
  const { proxy, ada } = cut
  proxy.cut_at = 'commit'
  await expect(503, await ada.put('/repos/ada/engine/subscription', { ignored: true }))
  assert.equal((await ada.read('/repos/ada/engine/subscription')).ignored, true)
  // A star is a transaction of one statement.
  proxy.cut_at = 'insert into stars'
  await expect(503, await ada.put('/user/starred/ada/engine'))
  assert.equal((await ada.get('/user/starred/ada/engine')).status, 204)
})

test('a repository whose creation took place has its contents, also if the answer to the commit was lost', async () => {
  await using cut = await openCut()
  const { forge, proxy, ada } = cut
  await using desk = await Desk.open(forge)
  // With the end of the statement, because columns have the word in their names.
  proxy.cut_at = 'commit\0'
  await expect(503, await ada.post('/user/repos', { name: 'mill', auto_init: true }))
  const clone = await desk.clone(ada, 'ada/mill')
  assert.equal(await clone.git('ls-files'), 'README.md')
})

test('who waits for a lock, or for a slow statement, is told to come back', async () => {
  await using cut = await openCut()
  const { forge, ada } = cut
  const { db } = forge.belfry
  const rival = await db.background.connect()
  try {
    await rival.query('begin; lock table stars')
    const answer = await ada.put('/user/starred/ada/engine')
    assert.equal(answer.headers.get('retry-after'), '5')
    assert.match((await expect(503, answer)).message, /did not answer in time/)
    await rival.query('rollback')
  } finally {
    rival.release(true)
  }
  await assert.rejects(db.query(sql`select pg_sleep(5)`), /did not answer in time/)
  // A job may take longer than a request.
  await db.withBackgroundTimeouts(() => db.query(sql`select pg_sleep(1.2)`))
  assert.equal((await ada.put('/user/starred/ada/engine')).status, 204)
  assert.equal(db.health.away, false)
})

test('a connection that is lost without a word is noticed, and its session and locks are ended, while others go on', async () => {
  await using cut = await openCut()
  const { forge, proxy, ada } = cut
  const { db } = forge.belfry
  await assert.rejects(
    db.transaction(async (transaction) => {
      await transaction.query(sql`lock table stars`)
      // This connection is silent from now on, and all new ones work.
      await proxy.set('drop')
      await proxy.set('pass')
      await transaction.query(sql`select`)
    }),
    /not reachable/,
  )
  await until('the lock is free', async () => (await ada.put('/user/starred/ada/engine')).status === 204)
})

test('a database that is back after the last look is found by itself, though nobody asks', async () => {
  await using cut = await openCut()
  const { forge, proxy, ada } = cut
  const { health } = forge.belfry.db
  await proxy.set('stall')
  await expect(503, await ada.get('/user'))
  await until('it is known to be away', () => health.away)
  await expect(503, await ada.get('/user'))
  await proxy.set('pass')
  await until('it is known to be back', () => !health.away)
  await expect(200, await ada.get('/user'))
})
