import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, fineGrained, issueEvents } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { openWithTopic, pullEvents } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const first = `${engine}/pulls/1`

test('the author and push access can edit, triage access can close', inject(async ({ forge, ada, ben, cy, dan, nobody }) => {
  await forge.propose({}, ben)
  for (const who of [cy, dan]) await expect(403, await who.patch(first, { title: 'Mine' }))
  await expect(403, await dan.patch(first, { state: 'closed' }))
  await expect(401, await nobody.patch(first, { state: 'closed' }))
  await expect(401, await nobody.post(`${engine}/pulls`, { title: 'x', head: 'topic', base: 'main' }))
  await expect(200, await cy.patch(first, { state: 'closed' }))
  await expect(200, await cy.patch(first, { state: 'open' }))
  await expect(200, await ben.patch(first, { title: 'Better' }))
  await expect(200, await ada.patch(first, { body: 'Indeed' }))
  for (const body of [{ state: 'gone' }, { title: 1 }, { base: {} }, { draft: 'no' }])
    await expect(422, await ada.patch(first, body))
  await expect(404, await ada.patch(`${engine}/pulls/2`, { title: 'x' }))
  await forge.open()
  await expect(404, await ada.patch(`${engine}/pulls/2`, { title: 'x' }))
  await expect(404, await ada.get(`${engine}/pulls/2`))
  await expect(200, await ada.patch(engine, { archived: true }))
  for (const who of [ada, ben]) await expect(403, await who.patch(first, { title: 'Late' }))
}))

test('pull requests have comments, labels and assignees, also when issues are disabled', inject(async (forge) => {
  const { ada, ben, dan } = forge
  await forge.open()
  await forge.propose()
  await expect(200, await ada.patch(engine, { has_issues: false }))
  await expect(410, await ada.get(`${engine}/issues/1`))
  await expect(410, await ada.get(`${engine}/issues/9`))
  await expect(410, await ada.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  const issue = `${engine}/issues/2`
  const comment = await expect(201, await dan.post(`${issue}/comments`, { body: 'Hm' }))
  assert.equal(comment.html_url, `${forge.web}/ada/engine/pull/2#issuecomment-${comment.id}`)
  await expect(200, await dan.patch(comment.url, { body: 'Oh' }))
  await expect(200, await ada.post(`${issue}/labels`, { labels: ['good'] }))
  await expect(201, await ada.post(`${issue}/assignees`, { assignees: ['ben'] }))
  await expect(200, await ben.delete(`${issue}/labels/good`))
  await expect(204, await ben.put(`${issue}/lock`))
  await expect(403, await dan.post(`${issue}/comments`, { body: 'But' }))
  await expect(200, await ben.patch(issue, { state: 'closed' }))
  assert.partialDeepStrictEqual(await dan.read(`${engine}/pulls/2`), {
    locked: true,
    comments: 1,
    state: 'closed',
    assignees: [{ login: 'ben' }],
    labels: [],
  })
  assert.deepEqual(await pullEvents(forge), [
    'ada opened 2',
    'ada labeled 2 good',
    'ada assigned 2 ben',
    'ben unlabeled 2 good',
    'ben closed 2',
  ])
  assert.deepEqual(await issueEvents(forge), ['ada opened'])
}))

test('a fine-grained token is limited to its permissions', inject(async ({ forge, ada }) => {
  const reader = await fineGrained(forge, 'ada', { pull_requests: 'read', metadata: 'read' })
  const writer = await fineGrained(forge, 'ada', { pull_requests: 'write' })
  const merger = await fineGrained(forge, 'ada', { contents: 'write', metadata: 'read' })
  const stranger = await fineGrained(forge, 'ben', { pull_requests: 'write', contents: 'write' })
  const wanted = { title: 'Notes', head: 'topic', base: 'main' }
  for (const who of [reader, merger, stranger]) await expect(403, await who.post(`${engine}/pulls`, wanted))
  await expect(201, await writer.post(`${engine}/pulls`, wanted))
  await expect(403, await reader.patch(first, { title: 'x' }))
  for (const who of [reader, writer, stranger]) await expect(403, await who.put(`${first}/merge`))
  await expect(200, await ada.patch(engine, { private: true }))
  await expect(200, await reader.get(first))
  await expect(403, await merger.get(first))
  await expect(404, await stranger.get(first))
  const narrow = await forge.tokenFor('ada', ['public_repo'])
  await expect(404, await narrow.get(first))
  await expect(404, await narrow.put(`${first}/merge`))
  await expect(200, await merger.put(`${first}/merge`))
}))
