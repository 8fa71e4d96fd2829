import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'
import { listenAs } from '#test/streams.ts'

const version = (text: string) => /data-live="(\w+)"/.exec(text)?.[1]

test('a stream names another version after each change of a conversation, until the visitor loses access', async () => {
  await using forge = await openWithTopic()
  await forge.propose()
  await forge.open({ title: 'Another' })
  const ben = await signedIn(forge, 'ben')
  const shown = version((await ben.get('/ada/engine/pull/1')).text)
  await using stream = await listenAs(forge, ben, '/ada/engine/issues/1/stream')
  const [first] = await stream.until(1)
  assert.equal(first.version, shown)
  assert.equal(version((await ben.get('/ada/engine/pull/1/files')).text), shown)
  const onLine = { path: 'notes.txt', line: 1, commit_id: forge.topic, body: 'Hm' }
  const resolve = async (resolved: string) => {
    const [{ id }] = await forge.ada.read(`${engine}/pulls/1/comments`)
    return { ok: (await ben.post(`/ada/engine/pull/1/threads/${id}/resolution`, { resolved })).status === 303 }
  }
  const comment = async () => (await forge.ada.read(`${engine}/issues/1/comments`))[0].id
  const reaction = async () => (await forge.ada.read(`${engine}/issues/comments/${await comment()}/reactions`))[0].id
  const changes = [
    () => forge.ada.post(`${engine}/issues/1/comments`, { body: 'Hm' }),
    () => forge.ada.post(`${engine}/issues/1/labels`, { labels: ['odd'] }),
    () => forge.ada.post(`${engine}/statuses/${forge.topic}`, { state: 'success' }),
    () => forge.ada.post(`${engine}/pulls/1/reviews`, { event: 'COMMENT', body: 'Fine' }),
    () => forge.ada.post(`${engine}/pulls/1/comments`, onLine),
    () => resolve('yes'),
    () => resolve('no'),
    () => forge.ada.post(`${engine}/issues/1/reactions`, { content: 'heart' }),
    async () => forge.ada.post(`${engine}/issues/comments/${await comment()}/reactions`, { content: 'rocket' }),
    async () => forge.ada.delete(`${engine}/issues/comments/${await comment()}/reactions/${await reaction()}`),
  ]
  for (const [index, change] of changes.entries()) {
    assert.ok((await change()).ok)
    await stream.until(index + 2)
  }
  const last = version((await ben.get('/ada/engine/pull/1')).text)
  await expect(201, await forge.ada.post(`${engine}/issues/2/comments`, { body: 'Elsewhere' }))
  await expect(200, await forge.ada.post(`${engine}/pulls/1/reviews`, { body: 'Not sent yet' }))
  assert.equal(
    version((await ben.get('/ada/engine/pull/1')).text),
    last,
    'other conversations and pending reviews change nothing',
  )

  await expect(200, await forge.ada.patch(engine, { private: true }))
  await expect(204, await forge.ada.delete(`${engine}/collaborators/ben`))
  await stream.ended
  assert.equal((await ben.get('/ada/engine/issues/1/stream')).status, 404)
  assert.equal((await ben.get('/ada/engine/issues/9/stream')).status, 404)
})
