import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Person } from '#test/forge.ts'
import { type Place, shareGuild } from '#test/guild.ts'
import { octokitsOf } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan } = forge
await expect(201, await ada.post('/orgs/guild/teams', { name: 'millers', privacy: 'closed' }))
await expect(200, await ada.put('/orgs/guild/teams/millers/memberships/ben', {}))

/** Ben participates in cy's issue and has read his thread. */
async function openConversation(options: Record<string, unknown> = {}) {
  const place = await forge.place(options)
  const number = await place.open(cy, { body: 'Look, @ben' })
  const { id } = await place.thread(ben)
  const own = `/notifications/threads/${id}`
  await expect(205, await ben.patch(own))
  return { ...place, number, subscription: `${own}/subscription`, news: () => place.inbox(ben, '') }
}

const joining: Record<string, (place: Place) => Promise<number>> = {
  author: (place) => place.open(ben),
  comment: async (place) => {
    const number = await place.open(cy)
    await place.say(ben, number)
    return number
  },
  assign: (place) => place.open(cy).then((number) => assign(place, number)),
  mention: (place) => place.open(cy, { body: '@ben' }),
  team_mention: (place) => place.open(cy, { body: '@guild/millers' }),
  state_change: async (place) => {
    await expect(204, await ada.put(`/orgs/guild/teams/millers/repos/guild/${place.repo.repo}`, { permission: 'triage' }))
    const number = await place.open(cy)
    await expect(200, await ben.patch(`${place.path}/issues/${number}`, { state: 'closed' }))
    return number
  },
}

async function assign(place: Place, number: number) {
  await expect(201, await ada.post(`${place.path}/issues/${number}/assignees`, { assignees: ['ben'] }))
  return number
}

for (const [reason, act] of Object.entries(joining)) {
  test(`${reason}: the user is subscribed from then on`, async () => {
    const place = await forge.place()
    const number = await act(place)
    await place.say(ada, number)
    assert.deepEqual(await place.inbox(ben), [`It rattles: ${reason}`])
    const { id } = await place.thread(ben)
    const { subscribed, ignored, reason: why } = await ben.read(`/notifications/threads/${id}/subscription`)
    assert.deepEqual({ subscribed, ignored, why }, { subscribed: true, ignored: false, why: reason })
  })
}

