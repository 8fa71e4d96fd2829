import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { pinged, settle } from '#test/hook-history.ts'
import { openTargets, organization, repository } from '#test/hook-targets.ts'
import { listenAs } from '#test/streams.ts'
import { handOver } from '#test/transfers.ts'
import { hookOn, openReceiver } from '#test/webhooks.ts'

const secret = 'Nobody may see this'

test('deliveries are listed, counted, plotted, shown and redelivered', async () => {
  await using forge = await openTargets()
  const ada = await signedIn(forge, 'ada')
  const hooks = '/repos/ada/engine/hooks'
  const hook = await expect(
    201,
    await forge.ada.post(hooks, { config: { url: 'https://hooks.example/', secret }, events: ['push', 'issues'] }),
  )
  const path = `${repository}/${hook.id}`
  const page = async (query = '') => (await ada.get(path + query)).text
  const rows = (text: string) => [...text.matchAll(/data-id="(\d+)"/g)].map(([, id]) => id)
  const waiting = await page('?done=created')
  assert.match(waiting, /A ping is being sent/)
  assert.equal(waiting.includes('belfry listen'), false)
  assert.match(waiting, /<dt>Pending<\/dt><dd>1</)
  assert.match(waiting, /No deliveries in the last 24 hours/)
  await settle(forge, hook)
  forge.clock.advance(3_600_000)
  for (let round = 1; round < 33; round++) await expect(204, await forge.ada.post(`${hooks}/${hook.id}/pings`))
  await pinged(forge, forge.ada, hooks, hook, { duration: 0.1 })
  await pinged(forge, forge.ada, hooks, hook, {
    status: 'timed out',
    status_code: 504,
    duration: 30,
    response_headers: null,
    response_body: null,
  })
  const newest = await page()
  assert.match(
    newest,
    /Of 35 deliveries in the last 24 hours, 34 succeeded and 1 failed\. Half took 100 ms or less, [^.]*the slowest took 30 s\./,
  )
  assert.match(newest, /<dt>Succeeded<\/dt><dd>97\.1%</)
  assert.match(newest, /Last delivery: timed out/)
  assert.equal(rows(newest).length, 30)
  const next = /href="[^"]*(\?cursor=[^"]*)" rel="next"/.exec(newest)?.[1] ?? ''
  assert.equal(rows(await page(next)).length, 5)
  assert.deepEqual(new Set([...rows(newest), ...rows(await page(next))]).size, 35)
  assert.match(await page(next), /rel="prev"/)
  assert.equal(rows(await page('?status=failure')).length, 1)
  assert.equal(rows(await page('?status=success&span=month')).length, 30)
  assert.match(await page('?span=month'), /in the last 30 days/)
  assert.equal((await ada.get(`${path}?cursor=nonsense`)).status, 400)
  for (const query of ['?span=toString&status=constructor', '?done=toString', '?cursor=v1_1']) {
    const odd = await ada.get(path + query)
    assert.equal(odd.status, 200)
    assert.equal(/native code|undefined/.test(odd.text), false, query)
  }

  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: '</pre><script>alert(1)</script>' }))
  const answer = {
    content_type: 'application/x-www-form-urlencoded',
    response_headers: { 'x-odd': '<b>"' },
    response_body: '<script>alert(2)</script>',
    status: 'Invalid HTTP Response: 404',
    status_code: 404,
  }
  await settle(forge, hook, answer)
  const [newestId] = rows(await page())
  const shown = await ada.get(`${path}/deliveries/${newestId}`)
  for (const text of [
    'issues.opened',
    'X-GitHub-Delivery',
    'webhook-timestamp',
    '404 refused',
    '&lt;b&gt;',
    '&lt;script&gt;alert(2)',
    '&lt;/pre&gt;&lt;script&gt;',
    '  <span class="hljs-attr">&quot;action&quot;</span>: <span class="hljs-string">&quot;opened&quot;</span>',
  ]) {
    assert.ok(shown.text.includes(text), text)
  }
  assert.equal(/<script>|Nobody may see this/.test(shown.text), false)
  assert.match(shown.text, /Sent as a form/)

  const attempt = await ada.post(`${path}/deliveries/${newestId}/attempts`, {})
  assert.equal(attempt.location, `${path}?done=again`)
  await settle(forge, hook)
  assert.match(await page(), /redelivery/)
  assert.equal((await ada.post(`${path}/tests`, {})).location, `${path}?done=nothing`)
  await expect(201, await forge.ada.put('/repos/ada/engine/contents/steam', { message: 'Steam', content: 'c3RlYW0=' }))
  await settle(forge, hook)
  assert.equal((await ada.post(`${path}/tests`, {})).location, `${path}?done=tested`)
  await settle(forge, hook)
  assert.match(await page(), /class="title"[^>]*>push</)
  assert.equal((await ada.post(`${path}/pings`, {})).location, `${path}?done=pinged`)
  await forge.ada.patch(`${hooks}/${hook.id}`, { active: false })
  assert.equal((await ada.post(`${path}/tests`, {})).location, `${path}?done=tested`)

  forge.clock.advance(25 * 3_600_000)
  assert.match(await page(), /No deliveries in the last 24 hours/)
  forge.clock.advance(31 * 86_400_000)
  assert.match((await (await signedIn(forge, 'ada')).get(repository)).text, /Nothing sent for 30 days/)
})

