import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '#platform/database.ts'
import { fillDeliveries } from '#test/deliveries.ts'
import { type Client, expect, openForge } from '#test/forge.ts'
import { hookOn } from '#test/webhooks.ts'

const forge = await openForge()
after(() => forge[Symbol.asyncDispose]())
const { db } = forge.belfry
const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
await forge.organization('acme', ada)
const day = 86_400_000

let places = 0
/** A repository with a hook without deliveries. */
async function openPlace(options: Record<string, unknown> = {}) {
  const { id, full_name } = await ada.owns(`place-${++places}`, options)
  const hook = await hookOn(ada, `repos/${full_name}`, 'push')
  return { id: id as number, hook, path: `/repos/${full_name}/hooks/${hook.id}` }
}

interface Item {
  id: number
  status_code: number
}

/** The ids of a page, and its links. */
async function pageOf(client: Client, address: string) {
  const answer = await client.get(address)
  const items: Item[] = await expect(200, answer)
  const links = [...(answer.headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)]
  return { ids: items.map(({ id }) => id), links: Object.fromEntries(links.map(([, url = '', rel = '']) => [rel, url])) }
}

test('deliveries of several days are listed newest first, and cursors page in both directions', async () => {
  const { path, hook } = await openPlace()
  const other = await openPlace()
  const ids: number[] = []
  for (const count of [3, 5, 4]) {
    ids.unshift(...(await fillDeliveries(forge, hook, Array(count).fill(200))).reverse())
    await fillDeliveries(forge, other.hook, [200])
    forge.clock.advance(day)
  }
  const first = await pageOf(ada, `${path}/deliveries?per_page=5&page=7&status=`)
  assert.deepEqual(first.ids, ids.slice(0, 5))
  assert.deepEqual(Object.keys(first.links), ['next'])
  assert.equal(first.links.next, `${forge.web}/api/v3${path}/deliveries?per_page=5&status=&cursor=v1_${ids[4]}`)
  const second = await pageOf(ada, first.links.next)
  assert.deepEqual([second.ids, Object.keys(second.links)], [ids.slice(5, 10), ['prev', 'next']])
  const third = await pageOf(ada, second.links.next ?? '')
  assert.deepEqual([third.ids, Object.keys(third.links)], [ids.slice(10), ['prev']])
  // New deliveries do not shift the pages.
  const [latest = 0] = await fillDeliveries(forge, hook, [200])
  const back = await pageOf(ada, third.links.prev ?? '')
  assert.deepEqual([back.ids, Object.keys(back.links)], [second.ids, ['prev', 'next']])
  const begin = await pageOf(ada, back.links.prev ?? '')
  assert.deepEqual([begin.ids, Object.keys(begin.links)], [first.ids, ['prev', 'next']])
  const newest = await pageOf(ada, begin.links.prev ?? '')
  assert.deepEqual([newest.ids, Object.keys(newest.links)], [[latest], ['next']])
  assert.deepEqual((await pageOf(ada, newest.links.next ?? '')).ids, first.ids)
  assert.deepEqual(await pageOf(ada, `${path}/deliveries?per_page=5&cursor=v1_1`), { ids: [], links: {} })
  assert.equal((await pageOf(ada, `${path}/deliveries`)).ids.length, 13)
  const { links } = await pageOf(ada.versioned, `${path}/deliveries?per_page=5`)
  assert.ok(links.next?.startsWith(`${forge.versioned}${path}/deliveries?`))
})

test('a page has thirty deliveries, or up to a hundred with per_page', async () => {
  const { path, hook } = await openPlace()
  await fillDeliveries(forge, hook, Array(120).fill(200))
  const sizes = ['', '?per_page=50', '?per_page=500', '?per_page=junk'].map(async (query) => {
    const { ids, links } = await pageOf(ada, `${path}/deliveries${query}`)
    return [ids.length, Object.keys(links)]
  })
  assert.deepEqual(
    await Promise.all(sizes),
    [30, 50, 100, 30].map((size) => [size, ['next']]),
  )
})

test('successes are 200 to 399 and failures 400 to 599; an unknown status or cursor is refused', async () => {
  const { path, hook } = await openPlace()
  const ids = await fillDeliveries(forge, hook, [199, 200, 204, 302, 399, 400, 404, 502, 599, 600])
  const only = async (status: string) => (await pageOf(ada, `${path}/deliveries?status=${status}`)).ids
  assert.deepEqual(await only('success'), ids.slice(1, 5).reverse())
  assert.deepEqual(await only('failure'), ids.slice(5, 9).reverse())
  const some = await pageOf(ada, `${path}/deliveries?status=failure&per_page=3`)
  assert.deepEqual((await pageOf(ada, some.links.next ?? '')).ids, [ids[5]])
  for (const status of ['junk', 'SUCCESS', '200']) {
    const { errors } = await expect(422, await ada.get(`${path}/deliveries?status=${status}`))
    assert.deepEqual([errors[0].resource, errors[0].field], ['HookDelivery', 'status'])
  }
  for (const cursor of ['junk', 'v1_', 'v1_-1', 'v2_1', `v1_${'9'.repeat(16)}`, `v1_${ids[0]}_next`, '%F0%9F%94%94', "v1_1'--"]) {
    assert.equal((await ada.get(`${path}/deliveries?cursor=${cursor}`)).status, 400, cursor)
  }
  assert.deepEqual(await pageOf(ada, `${path}/deliveries?cursor=v1_${'9'.repeat(15)}_prev`), { ids: [], links: {} })
})

