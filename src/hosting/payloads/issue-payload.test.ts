import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, type Forge, injecting } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload, unneeded } from '#test/webhook-schemas.ts'
import { type Heard, heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithEngine)

/** The deliveries of an act, a line each: the event and the records it shows. Every payload matches the public schemas. */
async function told(forge: Forge, act: () => Promise<unknown>): Promise<string[]> {
  const news = await heardOf(forge, act)
  for (const { event, payload } of news) {
    checkPayload(event, payload)
    checkAddresses(forge, payload)
  }
  return news.map(lineOf)
}

function lineOf({ event, payload }: Heard) {
  const { action, label, assignee, milestone, changes, sender } = payload
  const named = label?.name ?? assignee?.login ?? milestone?.title
  const before = changes && Object.entries<{ from: string }>(changes).map(([name, { from }]) => `${name}<${from}>`)
  return [sender.login, event, action, ...(named ? [named] : []), ...(before ?? [])].join(' ')
}

/** Every URL in a payload is an address of this server. */
function checkAddresses({ web }: Forge, value: unknown, key = '') {
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) checkAddresses({ web } as Forge, inner, name)
  if (typeof value !== 'string' || !/(^|_)url$/.test(key)) return
  const { host, hostname } = new URL(web)
  const bases = [`${web}/`, `git://${host}/`, `git@${hostname}:`]
  assert.ok(bases.some((base) => value.startsWith(base)) && !value.includes('\0'), `${key}: ${value}`)
}

test('acts on an issue are delivered in order, and requests that change nothing deliver nothing', inject(async (forge) => {
  const { ada, ben, open } = forge
  await hookOn(ada, 'repos/ada/engine', '*')
  const issue = `${engine}/issues/1`
  const patch = (body: object, who = ada) => told(forge, async () => expect(200, await who.patch(issue, { ...body })))

  assert.deepEqual(await told(forge, async () => expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))), [
    'ada milestone created One',
  ])
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'Two' }))
  await open({ body: 'It smokes.', labels: ['hot'], assignees: ['ben', 'cy'], milestone: 1 }, ben)
  assert.deepEqual(
    await told(forge, () => open({ labels: ['hot', 'new', 'odd'], assignees: ['ben', 'cy'], milestone: 1 }, ben)),
    [
      'ben label created new',
      'ben label created odd',
      'ben issues opened',
      'ben issues milestoned One',
      'ben issues assigned ben',
      'ben issues assigned cy',
      'ben issues labeled hot',
      'ben issues labeled new',
      'ben issues labeled odd',
    ],
  )
  const whole = { title: 'Fire', body: null, labels: ['cold'], assignees: ['ada', 'cy'], milestone: 2, state: 'closed' }
  assert.deepEqual(await patch(whole), [
    'ada label created cold',
    'ada issues edited title<Smoke> body<It smokes.>',
    'ada issues demilestoned One',
    'ada issues milestoned Two',
    'ada issues unassigned ben',
    'ada issues assigned ada',
    'ada issues unlabeled hot',
    'ada issues labeled cold',
    'ada issues closed',
  ])
  assert.deepEqual(await patch(whole), [])
  assert.deepEqual(await patch({ state: 'open', title: ' Fire ' }), ['ada issues reopened'])
  assert.deepEqual(await patch({ body: 'Ash.' }, ben), ['ben issues edited body<>'])
  assert.deepEqual(await patch({ milestone: null }), ['ada issues demilestoned Two'])

  const act = (status: number, sent: () => Promise<Response>) => told(forge, async () => expect(status, await sent()))
  assert.deepEqual(await act(200, () => ada.post(`${issue}/labels`, { labels: ['cold', 'hot'] })), ['ada issues labeled hot'])
  assert.deepEqual(await act(200, () => ada.put(`${issue}/labels`, { labels: ['hot', 'new'] })), [
    'ada issues unlabeled cold',
    'ada issues labeled new',
  ])
  assert.deepEqual(await act(200, () => ada.delete(`${issue}/labels/hot`)), ['ada issues unlabeled hot'])
  assert.deepEqual(await act(204, () => ada.delete(`${issue}/labels`)), ['ada issues unlabeled new'])
  assert.deepEqual(await act(204, () => ada.delete(`${issue}/labels`)), [])
  assert.deepEqual(await act(201, () => ada.post(`${issue}/assignees`, { assignees: ['ben', 'cy'] })), [
    'ada issues assigned ben',
  ])
  assert.deepEqual(await act(200, () => ada.delete(`${issue}/assignees`, { assignees: ['ben', 'dan'] })), [
    'ada issues unassigned ben',
  ])
  assert.deepEqual(await act(204, () => ben.put(`${issue}/lock`, { lock_reason: 'too heated' })), ['ben issues locked'])
  assert.deepEqual(await act(204, () => ben.put(`${issue}/lock`, { lock_reason: 'spam' })), [])
  assert.deepEqual(await act(204, () => ben.delete(`${issue}/lock`)), ['ben issues unlocked'])
  assert.deepEqual(await act(204, () => ben.delete(`${issue}/lock`)), [])
}))

