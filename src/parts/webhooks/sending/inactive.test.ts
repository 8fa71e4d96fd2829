import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { asApp, registerApp } from '#test/apps.ts'
import { expect } from '#test/forge.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { until } from '#test/machine.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'

const { forge, ada, db } = await shareEngine({ worker: true })
const notSent = 'the webhook became inactive before this was sent'

let made = 0

/** A receiver that responds once the test says so, and a hook whose ping is answered. */
async function openHeld(person = ada, path = '/repos/ada/engine') {
  const held: (() => void)[] = []
  let open = true
  const receiver = await openReceiver((response) => (open ? response.end('ok') : held.push(() => response.end('ok'))))
  const hook = await expect(201, await person.post(`${path}/hooks`, { config: { url: receiver.url }, events: ['label'] }))
  await delivered(ada, hook)
  open = false
  const label = async (count: number) => {
    for (let n = 0; n < count; n++) await expect(201, await ada.post(`${path}/labels`, { name: `label ${++made}` }))
  }
  const release = () => {
    open = true
    for (const answer of held.splice(0)) answer()
  }
  return Object.assign(receiver, { hook, label, release })
}

const statuses = async (hook: { deliveries_url: string }, count: number) =>
  Object.entries(Object.groupBy(await delivered(ada, hook, count), ({ status }) => status)).map(([status, of]) => [
    status,
    of?.length,
  ])

test('deliveries that a sender has queued are not sent once the hook is inactive, and are recorded', async () => {
  await using held = await openHeld()
  const { hook, label, received, release } = held
  await label(14)
  await until('ten are in flight', () => received.length === 11)
  await expect(200, await ada.patch(`${hooks}/${hook.id}`, { active: false }))
  const before = await ada.read(`${hooks}/${hook.id}`)
  release()
  assert.deepEqual((await statuses(hook, 15)).toSorted(), [
    ['OK', 11],
    [notSent, 4],
  ])
  assert.equal(received.length, 11)
  assert.deepEqual(await db.rows(sql`select from pending_deliveries where hook_id = ${hook.id}`), [])
  const { last_response } = await ada.read(`${hooks}/${hook.id}`)
  assert.deepEqual(last_response, before.last_response, 'no receiver failed')

  const failed = await ada.read(`${hook.deliveries_url}?status=failure`)
  assert.deepEqual([failed.length, failed[0].status_code, failed[0].duration], [4, 409, 0])
  await expect(202, await ada.post(`${hook.deliveries_url}/${failed[0].id}/attempts`))
  await held.first(12)
  assert.equal(received.at(-1)?.json.action, 'created', 'a redelivery that is requested is sent')
})

test('postponed deliveries are recorded as not sent as soon as the creator of the hook loses access', async () => {
  const ben = await forge.person('ben')
  await ada.owns('mill', { private: true })
  const { id } = await expect(201, await ada.put('/repos/ada/mill/collaborators/ben', { permission: 'admin' }))
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  await using held = await openHeld(ben, '/repos/ada/mill')
  const { hook, label, received } = held
  const later = new Date(forge.clock.now().getTime() + 600_000)
  await db.query(sql`update hooks set failures = 20, throttled_until = ${later} where id = ${hook.id}`)
  await label(3)
  await expect(204, await ada.delete('/repos/ada/mill/collaborators/ben'))
  assert.deepEqual((await statuses(hook, 4)).toSorted(), [
    ['OK', 1],
    [notSent, 3],
  ])
  assert.equal(received.length, 1)
  held.release()
  await expect(204, await ada.post(`/repos/ada/mill/hooks/${hook.id}/pings`))
  await held.first(2)
  assert.deepEqual((await statuses(hook, 5)).toSorted(), [
    ['OK', 2],
    [notSent, 3],
  ])
})

test('deliveries that a sender has queued for an app are dropped when its installation is suspended or ends', async () => {
  for (const end of ['suspended', 'deleted', 'without the repository'] as const) {
    const name = `tower-${++made}`
    const [{ id: repo_id }, { id: other }] = [await ada.owns(name), await ada.owns(`${name}-other`)]
    const held: (() => void)[] = []
    await using receiver = await openReceiver((response, { headers }) =>
      headers['x-github-event'] === 'label' ? held.push(() => response.end()) : response.end(),
    )
    const wanted = { hook_attributes: { url: receiver.url }, default_permissions: { issues: 'read' }, default_events: ['label'] }
    const app = await registerApp(ada, { ...wanted, name: `Helper ${made}` })
    const body = { app_slug: app.slug, repository_ids: [repo_id, other] }
    const { id } = await expect(201, await ada.post('/user/installations', body))
    await receiver.first(2)
    for (let n = 0; n < 12; n++) await expect(201, await ada.post(`/repos/ada/${name}/labels`, { name: `label ${n}` }))
    await until('ten are in flight', () => held.length === 10)
    if (end === 'suspended') await expect(204, await asApp(forge, app).put(`/app/installations/${id}/suspended`))
    else if (end === 'deleted') await expect(204, await ada.delete(`/user/installations/${id}`))
    else await expect(204, await ada.delete(`/user/installations/${id}/repositories/${repo_id}`))
    for (const answer of held) answer()
    const last = end === 'without the repository' ? 'installation_repositories' : 'installation'
    await until('the end is sent', () => receiver.received.at(-1)?.headers['x-github-event'] === last)
    await until('nothing waits', async () => (await db.rows(sql`select from pending_deliveries`)).length === 0)
    assert.equal(held.length, 10, end)
    const recorded = await asApp(forge, app).read('/app/hook/deliveries?per_page=100')
    assert.equal(recorded.filter(({ event }: { event: string }) => event === 'label').length, 10)
  }
})
