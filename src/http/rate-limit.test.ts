import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { register } from '#test/oauth.ts'
import { RateLimiter } from './rate-limit.ts'

const byVariant = { settings: { BELFRY_RATE_LIMIT: '' } }

test('the versioned variant counts 60 requests an hour by address, then answers 403 until the hour is over', async () => {
  await using forge = await openForge(byVariant)
  const { nobodyVersioned: nobody, clock } = forge
  const first = await nobody.get('/')
  assert.equal(first.headers.get('x-ratelimit-limit'), '60')
  assert.equal(first.headers.get('x-ratelimit-remaining'), '59')
  assert.equal(first.headers.get('x-ratelimit-used'), '1')
  assert.equal(first.headers.get('x-ratelimit-resource'), 'core')
  assert.equal(first.headers.get('x-ratelimit-reset'), String(Math.floor(clock.now().getTime() / 1000) + 3600))
  for (let count = 2; count <= 60; count++) await expect(200, await nobody.get('/'))
  const refused = await nobody.get('/')
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0')
  assert.match((await expect(403, refused)).message, /^API rate limit exceeded for 127\.0\.0\.1\. \(But here's the good news/)
  clock.advance(3600_000)
  assert.equal((await nobody.get('/')).headers.get('x-ratelimit-remaining'), '59')
})

test('IPv6 addresses of one /64 are one caller', async () => {
  await using forge = await openForge(byVariant)
  const left = async (address: string) =>
    (await forge.nobodyVersioned.with({ 'x-forwarded-for': address }).get('/')).headers.get('x-ratelimit-remaining')
  assert.equal(await left('2001:db8:1:2::1'), '59')
  assert.equal(await left('2001:db8:1:2:a:b:c:d'), '58')
  assert.equal(await left('2001:db8:1:3::1'), '59')
  assert.equal(await left('::ffff:192.0.2.1'), '59')
  assert.equal(await left('192.0.2.1'), '58')
})

test('larger IPv6 networks have more requests, and a host that is refused does not use them up', async () => {
  await using forge = await openForge(byVariant)
  const from = (address: string) => forge.nobodyVersioned.with({ 'x-forwarded-for': address }).get('/')
  const left = async (address: string) => (await from(address)).headers.get('x-ratelimit-remaining')
  for (let count = 0; count < 100; count++) await from('2001:db8:1:200::1')
  assert.equal((await from('2001:db8:1:200::1')).status, 403)
  assert.equal(await left('2001:db8:1:201::1'), '59')
  for (const subnet of ['201', '202', '203']) for (let count = 0; count < 60; count++) await from(`2001:db8:1:${subnet}::1`)
  const refused = await from('2001:db8:1:204::1')
  assert.equal(refused.status, 403)
  assert.equal(refused.headers.get('x-ratelimit-limit'), '240')
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0')
  assert.equal(await left('2001:db8:1:300::1'), '59')
})

test('a user has 5000 an hour over all tokens, apart from their address', async () => {
  await using forge = await openForge(byVariant)
  const ada = await forge.person('ada')
  const other = await forge.tokenFor('ada', [])
  await forge.nobodyVersioned.get('/')
  assert.equal((await ada.versioned.get('/user')).headers.get('x-ratelimit-remaining'), '4999')
  assert.equal((await other.versioned.get('/user')).headers.get('x-ratelimit-remaining'), '4998')
})

test('a 304 costs nothing, for anyone', async () => {
  await using forge = await openForge(byVariant)
  const ada = await forge.person('ada')
  for (const client of [ada.versioned, forge.nobodyVersioned]) {
    const first = await client.get('/')
    const again = await client.with({ 'if-none-match': first.headers.get('etag') ?? '' }).get('/')
    assert.equal(again.status, 304)
    assert.equal(again.headers.get('x-ratelimit-remaining'), first.headers.get('x-ratelimit-remaining'))
    assert.equal(again.headers.get('x-ratelimit-used'), first.headers.get('x-ratelimit-used'))
  }
})

test('a 304 costs nothing in the count that nodes share', async () => {
  await using forge = await openForge({ settings: { BELFRY_RATE_LIMIT: '', DATABASE_URL: 'postgres://another-node' } })
  const { db } = forge.belfry
  const known = async () => (await db.first<{ used: number }>(sql`select sum(used)::integer as used from rate_limits`))?.used ?? 0
  const { nobodyVersioned: nobody } = forge
  const first = await nobody.get('/')
  await until('the first request is shared', async () => (await known()) === 1)
  const again = nobody.with({ 'if-none-match': first.headers.get('etag') ?? '' })
  // The last exchange of the loop ends before the request after it is shared.
  for (let count = 0; count < 70; count++) assert.equal((await again.get('/')).status, 304)
  await nobody.get('/')
  await until('the next request is shared', async () => (await known()) === 2)
  assert.equal((await again.get('/')).headers.get('x-ratelimit-used'), '2')
})

test('a 304 of a request that is free of charge gives nothing back', async () => {
  await using forge = await openForge(byVariant)
  const { nobodyVersioned: nobody } = forge
  await nobody.get('/')
  const free = await nobody.get('/rate_limit')
  for (let count = 0; count < 2; count++) {
    const again = await nobody.with({ 'if-none-match': free.headers.get('etag') ?? '' }).get('/rate_limit')
    assert.deepEqual([again.status, again.headers.get('x-ratelimit-used')], [304, '1'])
  }
})

test('GET /rate_limit tells the state free of charge; its rate is gone from 2026-03-10 on', async () => {
  await using forge = await openForge(byVariant)
  const { nobodyVersioned: nobody } = forge
  await nobody.get('/')
  const told = await nobody.read('/rate_limit')
  assert.deepEqual(told, await nobody.read('/rate_limit'))
  const { limit, used, remaining } = told.resources.core
  assert.deepEqual({ limit, used, remaining }, { limit: 60, used: 1, remaining: 59 })
  assert.deepEqual(told.rate, told.resources.core)
  assert.deepEqual(Object.keys(told.resources.search).sort(), ['limit', 'remaining', 'reset', 'used'])
  assert.ok(!('rate' in (await nobody.with({ 'x-service-api-version': '2026-03-10' }).read('/rate_limit'))))
})

test('where the limit is off there are no headers, and /rate_limit has numbers that never decrease', async () => {
  await using forge = await openForge(byVariant)
  const answer = await forge.nobody.get('/')
  assert.deepEqual(
    [...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit')),
    [],
  )
  const ada = await forge.person('ada')
  for (const [client, limit] of [
    [forge.nobody, 60],
    [ada, 5000],
  ] as const) {
    await client.get('/')
    const { resources, rate } = await client.read('/rate_limit')
    assert.partialDeepStrictEqual(rate, { limit, remaining: limit, used: 0 })
    assert.deepEqual(resources.core, rate)
    for (const name of ['search', 'graphql', 'integration_manifest']) assert.equal(resources[name].used, 0)
  }
})

test('an application with its own credentials has its own limit', async () => {
  await using forge = await openForge(byVariant)
  const { client_id, client_secret } = await register(forge)
  const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
  const client = forge.nobodyVersioned.with({ authorization: basic })
  const answer = await client.post(`/applications/${client_id}/token`, { access_token: 'x' })
  assert.deepEqual([answer.status, answer.headers.get('x-ratelimit-limit')], [404, '5000'])
})

test('BELFRY_RATE_LIMIT overrides both variants', async () => {
  await using on = await openForge({ settings: { BELFRY_RATE_LIMIT: 'on' } })
  assert.equal((await on.nobody.get('/')).headers.get('x-ratelimit-limit'), '60')
  // Servers of tests have it off unless they say otherwise.
  await using off = await openForge()
  assert.equal((await off.nobodyVersioned.get('/')).headers.get('x-ratelimit-limit'), null)
})

test('wrong credentials count against the address that guesses', async () => {
  await using forge = await openForge(byVariant)
  const wrong = forge.nobodyVersioned.with({ authorization: 'token wrong' })
  await expect(401, await wrong.get('/user'))
  assert.equal((await forge.nobodyVersioned.get('/')).headers.get('x-ratelimit-remaining'), '58')
})

test('behind a trusted proxy each client is counted by its own address, and others cannot pretend', async () => {
  await using forge = await openForge(byVariant)
  const from = (address: string) => forge.nobodyVersioned.with({ 'x-forwarded-for': address })
  assert.equal((await from('203.0.113.1').get('/')).headers.get('x-ratelimit-remaining'), '59')
  assert.equal((await from('203.0.113.2').get('/')).headers.get('x-ratelimit-remaining'), '59')
  assert.equal((await from('198.51.100.9, 203.0.113.2').get('/')).headers.get('x-ratelimit-remaining'), '58')
  await using strict = await openForge({ settings: { BELFRY_RATE_LIMIT: '', BELFRY_TRUSTED_PROXIES: 'none' } })
  await strict.nobodyVersioned.with({ 'x-forwarded-for': '203.0.113.1' }).get('/')
  assert.equal((await strict.nobodyVersioned.get('/')).headers.get('x-ratelimit-remaining'), '58')
})

test('a request that is given back is given back to other nodes too', () => {
  const limiter = new RateLimiter({ now: () => new Date() })
  limiter.is_shared = true
  const budgets = [{ key: 'user 1', limit: 10 }]
  for (let count = 0; count < 3; count++) limiter.take(budgets)
  assert.deepEqual(
    limiter.takeUnshared().map(({ used }) => used),
    [3],
  )
  limiter.refund(budgets)
  assert.deepEqual(
    limiter.takeUnshared().map(({ used }) => used),
    [-1],
  )
  assert.equal(limiter.look(budgets).used, 2)
})
