import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { engine } from '#test/conversations.ts'
import { expect, pick } from '#test/forge.ts'
import { inboxOf, told } from '#test/inbox.ts'
import { openWithTopic } from '#test/pulls.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'

test('a push travels to a timeline, a feed, an inbox and a signed delivery', async () => {
  await using forge = await openWithTopic({ worker: true })
  await using receiver = await openReceiver()
  const { ada, ben, nobody, work } = forge
  await expect(200, await ben.put('/repos/ada/engine/subscription', { subscribed: true }))
  await forge.propose()
  await told(forge)
  await expect(205, await ben.put('/notifications', {}))
  const config = { url: receiver.url, content_type: 'json', secret: 'told to nobody' }
  const hook = await expect(201, await ada.post(`${engine}/hooks`, { config, events: ['push', 'pull_request'] }))

  forge.clock.advance(60_000)
  const sha = await work.commit('Mend the notes', { 'notes.txt': 'A better note.\n' })
  await work.push('topic')
  await told(forge)

  const [event] = await nobody.read(`${engine}/events`)
  assert.deepEqual([event.type, event.actor.login, event.payload.head], ['PushEvent', 'ada', sha])
  assert.match(await (await fetch(`${forge.web}/ada.atom`)).text(), /Mend the notes/)
  assert.deepEqual(await inboxOf(ben), ['Notes: subscribed'])

  await receiver.first(3)
  const [ping, push, pull] = receiver.received
  assert.deepEqual([ping, push, pull].map((one) => one?.headers['x-github-event']).toSorted(), ['ping', 'pull_request', 'push'])
  for (const { body, headers } of receiver.received) {
    assert.ok(await verify('told to nobody', body.toString(), String(headers['x-hub-signature-256'])))
  }
  const pushed = receiver.received.find(({ headers }) => headers['x-github-event'] === 'push')?.json
  assert.deepEqual([pushed.after, pushed.pusher.name, pushed.commits[0].modified], [sha, 'ada', ['notes.txt']])
  const moved = receiver.received.find(({ headers }) => headers['x-github-event'] === 'pull_request')?.json
  assert.deepEqual([moved.action, moved.after, moved.pull_request.head.sha], ['synchronize', sha, sha])
  assert.deepEqual(pick(await delivered(ada, hook, 3), 'status'), ['OK', 'OK', 'OK'])
})