test('created, edited and deleted comments, labels and milestones are delivered', inject(async ({ forge, ada, ben, open }) => {
  await open()
  await hookOn(ada, 'repos/ada/engine', 'issue_comment', 'label', 'milestone')
  const act = (status: number, sent: () => Promise<Response>) => told(forge, async () => expect(status, await sent()))

  assert.deepEqual(await act(201, () => ben.post(`${engine}/issues/1/comments`, { body: 'Hm' })), ['ben issue_comment created'])
  const [{ id }] = await ada.read(`${engine}/issues/1/comments`)
  const comment = `${engine}/issues/comments/${id}`
  assert.deepEqual(await act(200, () => ada.patch(comment, { body: 'Ha' })), ['ada issue_comment edited body<Hm>'])
  assert.deepEqual(await act(200, () => ada.patch(comment, { body: 'Ha' })), [])
  const [deleted] = await heardOf(forge, async () => expect(204, await ben.delete(comment)))
  assert.deepEqual([deleted?.payload.action, deleted?.payload.comment.body], ['deleted', 'Ha'])

  assert.deepEqual(await act(201, () => ada.post(`${engine}/labels`, { name: 'hot' })), ['ada label created hot'])
  const looks = { new_name: 'warm', color: 'FF0000', description: 'Not cold' }
  assert.deepEqual(await act(200, () => ben.patch(`${engine}/labels/hot`, looks)), [
    'ben label edited warm name<hot> color<ededed> description<>',
  ])
  assert.deepEqual(await act(200, () => ben.patch(`${engine}/labels/warm`, looks)), [])
  assert.deepEqual(await act(204, () => ben.delete(`${engine}/labels/warm`)), ['ben label deleted warm'])

  const due = { title: 'One', due_on: '2026-03-01T00:00:00Z' }
  assert.deepEqual(await act(201, () => ada.post(`${engine}/milestones`, due)), ['ada milestone created One'])
  const change = (body: object) => act(200, () => ada.patch(`${engine}/milestones/1`, { ...body }))
  const all = { title: 'First', description: 'All of it', due_on: null, state: 'closed' }
  assert.deepEqual(await change(all), [
    'ada milestone edited First title<One> description<> due_on<2026-03-01T00:00:00Z>',
    'ada milestone closed First',
  ])
  assert.deepEqual(await change(all), [])
  assert.deepEqual(await change({ state: 'open' }), ['ada milestone opened First'])
  assert.deepEqual(await act(204, () => ada.delete(`${engine}/milestones/1`)), ['ada milestone deleted First'])
  assert.deepEqual(await act(201, () => ada.post(`${engine}/milestones`, { title: 'Past', state: 'closed' })), [
    'ada milestone created Past',
    'ada milestone closed Past',
  ])
  assert.deepEqual(unneeded('milestone created'), [])
}))

