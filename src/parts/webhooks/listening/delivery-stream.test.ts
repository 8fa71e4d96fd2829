import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { expect, openForge, type Person, pick } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { listen } from '#test/streams.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'

const secret = 'it is between us'
const listened = { url: 'belfry:listen', content_type: 'json', secret }

async function hookOf(person: Person, place: string, config: object = listened, events = ['star']) {
  const { id } = await expect(201, await person.post(`/${place}/hooks`, { name: 'web', config, events }))
  return `/${place}/hooks/${id}`
}

const starred = async (person: Person, path = 'ada/engine') => {
  await person.delete(`/user/starred/${path}`)
  await expect(204, await person.put(`/user/starred/${path}`))
}

test('the stream of a hook to belfry:listen has each delivery once, signed', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const engine = await ada.owns('engine')
  const hook = await hookOf(ada, 'repos/ada/engine')
  await using stream = await listen(ada, `${hook}/deliveries/stream`)
  assert.equal(stream.answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal((await stream.until(1))[0].event, 'ping', 'pending deliveries are offered too')
  await starred(ben)
  const [, star] = await stream.until(2)
  assert.deepEqual(
    [star.event, star.action, star.redelivery, star.url, star.outcome, star.content_type],
    ['star', 'created', false, 'belfry:listen', null, 'application/json'],
  )
  assert.equal(star.headers['X-GitHub-Delivery'], star.guid)
  assert.equal(star.headers['X-Service-Hook-Installation-Target-ID'], String(engine.id))
  assert.ok(await verify(secret, star.body, star.headers['X-Hub-Signature-256']))
  assert.equal(JSON.parse(star.body).repository.url, engine.url)

  await starred(ben)
  assert.deepEqual(pick(await stream.until(4), 'event', 'action'), [
    ['ping', null],
    ['star', 'created'],
    ['star', 'deleted'],
    ['star', 'created'],
  ])
  const last = (place: number) => stream.messages[place]?.id ?? ''
  await using later = await listen(ada, `${hook}/deliveries/stream`, last(1))
  await using latest = await listen(ada, `${hook}/deliveries/stream`, last(3))
  assert.deepEqual(
    pick(await later.until(2), 'id'),
    (await stream.until(4)).slice(2).map(({ id }) => id),
  )
  // The current secret also signs deliveries that were stored before it was set.
  await expect(200, await ada.patch(`${hook}/config`, { secret: 'another', content_type: 'form' }))
  await ben.delete('/user/starred/ada/engine')
  const [unstar] = await latest.until(1)
  assert.deepEqual([unstar.action, latest.messages.length], ['deleted', 1])
  assert.equal(unstar.headers['content-type'], 'application/x-www-form-urlencoded')
  assert.match(unstar.body, /^payload=%7B/)
  assert.ok(await verify('another', unstar.body, unstar.headers['X-Hub-Signature-256']))
  assert.equal(unstar.headers['webhook-signature'].split(' ').length, 2, 'the former secret signs as well')

  // After half a minute, deliveries that nobody took are no longer offered.
  forge.clock.advance(31_000)
  await using late = await listen(ada, `${hook}/deliveries/stream`)
  await starred(ben)
  assert.deepEqual(pick(await late.until(1), 'action'), ['created'])
})

test('the outcome of an offered delivery is reported once, and recorded as if it had been sent', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  const hook = await hookOf(ada, 'repos/ada/engine')
  const other = await hookOf(ada, 'repos/ada/engine', { url: 'https://ci.example/' }, ['push'])
  await starred(ben)
  await starred(ben)
  await using stream = await listen(ada, `${hook}/deliveries/stream`)
  const offered = await stream.until(4)
  const ids: number[] = offered.map(({ id }) => id)
  const report = (id: number | undefined, body: Record<string, unknown>, person = ada) =>
    person.post(`${hook}/deliveries/${id}/outcome`, body)

  for (const wrong of [
    {},
    { status_code: 99 },
    { status_code: 1000 },
    { status_code: '200' },
    { status_code: 200, duration: -1 },
    { status_code: 200, headers: { a: 1 } },
    { status_code: 200, headers: ['a'] },
    { status_code: 200, body: {} },
    { status_code: 200, body: 'a\0b' },
    { status_code: 200, error: 'timed out' },
    { error: '' },
  ]) {
    await expect(422, await report(ids[0], wrong))
  }
  assert.equal((await ada.post(`${other}/deliveries/${ids[0]}/outcome`, { status_code: 200 })).status, 422)
  assert.equal((await report(1, { status_code: 200 })).status, 404)
  assert.equal((await report(ids[0], { status_code: 200 }, ben)).status, 404)
  assert.equal((await forge.nobody.post(`${hook}/deliveries/${ids[0]}/outcome`, {})).status, 401)
  const reader = await forge.tokenFor('ada', ['read:repo_hook'])
  assert.equal((await report(ids[0], { status_code: 200 }, reader)).status, 403)
  const writer = await forge.tokenFor('ada', ['write:repo_hook'])

  const answers = await Promise.all(
    Array.from({ length: 4 }, () =>
      report(ids[0], { status_code: 201, duration: 0.25, headers: { a: 'b' }, body: 'ok' }, writer),
    ),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 404, 404, 404])
  await expect(204, await report(ids[1], { status_code: 404, body: 'x'.repeat(70_000) }))
  await expect(204, await report(ids[2], { error: 'failed to connect to host' }))
  await expect(204, await report(ids[3], { error: 'timed out', status_code: 504 }))
  const deliveries = await ada.read(`${hook}/deliveries`)
  assert.deepEqual(pick(deliveries, 'id', 'status', 'status_code', 'duration'), [
    [ids[3], 'timed out', 504, 0],
    [ids[2], 'failed to connect to host', 502, 0],
    [ids[1], 'Invalid HTTP Response: 404', 404, 0],
    [ids[0], 'OK', 201, 0.25],
  ])
  const first = await ada.read(`${hook}/deliveries/${ids[0]}`)
  assert.deepEqual(first.request.headers, offered[0].headers, 'the very headers that were offered')
  assert.deepEqual(first.request.payload, JSON.parse(offered[0].body))
  assert.deepEqual(first.response, { headers: { a: 'b' }, payload: 'ok' })
  assert.match((await ada.read(`${hook}/deliveries/${ids[1]}`)).response.payload, /^x{65536}\n… cut off after 64 KB$/)
  assert.deepEqual((await ada.read(hook)).last_response, { code: 504, status: 'timeout', message: 'timed out' })
  assert.equal(stream.messages.length, 4)
})

