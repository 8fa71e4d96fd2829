import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { DatabaseProxy } from '#test/database-proxy.ts'
import { expect, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openReceiver } from '#test/webhooks.ts'

const quick = { suspicion: 150, probe: 600, retry: 50, brief: { connect: 800, lock: 300, statement: 900 } }

test('a sender that loses its database during deliveries sends each once and records them all', async () => {
  await using proxy = await DatabaseProxy.open()
  // The receiver responds when the test says so.
  const waiting: (() => void)[] = []
  let held = true
  await using receiver = await openReceiver((response) => (held ? waiting.push(() => response.end('ok')) : response.end('ok')))
  await using forge = await openForge({
    ...{ own_database: true, proxy, database: quick, worker: true },
    settings: { BELFRY_WEBHOOK_ADDRESSES: '127.0.0.1' },
  })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await expect(
    201,
    await ada.post('/repos/ada/engine/hooks', { config: { url: receiver.url, content_type: 'json' }, events: ['issues'] }),
  )
  await until('the ping is answered', () => waiting.length === 1)
  // Ten are in flight, the ping included; the sender has queued the others.
  for (let n = 1; n <= 15; n++) await expect(201, await ada.post('/repos/ada/engine/issues', { title: `issue ${n}` }))
  await until('ten are under way', () => waiting.length === 10)
  const senders = async () => (await db.rows<{ number: number }>(sql`select number from senders`)).map(({ number }) => number)
  const [before] = await senders()

  await proxy.set('drop')
  await expect(503, await ada.get('/user'))
  await until('it is known to be away', () => db.health.away)
  // The responses arrive while nothing can be recorded.
  held = false
  for (const answer of waiting) answer()
  await proxy.set('pass')
  await until('all is recorded', async () => {
    const [row] = await db.rows<{ left: number }>(sql`select count(*) as left from pending_deliveries`).catch(() => [])
    return row?.left === 0
  })
  const guids = receiver.received.map(({ headers }) => headers['x-github-delivery'])
  assert.equal(guids.length, 16)
  assert.equal(new Set(guids).size, 16)
  const after = await senders()
  assert.equal(after.length, 1)
  assert.notEqual(after[0], before)
})