test('acts on a pull request are delivered as pull_request, and its comments show that the issue is one', async () => {
  await using forge = await openWithTopic()
  const { ada, ben } = forge
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  await forge.propose({ body: 'A note.' })
  await hookOn(ada, 'repos/ada/engine', '*')
  const issue = `${engine}/issues/1`
  const act = (status: number, sent: () => Promise<Response>) => told(forge, async () => expect(status, await sent()))

  const whole = { title: 'Note', body: 'One note.', labels: ['hot'], assignees: ['ben'], milestone: 1, state: 'closed' }
  assert.deepEqual(await act(200, () => ada.patch(issue, whole)), [
    'ada label created hot',
    'ada pull_request edited title<Notes> body<A note.>',
    'ada pull_request milestoned One',
    'ada pull_request assigned ben',
    'ada pull_request labeled hot',
    'ada pull_request closed',
  ])
  assert.deepEqual(await act(200, () => ada.patch(issue, { ...whole, milestone: null, state: 'open' })), [
    'ada pull_request demilestoned One',
    'ada pull_request reopened',
  ])
  assert.deepEqual(await act(200, () => ada.put(`${issue}/labels`, { labels: ['cold'] })), [
    'ada label created cold',
    'ada pull_request unlabeled hot',
    'ada pull_request labeled cold',
  ])
  assert.deepEqual(await act(200, () => ada.delete(`${issue}/assignees`, { assignees: ['ben'] })), [
    'ada pull_request unassigned ben',
  ])
  assert.deepEqual(await act(204, () => ben.put(`${issue}/lock`)), ['ben pull_request locked'])
  assert.deepEqual(await act(204, () => ben.delete(`${issue}/lock`)), ['ben pull_request unlocked'])
  const [commented] = await heardOf(forge, () => ben.post(`${issue}/comments`, { body: 'Hm' }))
  checkPayload('issue_comment', commented?.payload)
  assert.equal(commented?.payload.issue.pull_request.html_url, `${forge.web}/ada/engine/pull/1`)
  assert.deepEqual(unneeded('pull_request demilestoned'), [])
})

test('text of users is never replaced by the public address', inject(async ({ forge, ada }) => {
  await hookOn(ada, 'repos/ada/engine', '*')
  const nasty = [
    '\\u0000://\\u0000',
    '"\\u0000://\\u0000/api/v3',
    '"git@\\u0000',
    '"git://\\u0000"',
    '","sender":{"login":"root"}',
    '\u2028💥',
  ].join('\n')
  const title = '\\u0000://\\u0000/ada'
  const heard = await heardOf(forge, async () => {
    await expect(201, await ada.post(`${engine}/issues`, { title, body: nasty, labels: ['"git@\\u0000'] }))
    await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: nasty }))
    // The sign itself cannot be written at all.
    for (const path of ['issues', 'issues/1/comments'])
      await expect(422, await ada.post(`${engine}/${path}`, { title: '\0://\0', body: '\0://\0' }))
  })
  const find = (event: string, action: string) =>
    heard.find((one) => one.event === event && one.payload.action === action)?.payload
  assert.deepEqual([find('issues', 'opened').issue.title, find('issues', 'opened').issue.body], [title, nasty])
  assert.equal(find('issue_comment', 'created').comment.body, nasty)
  assert.equal(find('label', 'created').label.name, '"git@\\u0000')
  for (const { event, payload } of heard) {
    checkPayload(event, payload)
    checkAddresses(forge, payload)
    assert.equal(payload.sender.login, 'ada')
  }
}))

test('concurrent acts are delivered once', inject(async ({ forge, ada, open }) => {
  await open()
  const { id } = await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  await expect(201, await ada.post(`${engine}/labels`, { name: 'hot' }))
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  await hookOn(ada, 'repos/ada/engine', '*')
  const both = async (sent: () => Promise<Response>) =>
    (await Promise.all([sent(), sent(), sent()])).map(({ status }) => status).toSorted()
  const lines = await told(forge, async () => {
    assert.deepEqual(
      await both(() => ada.patch(`${engine}/issues/1`, { title: 'Fire', labels: ['hot'], state: 'closed' })),
      [200, 200, 200],
    )
    assert.deepEqual(await both(() => ada.patch(`${engine}/issues/comments/${id}`, { body: 'Ha' })), [200, 200, 200])
    for (const path of [`issues/comments/${id}`, 'labels/hot', 'milestones/1'])
      assert.deepEqual(await both(() => ada.delete(`${engine}/${path}`)), [204, 404, 404])
  })
  assert.deepEqual(lines, [
    'ada issues edited title<Smoke>',
    'ada issues labeled hot',
    'ada issues closed',
    'ada issue_comment edited body<Hm>',
    'ada issue_comment deleted',
    'ada label deleted hot',
    'ada milestone deleted One',
  ])
}))
