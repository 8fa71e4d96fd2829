import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { subscribe } from '#test/feeds.ts'
import { type Client, expect, injecting } from '#test/forge.ts'
import { openWithPull, pull } from '#test/reviews.ts'

const inject = injecting(openWithPull)

interface Told {
  type: string
  actor: { login: string }
  payload: { action: string; pull_request: { number: number }; review?: { state: string }; comment?: { body: string } }
}

/** Review events of a timeline, newest first. */
async function told(who: Client, path = `${engine}/events`) {
  const events = ((await who.read(path)) as Told[]).filter(({ type }) => type.startsWith('PullRequestReview'))
  return events.map(({ type, actor, payload: { action, pull_request, review, comment } }) =>
    [actor.login, type, action, pull_request.number, review?.state, comment?.body].filter(Boolean).join(' '),
  )
}

const say = async (who: Client, body: string, forge: { head: string }) =>
  expect(201, await who.post(`${pull}/comments`, { body, path: 'mill.txt', line: 2, commit_id: forge.head }))

test('reviews and single comments are in every timeline that they belong to, until they are deleted', inject(async (forge) => {
  const { ada, ben, dan, nobody } = forge
  const comments = [{ path: 'mill.txt', line: 2, body: 'x' }]
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'REQUEST_CHANGES', body: 'Finer', comments }))
  const { url } = await say(dan, 'Hm', forge)
  const all = ['dan PullRequestReviewCommentEvent created 1 Hm', 'ada PullRequestReviewEvent created 1 CHANGES_REQUESTED']
  for (const [anyone, asBen] of [
    [nobody, ben],
    [forge.nobodyVersioned, ben.versioned],
  ] as const) {
    assert.deepEqual(await told(anyone), all)
    assert.deepEqual(await told(anyone, '/networks/ada/engine/events'), all)
    assert.deepEqual(await told(anyone, '/users/dan/events/public'), all.slice(0, 1))
    assert.deepEqual(await told(asBen, '/users/ben/received_events'), all)
  }
  await expect(204, await dan.delete(url))
  assert.deepEqual(await told(nobody), all.slice(1))
  await expect(200, await ada.patch(engine, { private: true }))
  assert.deepEqual(await told(ada), all.slice(1))
  assert.deepEqual(await told(dan, '/users/ada/events'), [])
}))

test('a review without a body leaves timelines with its last comment', inject(async ({ ada, nobody }) => {
  const comments = [{ path: 'mill.txt', line: 2, body: 'x' }]
  const { id } = await expect(200, await ada.post(`${pull}/reviews`, { event: 'COMMENT', comments }))
  assert.equal((await told(nobody)).length, 1)
  const [comment] = await ada.read(`${pull}/reviews/${id}/comments`)
  await expect(204, await ada.delete(comment.url))
  assert.deepEqual(await told(nobody), [])
}))

test('feeds describe review events in words', inject(async ({ forge, ada }) => {
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'COMMENT', body: 'Hm & <b>' }))
  await expect(200, await ada.post(`${pull}/reviews`, { event: 'REQUEST_CHANGES', body: 'Finer' }))
  const { id } = await expect(200, await ada.post(`${pull}/reviews`, { event: 'APPROVE' }))
  const comment = await say(ada, 'Why?', forge)
  const { titles, text } = await subscribe(`${forge.web}/ada.atom`)
  assert.deepEqual(titles.slice(0, 4), [
    'ada commented on mill.txt in pull request #1 in ada/engine',
    'ada approved pull request #1 in ada/engine',
    'ada asked for changes to pull request #1 in ada/engine',
    'ada reviewed pull request #1 in ada/engine',
  ])
  for (const href of [comment.html_url, `${forge.web}/ada/engine/pull/1#pullrequestreview-${id}`]) {
    assert.ok(text.includes(`href="${href}"`), href)
  }
  assert.ok(text.includes('Hm &amp;amp; &amp;lt;b&amp;gt;'), 'escaped twice: once as HTML, once as XML')
}))
