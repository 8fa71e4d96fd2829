import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { until } from '#test/machine.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'

const { forge, db, ada, hookTo, ping } = await shareEngine({ worker: true })

interface Hook {
  id: number
  deliveries_url: string
}

/** A throttled hook with one postponed delivery. */
async function openHeld(url: string): Promise<Hook> {
  const hook = await hookTo(url, {}, ['label'])
  await delivered(ada, hook)
  const later = new Date(forge.clock.now().getTime() + 600_000)
  await db.query(sql`update hooks set failures = 20, throttled_until = ${later} where id = ${hook.id}`)
  await expect(201, await ada.post('/repos/ada/engine/labels', { name: `of hook ${hook.id}` }))
  await until('the delivery is postponed', async () => (await held(hook)).length === 1).catch(async (error) => {
    throw new Error(`${error.message}: ${await stateOf(hook)}`)
  })
  return hook
}

/** What a failure needs to be understood: this has failed once in a hundred runs of the whole suite, and never alone. */
async function stateOf({ id }: Hook) {
  const state = {
    hook: await db.rows(sql`select failures, throttled_until, active, last_delivered_at from hooks where id = ${id}`),
    pending: await db.rows(sql`select id, event, sender, ready_at, throttled_at from pending_deliveries where hook_id = ${id}`),
    deliveries: await db.rows(sql`select id, event, status, throttled_at from deliveries where hook_id = ${id}`),
    senders: await db.rows(sql`select number from senders`),
    now: forge.clock.now(),
    logged: forge.logged.slice(-20),
  }
  return JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? Number(value) : value))
}

const held = ({ id }: Hook) =>
  db.rows(sql`select id from pending_deliveries where hook_id = ${id} and throttled_at is not null and sender is null`)
const isHeld = async ({ id }: Hook) =>
  (await db.first<{ held: boolean }>(sql`select throttled_until is not null as held from hooks where id = ${id}`))?.held === true
/** The received events in order, once so many deliveries are recorded. */
async function cameTo({ received }: Receiver, hook: Hook, count: number) {
  await delivered(ada, hook, count)
  return received.map(({ headers }) => headers['x-service-event'])
}
type Receiver = Awaited<ReturnType<typeof openReceiver>>

test('a ping is sent at once to a throttled receiver; if it fails too, the throttle continues', async () => {
  let status = 200
  await using receiver = await openReceiver((response) => response.writeHead(status).end())
  const hook = await openHeld(receiver.url)
  status = 500
  await ping(hook)
  assert.deepEqual(await cameTo(receiver, hook, 2), ['ping', 'ping'])
  await until('it is held again', () => isHeld(hook))
  assert.equal((await held(hook)).length, 1)

  // The receiver has recovered, so postponed deliveries follow the trial.
  status = 200
  await ping(hook)
  assert.deepEqual(await cameTo(receiver, hook, 4), ['ping', 'ping', 'ping', 'label'])
})

test('a redelivery is sent at once, and postponed deliveries follow', async () => {
  await using receiver = await openReceiver()
  const hook = await openHeld(receiver.url)
  const [first] = await delivered(ada, hook)
  await expect(202, await ada.post(`${hooks}/${hook.id}/deliveries/${first.id}/attempts`))
  assert.deepEqual(await cameTo(receiver, hook, 3), ['ping', 'ping', 'label'])
})

test('a successful diagnosis sends postponed deliveries, and a failed one does not', async () => {
  let status = 200
  await using receiver = await openReceiver((response) => response.writeHead(status).end())
  const hook = await openHeld(receiver.url)
  status = 500
  assert.equal((await expect(200, await ada.post(`${hooks}/${hook.id}/diagnose`))).ok, false)
  assert.deepEqual([await isHeld(hook), (await held(hook)).length], [true, 1])
  status = 200
  assert.equal((await expect(200, await ada.post(`${hooks}/${hook.id}/diagnose`))).ok, true)
  assert.deepEqual(await cameTo(receiver, hook, 2), ['ping', 'ping', 'ping', 'label'])
})

test('postponed deliveries are resumed by the API and by a button, for users who may change the hook', async () => {
  await using receiver = await openReceiver()
  const hook = await openHeld(receiver.url)
  const reader = await forge.tokenFor('ada', ['read:repo_hook'])
  await expect(403, await reader.post(`${hooks}/${hook.id}/resume`))
  await expect(404, await (await forge.person('ben')).post(`${hooks}/${hook.id}/resume`))
  assert.equal((await held(hook)).length, 1)
  await expect(204, await ada.post(`${hooks}/${hook.id}/resume`))
  assert.deepEqual(await cameTo(receiver, hook, 2), ['ping', 'label'])
  // Resuming again changes nothing.
  await expect(204, await ada.post(`${hooks}/${hook.id}/resume`))

  await using another = await openReceiver()
  const other = await openHeld(another.url)
  const guest = await signedIn(forge, 'ada')
  const page = `/ada/engine/settings/hooks/${other.id}`
  assert.match((await guest.get(page)).text, /Postponed until[\s\S]*Resume now/)
  assert.equal((await guest.post(`${page}/resume`, {})).location, `${page}?done=resumed`)
  assert.deepEqual(await cameTo(another, other, 2), ['ping', 'label'])
  assert.doesNotMatch((await guest.get(page)).text, /Resume now/)
})