test('manual: a user who subscribes is notified from then on, also without watching', async () => {
  const place = await forge.place()
  await place.watch(ben)
  const number = await place.open(cy)
  const { id } = await place.thread(ben)
  await expect(200, await ben.put(`/notifications/threads/${id}/subscription`))
  await expect(204, await ben.delete(`${place.path}/subscription`))
  await place.say(ada, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: manual'])
})

test('a thread that is only watched has a subscription, which ends with the watch', async () => {
  const place = await forge.place()
  await place.open(cy)
  const { id } = await place.thread(ada)
  const own = `/notifications/threads/${id}/subscription`
  const { subscribed, ignored, reason, created_at } = await ada.read(own)
  assert.deepEqual({ subscribed, ignored, reason }, { subscribed: true, ignored: false, reason: 'subscribed' })
  assert.equal(created_at, (await ada.read(`${place.path}/subscription`)).created_at)
  await expect(204, await ada.delete(own))
  assert.equal((await ada.read(own)).subscribed, true, 'notifications still arrive')
  await expect(204, await ada.delete(`${place.path}/subscription`))
  assert.equal((await ada.read(own)).subscribed, false)
  await expect(200, await ada.put(own))
  await expect(204, await ada.delete(own))
  assert.equal((await ada.get(own)).status, 404, 'the subscription was deleted')
})

test('octokit subscribes, ignores and unsubscribes, and reads the subscription', async () => {
  const place = await forge.place()
  await place.open(cy, { body: '@ben' })
  const { id } = await place.thread(ben)
  const thread_id = Number(id)
  for (const { rest, request } of octokitsOf(forge, ben)) {
    const address = `${request.endpoint.DEFAULTS.baseUrl}/notifications/threads/${id}`
    const common = { created_at: '2026-02-03T04:05:06Z', url: `${address}/subscription`, thread_url: address }
    const ignored = await rest.activity.setThreadSubscription({ thread_id, ignored: true })
    assert.equal(ignored.status, 200)
    assert.deepEqual(ignored.data, { subscribed: false, ignored: true, reason: null, ...common })
    const found = await rest.activity.getThreadSubscriptionForAuthenticatedUser({ thread_id })
    assert.deepEqual(found.data, ignored.data)
    const { data } = await rest.activity.setThreadSubscription({ thread_id })
    assert.deepEqual(data, { subscribed: true, ignored: false, reason: 'mention', ...common })
    assert.equal((await rest.activity.deleteThreadSubscription({ thread_id })).status, 204)
    assert.equal((await rest.activity.deleteThreadSubscription({ thread_id })).status, 204)
    await assert.rejects(rest.activity.getThreadSubscriptionForAuthenticatedUser({ thread_id }), { status: 404 })
  }
})

test('from any state to ignored: no more notifications, not even for watchers', async () => {
  for (const before of ['none', 'subscribed', 'muted', 'ignored']) {
    const place = await forge.place()
    if (before !== 'none') await place.watch(ben)
    const number = await place.open(cy, { body: before === 'none' ? '@ben' : 'Hm' })
    const own = `/notifications/threads/${(await place.thread(ben)).id}`
    if (before === 'subscribed' || before === 'muted') await expect(200, await ben.put(`${own}/subscription`))
    if (before === 'muted') await expect(204, await ben.delete(`${own}/subscription`))
    if (before === 'ignored') await expect(200, await ben.put(`${own}/subscription`, { ignored: true }))
    await expect(200, await ben.put(`${own}/subscription`, { ignored: true }))
    await expect(205, await ben.patch(own))
    await place.say(cy, number)
    await expect(200, await ada.patch(`${place.path}/issues/${number}`, { state: 'closed' }))
    assert.deepEqual(await place.inbox(ben, ''), [], before)
  }
})

test('from ignored to subscribed', async () => {
  const { subscription, number, say, news } = await openConversation()
  await expect(200, await ben.put(subscription, { ignored: true }))
  await say(cy, number)
  assert.deepEqual(await news(), [])
  await expect(200, await ben.put(subscription, { ignored: false }))
  await say(cy, number)
  assert.deepEqual(await news(), ['It rattles: mention'])
})

test('from subscribed to muted', async () => {
  const { subscription, number, say, news } = await openConversation()
  await expect(204, await ben.delete(subscription))
  await say(cy, number)
  assert.deepEqual(await news(), [])
  assert.equal((await ben.get(subscription)).status, 404)
})

test('watchers are still notified of a thread they left', async () => {
  const { subscription, number, say, news, watch } = await openConversation()
  await watch(ben)
  await expect(204, await ben.delete(subscription))
  await say(cy, number)
  assert.deepEqual(await news(), ['It rattles: mention'])
  assert.partialDeepStrictEqual(await ben.read(subscription), { subscribed: true, reason: 'subscribed' })
})

const silences: [string, (path: string) => Promise<Response>][] = [
  ['muted', (path) => ben.delete(path)],
  ['ignored', (path) => ben.put(path, { ignored: true })],
]
for (const [state, silence] of silences) {
  test(`from ${state} to subscribed by commenting`, async () => {
    const { subscription, number, say, news } = await openConversation()
    await silence(subscription)
    await say(ben, number)
    await say(cy, number)
    assert.deepEqual(await news(), ['It rattles: mention'])
    assert.equal((await ben.read(subscription)).subscribed, true)
  })

  test(`from ${state} to subscribed by a mention, also in an edit`, async () => {
    const { subscription, number, say, news, path } = await openConversation()
    const said = await say(cy, number, 'Well')
    await news()
    await silence(subscription)
    await expect(205, await ben.patch(subscription.replace('/subscription', '')))
    await expect(200, await cy.patch(`${path}/issues/comments/${said}`, { body: 'Well, @ben?' }))
    assert.deepEqual(await news(), ['It rattles: mention'])
    await expect(205, await ben.patch(subscription.replace('/subscription', '')))
    await say(cy, number)
    assert.deepEqual(await news(), ['It rattles: mention'])
  })

  test(`in state ${state}, an assignment or a team mention does not notify`, async () => {
    const conversation = await openConversation()
    const { subscription, number, say, news } = conversation
    await silence(subscription)
    await assign(conversation, number)
    await say(cy, number, '@guild/millers')
    assert.deepEqual(await news(), [])
  })
}

test('in state muted, a watcher is notified of an assignment with its reason', async () => {
  const conversation = await openConversation()
  const { subscription, number, news, watch } = conversation
  await watch(ben)
  await expect(204, await ben.delete(subscription))
  await assign(conversation, number)
  assert.deepEqual(await news(), ['It rattles: assign'])
  assert.partialDeepStrictEqual(await ben.read(subscription), { subscribed: true, reason: 'subscribed' })
})

test('an ignored repository sends no notifications, not even mentions', async () => {
  const conversation = await openConversation()
  const { number, say, news, path, open } = conversation
  await expect(200, await ben.put(`${path}/subscription`, { ignored: true }))
  await say(cy, number, '@ben, @guild/millers')
  await assign(conversation, number)
  await open(cy, { title: 'Another', body: '@ben' })
  assert.deepEqual(await news(), [])
  await expect(204, await ben.delete(`${path}/subscription`))
  await say(cy, number)
  assert.deepEqual(await news(), ['It rattles: mention'])
})

test('subscriptions to unknown or malformed threads, or threads of others, are 404', async () => {
  const { subscription } = await openConversation()
  const visits = (who: Person, path: string) => [who.get(path), who.put(path, { ignored: true }), who.delete(path)]
  for (const answer of await Promise.all(visits(dan, subscription))) assert.equal(answer.status, 404)
  for (const junk of ['0', '999999', '-1', '1.5', 'x', '1%00', '99999999999999999999']) {
    for (const answer of await Promise.all(visits(ben, `/notifications/threads/${junk}/subscription`))) {
      assert.equal(answer.status, 404, junk)
    }
  }
  for (const body of [{ ignored: 'yes' }, { ignored: null }, { ignored: 1 }]) {
    assert.equal((await ben.put(subscription, body)).status, 422, JSON.stringify(body))
  }
  assert.equal((await ben.put(subscription, '{')).status, 400)
})