test('only readers of the hook follow its deliveries, and only as long as they have access', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { private: true })
  const hook = await hookOf(ada, 'repos/ada/engine')
  const path = `${hook}/deliveries/stream`
  assert.equal((await forge.nobody.get(path)).status, 404)
  assert.equal((await ben.get(path)).status, 404)
  assert.equal((await ada.get('/repos/ada/engine/hooks/99/deliveries/stream')).status, 404)
  assert.equal((await (await forge.tokenFor('ada', ['user'])).get(path)).status, 403)
  const head = await ada.head(path)
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8'])
  const reader = await forge.tokenFor('ada', ['read:repo_hook'])
  await using plain = await listen(reader.with({ accept: '*/*' }), path)
  await using stream = await listen(reader.with({}), path, 'junk')
  assert.deepEqual([(await stream.until(1)).length, (await plain.until(1)).length], [1, 1])
  await expect(204, await ada.delete(hook))
  await stream.ended
  assert.equal(stream.messages.length, 1)
})

test("owners follow an organization's hook on both variants", async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine' }))
  const hook = await hookOf(ada, 'orgs/acme')
  await using stream = await listen(ada.versioned, `${hook}/deliveries/stream`)
  await starred(ben, 'acme/engine')
  const [ping, star] = await stream.until(2)
  assert.equal(star.headers['X-GitHub-Hook-Installation-Target-Type'], 'organization')
  assert.ok(await verify(secret, star.body, star.headers['X-Hub-Signature-256']))
  await expect(204, await ada.post(`${hook}/deliveries/${ping.id}/outcome`, { status_code: 200 }))
  assert.equal((await ben.post(`${hook}/deliveries/${star.id}/outcome`, { status_code: 200 })).status, 404)
})

test('deliveries to another url are streamed with their bytes, headers and response', async () => {
  await using forge = await openForge({ worker: true })
  await using receiver = await openReceiver((response) => response.writeHead(418, { a: 'b' }).end('short and stout'))
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  const hook = await hookOf(ada, 'repos/ada/engine', { url: receiver.url, content_type: 'form', secret })
  await receiver.first(1)
  await using stream = await listen(ada, `${hook}/deliveries/stream`)
  await starred(ben)
  const sent = (await receiver.first(2))[1]
  const told = (await stream.until(1)).find(({ event }) => event === 'star') ?? (await stream.until(2))[1]
  assert.equal(told.body, sent?.body.toString())
  for (const [name, value] of Object.entries(told.headers)) assert.equal(sent?.headers[name.toLowerCase()], value, name)
  assert.deepEqual([told.url, told.outcome.status, told.outcome.status_code], [receiver.url, 'Invalid HTTP Response: 418', 418])
  assert.deepEqual([told.outcome.response.payload, told.outcome.response.headers.a], ['short and stout', 'b'])
})

test('a delivery that no listener took is marked so, and has no latency', async () => {
  await using forge = await openForge({ worker: true })
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const { id, deliveries_url } = await expect(
    201,
    await ada.post('/repos/ada/engine/hooks', { config: { url: 'belfry:listen' } }),
  )
  forge.clock.advance(31_000)
  const [ping] = await delivered(ada, { deliveries_url })
  assert.deepEqual([ping.status, ping.status_code], ['no listener took this delivery', 504])
  const { text } = await (await signedIn(forge, 'ada')).get(`/ada/engine/settings/hooks/${id}`)
  assert.match(text, /<dt>Failed<\/dt><dd>1<\/dd>[\s\S]*<dt>Median duration<\/dt><dd>–<\/dd>/)
})
