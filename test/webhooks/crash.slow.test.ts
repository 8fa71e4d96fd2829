import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openReceiver } from '#test/webhooks.ts'
import { crash, points } from './crash.ts'

/** How often a sender is killed at each point. Set the environment variable for hundreds. */
const rounds = Number(process.env.BELFRY_TEST_CRASHES ?? 2)
const limit = process.env.BELFRY_TEST_CRASHES ? { timeout: 1_200_000 } : {}
const hooks = 10

test(
  'senders that are killed at any point lose nothing, and send twice only the deliveries they owned',
  limit,
  async (context) => {
    await using forge = await openForge()
    await using receiver = await openReceiver((response) => setTimeout(() => response.end('ok'), 5))
    const { db, settings } = forge.belfry
    const people = await Promise.all(['ben', 'cyd', 'dan', 'eve'].map((login) => forge.person(login)))
    const ada = await forge.person('ada')
    await ada.owns('engine')
    for (let place = 0; place < hooks; place++) {
      const config = { url: `${receiver.url}${place}`, content_type: 'json', secret: 'a secret' }
      await expect(201, await ada.post('/repos/ada/engine/hooks', { config, events: ['star'] }))
    }
    const { host, port, user, database, password } = db.pool.options
    const connection = JSON.parse(JSON.stringify({ host, port, user, database, password }))
    const orders = { connection, data: settings.BELFRY_DATA, web: forge.web }

    // New deliveries are created all the time.
    const crashes: Partial<Record<(typeof points)[number], number>> = {}
    let over = false
    const acting = people.map(async (person) => {
      for (let n = 0; !over; n++) {
        // Half of the payloads are stored before the server's address is known, as at a start.
        forge.belfry.addresses.web = n % 4 < 2 ? forge.web : ''
        const act = n % 2 ? person.delete : person.put
        assert.equal((await act('/user/starred/ada/engine')).status, 204)
      }
    })
    const lanes = points.map(async (point, place) => {
      for (let round = 0; round < rounds; round++) {
        // Each sender has another address, like a restarted server without a fixed port.
        const web = `http://127.0.0.1:${1000 * (place + 1) + round}`
        if (await crash({ ...orders, web, point, times: 1 + ((round * 5 + place) % 9) }))
          crashes[point] = (crashes[point] ?? 0) + 1
      }
    })
    await Promise.all(lanes)
    over = true
    await Promise.all(acting)

    // A sender that survives sends the rest.
    const ending = new AbortController()
    const last = crash({ ...orders, point: 'recording', times: 1_000_000 }, ending.signal)
    await until('all is recorded', async () => !(await db.first(sql`select from pending_deliveries limit 1`)))
    ending.abort()
    assert.equal(await last, false)
    const stored = await db.rows<{ guid: string; copies: number }>(sql`
    select guid, count(*) as copies from deliveries where event = 'star' group by guid`)
    const told = await db.first<{ stored: number }>(sql`select count(*) as stored from payloads where event = 'star'`)
    const times = new Map<string, number>()
    const bytes = new Map<string, string>()
    for (const { headers, body } of receiver.received) {
      const guid = String(headers['x-github-delivery'])
      assert.equal(body.toString(), bytes.get(guid) ?? body.toString(), 'a redelivery has the same bytes')
      bytes.set(guid, body.toString())
      times.set(guid, (times.get(guid) ?? 0) + 1)
    }
    assert.equal(stored.length, hooks * (told?.stored ?? 0), 'every delivery has an outcome')
    assert.ok(
      stored.every(({ copies }) => copies === 1),
      'and one only',
    )
    assert.deepEqual(
      stored.filter(({ guid }) => !times.has(guid)),
      [],
      'each was received',
    )
    const doubles = [...times.values()].reduce((sum, count) => sum + count - 1, 0)
    const killed = Object.values(crashes).reduce((sum, count) => sum + count, 0)
    assert.deepEqual(Object.keys(crashes).toSorted(), points.toSorted(), 'each point was met')
    // Up to ten deliveries per hook can be in flight when a process is killed.
    assert.ok(doubles <= killed * hooks * 10, `${doubles} doubles of ${stored.length} deliveries after ${killed} crashes`)
    context.diagnostic(`${killed} crashes, ${stored.length} deliveries, ${doubles} sent twice, none lost`)
  },
)