test('deliveries of an organization name their repository', async () => {
  await using forge = await openTargets()
  const ada = await signedIn(forge, 'ada')
  const hook = await hookOn(forge.ada, 'orgs/acme', 'issues')
  await expect(201, await forge.ada.post('/orgs/acme/repos', { name: 'site' }))
  await expect(201, await forge.ada.post('/repos/acme/site/issues', { title: 'Broken link' }))
  await settle(forge, hook)
  const { text } = await ada.get(`${organization}/${hook.id}`)
  assert.match(text, /issues\.opened<\/a> <span class="muted">acme\/site</)
  assert.equal(text.includes('Send the latest push'), false)
  const again = /href="([^"]*deliveries\/\d+)"/.exec(text)?.[1] ?? ''
  assert.equal((await ada.post(`${again}/attempts`, {})).location, `${organization}/${hook.id}?done=again`)

  // The new name is hidden from visitors who may not see the repository.
  await handOver(forge.ada, '/repos/acme/site', forge.cy, { new_name: 'hidden' })
  await forge.cy.patch('/repos/cy/hidden', { private: true })
  assert.equal((await ada.get(`${organization}/${hook.id}`)).text.includes('cy/hidden'), false)
})

test('postponed deliveries show until when', async () => {
  await using forge = await openTargets()
  const ada = await signedIn(forge, 'ada')
  const hooks = '/repos/ada/engine/hooks'
  const config = { url: 'https://hooks.example/' }
  const hook = await expect(201, await forge.ada.post(hooks, { config, events: ['label'] }))
  const down = { status: 'failed to connect to host', status_code: 502, response_headers: null, response_body: null }
  await settle(forge, hook, down)
  for (let round = 0; round < 14; round++) await pinged(forge, forge.ada, hooks, hook, down)
  // Not a ping, because a ping would clear the throttle.
  await expect(201, await forge.ada.post('/repos/ada/engine/labels', { name: 'late' }))
  const { db } = forge.belfry
  await db.query(sql`update pending_deliveries set throttled_at = ${db.now} where hook_id = ${hook.id}`)
  const { text } = await ada.get(`${repository}/${hook.id}`)
  assert.match(text, /Postponed until <time datetime="2026-02-03T04:05:\d/)
  assert.match(text, /failed 15 times in a row/)
  assert.match(text, /<dt>Pending<\/dt><dd>1 <span class="part">1 postponed/)
  assert.match((await ada.get(repository)).text, /Postponed until/)
  const [delivery] = await forge.ada.read(`${hooks}/${hook.id}/deliveries`)
  assert.match(
    (await ada.get(`${repository}/${hook.id}/deliveries/${delivery.id}`)).text,
    /There was no response: failed to connect to host/,
  )
  forge.clock.advance(3_600_000)
  assert.equal((await ada.get(repository)).text.includes('Postponed until'), false)
})

test('a webhook is diagnosed step by step', async () => {
  await using forge = await openTargets()
  await using receiver = await openReceiver((response) => response.writeHead(receiver.received.length > 1 ? 500 : 200).end('ok'))
  const ada = await signedIn(forge, 'ada')
  const { id } = await expect(201, await forge.ada.post('/repos/ada/engine/hooks', { config: { url: receiver.url, secret } }))
  const path = `${repository}/${id}/diagnose`
  const well = await ada.fillAndFollow(path, {})
  assert.match(well.text, /All steps passed\./)
  assert.match(well.text, /Response passed/)
  assert.match(well.text, /TLS skipped/)
  const bad = await ada.postAndFollow(path, {})
  assert.match(bad.text, /Failed step: Response\./)
  assert.match(bad.text, /Response failed<\/strong> <span>Response: 500/)
  assert.equal(receiver.received.length, 2)
  assert.equal(bad.text.includes(secret), false)
})

test('the stream of a page ends when the visitor loses access', async () => {
  await using forge = await openTargets()
  const hook = await hookOn(forge.ada, 'repos/ada/engine', 'push')
  const ada = await signedIn(forge, 'ada')
  await using stream = await listenAs(forge, ada, `${repository}/${hook.id}/stream`)
  assert.equal(stream.answer.status, 200)
  await expect(204, await forge.ada.post(`/repos/ada/engine/hooks/${hook.id}/pings`))
  assert.deepEqual(await stream.until(1), [{}])
  await expect(204, await forge.ada.delete(`/repos/ada/engine/hooks/${hook.id}`))
  await stream.ended
})
