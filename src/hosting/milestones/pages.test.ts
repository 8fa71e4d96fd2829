import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const inject = injecting(openWithEngine)
const pages = '/ada/engine/milestones'
const page = '/ada/engine/milestone/1'

test('a milestone is created, shown with its progress, changed, closed and deleted', inject(async (forge) => {
  const ada = await signedIn(forge, 'ada')
  const made = await ada.fill(`${pages}/new`, { title: 'Steam <b>', body: '**Soon**', due_on: '2026-05-01' })
  assert.equal(made.location, page)
  const first = await forge.ada.read(`${engine}/milestones/1`)
  assert.deepEqual([first.title, first.description, first.due_on.slice(0, 10)], ['Steam <b>', '**Soon**', '2026-05-01'])
  for (const title of ['One', 'Two']) await forge.open({ title, milestone: 1 })
  await expect(200, await forge.ada.patch(`${engine}/issues/1`, { state: 'closed' }))
  const shown = (await new Guest(forge).get(page)).text
  assert.match(shown, /Steam &lt;b&gt;.*50%<\/strong> complete.*<strong>Soon<\/strong>.*>Two</s)
  assert.match((await new Guest(forge).get(`${page}?closed`)).text, />One</)
  assert.match((await new Guest(forge).get(pages)).text, /Due by 1 May 2026.*1 open/s)
  assert.match((await ada.get(`${page}/edit`)).text, /value="2026-05-01"/)
  assert.equal((await ada.post(`${page}/edit`, { title: 'Steam', body: '', due_on: '' })).status, 303)
  await ada.post(`${page}/state`, { state: 'closed' })
  const { title, due_on, state } = await forge.ada.read(`${engine}/milestones/1`)
  assert.deepEqual([title, due_on, state], ['Steam', null, 'closed'])
  assert.match((await ada.get(`${pages}?state=closed`)).text, />Steam</)
  assert.match((await ada.get(`${page}?delete`)).text, /Delete the milestone/)
  assert.equal((await ada.postAndFollow(`${page}/delete`, {})).text.includes('The milestone Steam is deleted.'), true)
  assert.equal((await ada.get(page)).status, 404)
}))

test('a refused milestone is shown again, and without push access nothing changes', inject(async (forge) => {
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  const [ada, cy] = [await signedIn(forge, 'ada'), await signedIn(forge, 'cy')]
  await ada.get(pages)
  for (const fields of [{ title: ' ' }, { title: 'x'.repeat(256) }, { title: 'Steam' }, { title: 'New', due_on: 'tomorrow' }]) {
    const answer = await ada.post(`${pages}/new`, { body: 'Kept', ...fields })
    assert.equal(answer.status, 422, JSON.stringify(fields).slice(0, 50))
    assert.match(answer.text, /role="alert".*Kept<\/textarea>/s)
  }
  assert.match((await ada.post(`${pages}/new`, { title: 'New', body: '*it*', preview: 'yes' })).text, /<em>it<\/em>/)
  assert.equal((await cy.get(`${pages}/new`)).status, 403)
  await cy.get(pages)
  for (const verb of ['edit', 'state', 'delete'])
    assert.equal((await cy.post(`${page}/${verb}`, { title: 'x', state: 'closed' })).status, 403)
  assert.equal((await forge.ada.read(`${engine}/milestones`)).length, 1)
  assert.equal((await ada.get('/ada/engine/milestone/9')).status, 404)
}))
