import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, injecting, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

test('a comparison shows commits and files, and leads to a pull request or to the open one', inject(async ({
  forge,
  propose,
  topic,
}) => {
  const guest = new Guest(forge)
  const path = '/ada/engine/compare/main...topic'
  const shown = await guest.get(path)
  assert.equal(shown.status, 200)
  assert.match(shown.text, new RegExp(`href="/ada/engine/commit/${topic}"`))
  assert.match(shown.text, /notes\.txt[\s\S]*A note\./)
  assert.match(shown.text, /href="\/login\?return_to=%2Fada%2Fengine%2Fcompare%2Fmain\.\.\.topic%3Fexpand%3D1"/)
  assert.match(shown.text, /href="\/ada\/engine\/compare\/topic\.\.\.main"[^>]*aria-label="Swap both sides"/)
  const visitor = await signedIn(forge, 'ben')
  assert.match((await visitor.get(path)).text, /href="\/ada\/engine\/compare\/main\.\.\.topic\?expand=1"/)
  const { number } = await propose()
  const proposed = await visitor.get(path)
  assert.match(proposed.text, new RegExp(`href="/ada/engine/pull/${number}"`))
  assert.doesNotMatch(proposed.text, /expand=1/)
  assert.match((await guest.get('/ada/engine/compare/topic...main')).text, /There is nothing to compare/)
  assert.equal((await guest.get('/ada/engine/compare/topic')).location, '/ada/engine/compare/main...topic')
  assert.equal((await guest.get('/ada/engine/compare')).location, '/ada/engine/compare/main...main')
  assert.match((await guest.get(`${path}.patch`)).text, new RegExp(`^From ${topic}`))
  for (const wrong of [
    'main...none',
    'none...main',
    'main...dan:main',
    '...',
    'a...b...c',
    'main...topic%00',
    'main...<script>',
  ]) {
    assert.equal((await guest.get(`/ada/engine/compare/${wrong}`)).status, 404, wrong)
  }
}))

test('forks can be chosen and compared, unless they are hidden', inject(async ({ forge, dan, follow }) => {
  await expect(202, await dan.post(`${engine}/forks`))
  await follow()
  const guest = new Guest(forge)
  const shown = await guest.get('/ada/engine/compare/main...dan:topic')
  assert.equal(shown.status, 200)
  assert.match(shown.text, /href="\/ada\/engine\/compare\/main\.\.\.dan:main"/)
  assert.match(shown.text, /href="\/dan\/engine\/commit\//)
  await expect(200, await dan.patch('/repos/dan/engine', { private: true }))
  assert.equal((await guest.get('/ada/engine/compare/main...dan:topic')).status, 404)
  assert.doesNotMatch((await guest.get('/ada/engine/compare/main...topic')).text, /dan/)
}))

test('an empty repository has nothing to compare', async () => {
  await using forge = await openForge()
  await (await forge.person('ada')).owns('engine')
  const { status, text } = await new Guest(forge).get('/ada/engine/compare/main...main')
  assert.equal(status, 200)
  assert.match(text, /There is nothing to compare yet/)
})

test('a comparison becomes a pull request with labels and reviewers', inject(async (forge) => {
  const path = '/ada/engine/compare/main...topic'
  const template = { message: 'Template', content: btoa('What changes?\n'), branch: 'main' }
  await expect(201, await forge.ada.put(`${engine}/contents/.github/pull_request_template.md`, template))
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug "x"', color: 'ff0000' }))
  const ada = await signedIn(forge, 'ada')
  const filled = (await ada.get(`${path}?expand=1`)).text
  assert.match(filled, /name="title" type="text" value="Add notes".*What changes\?.*name="reviewer" value="ben"/s)
  assert.match((await ada.get(`${path}?expand=1&title=T%3Cb%3E&body=B`)).text, /value="T&lt;b&gt;"/)
  assert.match((await ada.post(path, { title: ' ', body: 'Kept text' })).text, /role="alert".*Kept text/s)
  assert.equal((await ada.post(`${path}%00`, { title: 'Notes' })).status, 404)
  assert.match((await ada.post(path, { title: 'Notes', body: '**bold**', preview: 'yes' })).text, /<strong>bold<\/strong>/)
  const fields = { title: 'Notes', body: 'Why', draft: 'yes', label: 'bug "x"', reviewer: ['ben', 'cy'] }
  const made = await ada.post(path, fields)
  assert.equal(made.location, '/ada/engine/pull/1')
  const pull = await forge.ada.read(`${engine}/pulls/1`)
  assert.deepEqual([pull.draft, pull.labels[0].name, pull.requested_reviewers.length], [true, 'bug "x"', 2])
  assert.match((await ada.get(path)).text, /View pull request/)
  assert.match((await ada.post(path, fields)).text, /already exists/)
  assert.match((await ada.get('/ada/engine/pulls')).text, /Review requested/)
  await expect(200, await forge.ben.post(`${engine}/pulls/1/reviews`, { event: 'APPROVE' }))
  await expect(201, await forge.ada.post(`${engine}/statuses/${forge.topic}`, { state: 'failure' }))
  assert.match((await ada.get('/ada/engine/pulls')).text, /Approved.*0 of 1 checks passed/s)
}))

test('a fork proposes its branch, which is offered after a push', inject(async (forge) => {
  await expect(202, await forge.dan.post(`${engine}/forks`))
  await forge.follow()
  const work = await forge.desk.clone(forge.dan, 'dan/engine')
  await work.commit('Draw', { 'plan.txt': 'A plan.\n' })
  await work.push('HEAD:plan')
  const dan = await signedIn(forge, 'dan')
  const address = '/ada/engine/compare/main...dan:plan'
  for (const page of ['/ada/engine', '/ada/engine/pulls'])
    assert.ok((await dan.get(page)).text.includes(`href="${address}?expand=1"`), page)
  assert.equal((await (await signedIn(forge, 'ben')).get('/ada/engine')).text.includes('had recent pushes'), false)
  const shown = (await dan.get(`${address}?expand=1`)).text
  assert.match(shown, /Allow edits by maintainers/)
  assert.equal(shown.includes('name="reviewer"'), false, 'without triage access')
  const wanted = { title: 'Plan', maintainer_can_modify: 'yes', reviewer: 'ben' }
  assert.equal((await dan.post(address, wanted)).location, '/ada/engine/pull/1')
  const pull = await forge.ada.read(`${engine}/pulls/1`)
  assert.deepEqual([pull.head.label, pull.maintainer_can_modify, pull.requested_reviewers.length], ['dan:plan', true, 0])
  assert.equal((await dan.get('/ada/engine')).text.includes('had recent pushes'), false)
  const cy = await signedIn(forge, 'cy')
  assert.match((await cy.get('/ada/engine/compare/main...topic?expand=1')).text, /You need push access/)
  assert.equal((await cy.post('/ada/engine/compare/main...topic', { title: 'x' })).status, 403)
}))
