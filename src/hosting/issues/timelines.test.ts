import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { subscribe } from '#test/feeds.ts'
import { type Client, expect, injecting } from '#test/forge.ts'

const inject = injecting(openWithEngine)

interface Told {
  type: string
  actor: { login: string }
  payload: {
    action: string
    issue: { number: number; title: string }
    assignee?: { login: string }
    label?: { name: string }
    comment?: { body: string }
  }
}

/** Conversation events of a timeline, newest first. */
async function told(who: Client, path: string) {
  const events = ((await who.read(path)) as Told[]).filter(({ type }) => type.startsWith('Issue'))
  return events.map(({ type, actor, payload: { action, issue, assignee, label, comment } }) =>
    [actor.login, type, action, issue.number, assignee?.login, label?.name, comment?.body].filter(Boolean).join(' '),
  )
}

test('issue events are in every timeline that they belong to, on both variants', inject(async (forge) => {
  const { ada, ben, dan, nobody } = forge
  await forge.open({ labels: ['bug'], assignees: ['ben'] }, ada)
  await expect(201, await dan.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  await expect(200, await ben.patch(`${engine}/issues/1`, { state: 'closed', title: 'Fire' }))
  const all = [
    'ben IssuesEvent closed 1',
    'dan IssueCommentEvent created 1 Hm',
    'ada IssuesEvent labeled 1 bug',
    'ada IssuesEvent assigned 1 ben',
    'ada IssuesEvent opened 1',
  ]
  const by = (login: string) => all.filter((line) => line.startsWith(login))
  for (const [anyone, asBen] of [
    [nobody, ben],
    [forge.nobodyVersioned, ben.versioned],
  ] as const) {
    assert.deepEqual(await told(anyone, `${engine}/events`), all)
    assert.deepEqual(await told(anyone, '/networks/ada/engine/events'), all)
    assert.deepEqual(await told(anyone, '/users/dan/events/public'), by('dan'))
    assert.deepEqual(await told(asBen, '/users/ben/received_events'), all)
  }
}))

test('events of a private repository stay private when it is made public', inject(async ({ ada, ben, dan, open }) => {
  await expect(200, await ada.patch(engine, { private: true }))
  await open()
  await expect(201, await ben.post(`${engine}/issues/1/comments`, { body: 'Hush' }))
  assert.equal((await told(ben, `${engine}/events`)).length, 2)
  assert.equal((await told(ada, '/users/ada/events')).length, 1)
  for (const path of ['/users/ada/events', '/users/ben/events', '/users/ben/events/public']) {
    assert.deepEqual(await told(dan, path), [], path)
  }
  await expect(200, await ada.patch(engine, { private: false }))
  assert.deepEqual(await told(dan, `${engine}/events`), [])
  assert.equal((await told(ben, `${engine}/events`)).length, 2)
}))

test('a deleted comment removes its event; a deleted label stays in the events that name it', inject(async (forge) => {
  const { ada, dan, nobody } = forge
  await forge.open({ labels: ['bug'] })
  const { url } = await expect(201, await dan.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  assert.equal((await told(nobody, `${engine}/events`)).length, 3)
  await expect(204, await dan.delete(url))
  await expect(204, await ada.delete(`${engine}/labels/bug`))
  assert.deepEqual(await told(nobody, `${engine}/events`), ['ada IssuesEvent labeled 1 bug', 'ada IssuesEvent opened 1'])
  await expect(204, await forge.admin.put('/users/ada/suspended'))
  assert.deepEqual(await told(nobody, `${engine}/events`), [])
}))

test('feeds describe issue events in words', inject(async ({ ada, open, web }) => {
  await open({ title: 'Smoke & <fire>', labels: ['bug'], assignees: ['ben'] })
  await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: '**Look** out\u0007' }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { state: 'closed', labels: [], assignees: [] }))
  await expect(200, await ada.patch(`${engine}/issues/1`, { state: 'open' }))
  const { titles, text } = await subscribe(`${web}/ada.atom`)
  assert.deepEqual(titles.slice(0, 8), [
    'ada reopened issue #1 in ada/engine',
    'ada removed the label bug from issue #1 in ada/engine',
    'ada took ben off issue #1 in ada/engine',
    'ada closed issue #1 in ada/engine',
    'ada commented on issue #1 in ada/engine',
    'ada added the label bug to issue #1 in ada/engine',
    'ada assigned ben to issue #1 in ada/engine',
    'ada opened issue #1 in ada/engine',
  ])
  assert.match(text, new RegExp(`href="${web}/ada/engine/issues/1#issuecomment-\\d+"`))
  assert.ok(text.includes('Smoke &amp;amp; &amp;lt;fire&amp;gt;'), 'escaped twice: once as HTML, once as XML')
}))
