import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const inject = injecting(openWithEngine)
const page = '/ada/engine/labels'

test('labels are listed, created, changed and deleted on their page', inject(async (forge) => {
  const ada = await signedIn(forge, 'ada')
  const fields = { name: 'bug', color: '#D73A4A', description: 'Broken' }
  const created = await ada.fillAndFollow(`${page}?new`, fields, page)
  assert.match(created.text, /The label is created\./)
  const [label] = await forge.ada.read(`${engine}/labels`)
  assert.deepEqual([label.name, label.color, label.description], ['bug', 'd73a4a', 'Broken'])
  assert.match((await ada.post(page, fields)).text, /role="alert">Already_exists|already/i)
  await forge.open({ labels: ['bug'] })
  assert.match((await ada.get(page)).text, /1 open issue</)
  assert.match((await ada.get(`${page}?edit=${label.id}`)).text, /value="bug".*type="color" value="#d73a4a"/s)
  const hostile = { name: '"><img src=x onerror=alert(1)>', color: '#000000', description: '<script>alert(1)</script>' }
  assert.equal((await ada.post(`${page}/${label.id}`, hostile)).status, 303)
  const shown = (await new Guest(forge).get(page)).text
  assert.equal(/<img src=x|<script>alert/.test(shown), false)
  assert.equal((await new Guest(forge).get(`${page}?q=nothing`)).text.includes('No label matches'), true)
  assert.match((await ada.get(`${page}?delete=${label.id}`)).text, /Delete this label\?/)
  assert.equal((await ada.post(`${page}/${label.id}/delete`, {})).status, 303)
  assert.deepEqual(await forge.ada.read(`${engine}/labels`), [])
}))

test('without push access, labels are only read, and ids of other repositories are unknown', inject(async (forge) => {
  await forge.ada.owns('other')
  const { id } = await expect(201, await forge.ada.post('/repos/ada/other/labels', { name: 'far', color: '000000' }))
  const [ada, cy] = [await signedIn(forge, 'ada'), await signedIn(forge, 'cy')]
  assert.equal((await cy.get(page)).text.includes('New label'), false)
  assert.equal((await cy.post(page, { name: 'x', color: '#000000' })).status, 403)
  await ada.get(page)
  assert.equal((await ada.post(`${page}/${id}`, { name: 'x', color: '#000000' })).status, 404)
  assert.equal((await ada.post(`${page}/${id}/delete`, {})).status, 404)
  assert.equal((await ada.post(page, { name: ' ', color: 'red' })).status, 422)
  assert.equal((await forge.ada.read('/repos/ada/other/labels')).length, 1)
}))