test('a page reads only the partitions it needs, by index', async (context) => {
  const { path, hook } = await openPlace()
  for (let turn = 0; turn < 20; turn++) {
    await fillDeliveries(forge, hook, Array(20).fill(turn % 2 ? 200 : 500))
    forge.clock.advance(day)
  }
  const asked = context.mock.method(db, 'genericPlanRows')
  const scansOf = async (query: string) => {
    const page = await pageOf(ada, `${path}/deliveries${query}`)
    const statement = asked.mock.calls.at(-1)?.arguments[0] ?? sql``
    const lines = await db.genericPlanRows<{ 'QUERY PLAN': string }>(sql`explain (analyze) ${statement}`)
    const scans = lines.map((line) => line['QUERY PLAN']).filter((line) => line.includes('Scan'))
    assert.ok(scans.length > 0)
    assert.deepEqual(
      scans.filter((line) => !/Index Scan/.test(line)),
      [],
    )
    return { next: page.links.next?.split('?')[1], scans: scans.filter((line) => !line.includes('never executed')).length }
  }
  const first = await scansOf('')
  assert.ok(first.scans <= 4, `${first.scans}`)
  const second = await scansOf(`?${first.next}`)
  assert.ok(second.scans <= 4, `${second.scans}`)
  const failed = await scansOf('?status=failure')
  assert.ok(failed.scans <= 6, `${failed.scans}`)
})

test('a delivery shows its request and response', async () => {
  const { id: repo_id, hook, path } = await openPlace()
  const body = '{"url":"\\u0000://\\u0000/x","text":"say \\"\\\\u0000://\\""}'
  const response_headers = { server: 'x', 'set-cookie': ['a', 'b'], 'content-length': 2 }
  const [id] = await fillDeliveries(forge, hook, [200], { repo_id, body, response_headers, response_body: 'ok' })
  const delivery = await ada.read(`${path}/deliveries/${id}`)
  const { guid } = delivery
  assert.match(guid, /^[0-9a-f-]{36}$/)
  const own = {
    Delivery: guid,
    Event: 'push',
    'Hook-ID': String(hook.id),
    'Hook-Installation-Target-ID': String(repo_id),
    'Hook-Installation-Target-Type': 'repository',
  }
  const twins = Object.entries(own).flatMap(([name, value]) =>
    [`X-Service-${name}`, `X-GitHub-${name}`].map((key) => [key, value]),
  )
  assert.deepEqual(delivery, {
    ...{ id, guid, delivered_at: db.now.toISOString(), redelivery: false, duration: 0.123, status: 'OK', status_code: 200 },
    ...{ event: 'push', action: '', installation_id: 0, repository_id: repo_id, throttled_at: null },
    url: 'https://example.com/',
    request: {
      headers: {
        Accept: '*/*',
        ...Object.fromEntries(twins),
        'webhook-id': guid,
        'User-Agent': 'Belfry-Hookshot/test',
        'content-type': 'application/json',
        'X-Hub-Signature-256': 'sha256=00',
      },
      payload: { url: `${forge.web}/x`, text: 'say "\\u0000://"' },
    },
    response: { headers: { server: 'x', 'set-cookie': 'a,b', 'content-length': '2' }, payload: 'ok' },
  })
  const [large] = await fillDeliveries(forge, hook, [502], { body: null })
  const { request, response } = await ada.read(`${path}/deliveries/${large}`)
  assert.deepEqual([request.payload, response], [{}, { headers: {}, payload: '' }])
})

test('only administrators read deliveries, and only below their own hook', async () => {
  const { hook, path } = await openPlace()
  const other = await openPlace()
  const [id] = await fillDeliveries(forge, hook, [200])
  for (const wrong of [`${path}/deliveries/1`, `${path}/deliveries/${'9'.repeat(15)}`]) {
    await expect(404, await ada.get(wrong))
    await expect(404, await ada.post(`${wrong}/attempts`))
  }
  await expect(404, await ada.get(`${other.path}/deliveries/${id}`))
  await expect(404, await ada.post(`${other.path}/deliveries/${id}/attempts`))
  await expect(404, await ada.get(`${other.path.replace(/\d+$/, String(hook.id))}/deliveries`))
  const reads = [`${path}/deliveries`, `${path}/deliveries/${id}`]
  const acts = [`${path}/deliveries/${id}/attempts`, `${path}/tests`, `${path}/test`]
  for (const address of reads) assert.equal((await ben.get(address)).status, 404)
  for (const address of acts) assert.equal((await ben.post(address)).status, 404)
  for (const address of reads) assert.equal((await forge.nobody.get(address)).status, 401)
  const [reader, stranger] = [await forge.tokenFor('ada', ['read:repo_hook']), await forge.tokenFor('ada', ['public_repo'])]
  for (const address of reads) {
    assert.equal((await reader.get(address)).status, 200)
    assert.equal((await stranger.get(address)).status, 403)
  }
  assert.equal((await reader.post(`${path}/deliveries/${id}/attempts`)).status, 403)
  assert.equal((await reader.post(`${path}/tests`)).status, 204)
  await expect(204, await ada.delete(path))
  for (const address of reads) await expect(404, await ada.get(address))
})

test('a redelivery has the same guid and payload, keeps the payload alive, and works for an inactive hook', async () => {
  const { id: repo_id, hook, path } = await openPlace()
  const [id = 0] = await fillDeliveries(forge, hook, [500], { repo_id, event: 'issues', body: '{"action":"opened"}' })
  const { guid } = await ada.read(`${path}/deliveries/${id}`)
  await db.query(sql`delete from pending_deliveries`)
  await expect(200, await ada.patch(path, { active: false }))
  assert.deepEqual(await expect(202, await ada.post(`${path}/deliveries/${id}/attempts`)), {})
  forge.clock.advance(3 * day)
  assert.deepEqual(await expect(202, await ada.versioned.post(`${path}/deliveries/${id}/attempts`)), {})
  const rows = await db.rows(sql`
    select u.guid, u.hook_id, u.repo_id, u.event, u.redelivery, p.body, u.payload_id >> 36 = u.id >> 36 as same_day,
      extract(epoch from u.ready_at - u.created_at)::integer as waits
    from pending_deliveries u join payloads p on p.id = u.payload_id order by u.id`)
  const repeated = { guid, hook_id: hook.id, repo_id, event: 'issues', redelivery: true, body: '{"action":"opened"}' }
  // A delivery to belfry:listen waits half a minute for a listener.
  assert.deepEqual(rows, Array(2).fill({ ...repeated, same_day: true, waits: 30 }))
  const { payloads } =
    (await db.first<{ payloads: number }>(
      sql`select count(*) as payloads from payloads where repo_id = ${repo_id} and event = 'issues'`,
    )) ?? {}
  assert.equal(payloads, 2)
  await db.query(sql`delete from payloads where event = 'issues'`)
  const { message } = await expect(422, await ada.post(`${path}/deliveries/${id}/attempts`))
  assert.match(message, /no longer stored/)
})

test("an organization's hook has the same endpoints for deliveries, but no test endpoint", async () => {
  const hook = await hookOn(ada, 'orgs/acme', 'push')
  const path = `/orgs/acme/hooks/${hook.id}`
  const [id] = await fillDeliveries(forge, hook, [200], { body: '{}' })
  assert.deepEqual((await pageOf(ada, `${path}/deliveries`)).ids, [id])
  const { request, repository_id } = await ada.read(`${path}/deliveries/${id}`)
  assert.deepEqual([request.headers['X-Service-Hook-Installation-Target-Type'], repository_id], ['organization', 0])
  await expect(202, await ada.post(`${path}/deliveries/${id}/attempts`))
  assert.equal((await ada.post(`${path}/tests`)).status, 404)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  assert.equal((await ben.get(`${path}/deliveries`)).status, 404)
  assert.equal((await (await forge.tokenFor('ada', ['repo'])).get(`${path}/deliveries`)).status, 403)
})

test('a malformed delivery id is 400 for users who may see the hook, and 404 for others', async () => {
  const { path } = await openPlace()
  for (const [wrong, status] of [
    ['abc', 400],
    ['1x', 400],
    ['-1', 400],
    ['1.5', 400],
    ['9'.repeat(30), 404],
  ] as const) {
    const at = `${path}/deliveries/${wrong}`
    assert.equal(
      (await expect(status, await ada.get(at))).message,
      status === 400 ? 'delivery_id must be an integer.' : 'Not Found',
    )
    await expect(status, await ada.post(`${at}/attempts`))
    await expect(status, await ada.post(`${at}/outcome`, { status_code: 200 }))
    await expect(404, await ben.get(at))
    await expect(404, await ben.post(`${at}/attempts`))
  }
})
