import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

test('issues of one’s own are listed by relation and state, and searched', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ben.owns('notes', { private: true })
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Made by me' }))
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Closed by me' }))
  await expect(200, await ada.patch('/repos/ada/engine/issues/2', { state: 'closed' }))
  await expect(201, await ben.post('/repos/ada/engine/issues', { title: 'For ada', body: 'see @ada' }))
  await expect(200, await ada.patch('/repos/ada/engine/issues/3', { assignees: ['ada'] }))
  await expect(201, await ben.post('/repos/ben/notes/issues', { title: 'Hidden', body: '@ada' }))
  const visitor = await signedIn(forge, 'ada')
  const titles = async (address: string) =>
    [...(await visitor.get(address)).text.matchAll(/class="issue-title" href="[^"]*"><bdi>(.*?)<\/bdi>/g)].map(
      ([, title]) => title,
    )
  const cases: Record<string, string[]> = {
    '/issues': ['Made by me'],
    '/issues?state=closed': ['Closed by me'],
    '/issues?tab=assigned': ['For ada'],
    '/issues?tab=mentioned': ['For ada'],
    '/issues?tab=mentioned&q=nothing': [],
    '/issues?q=repo:ada/engine+made': ['Made by me'],
    '/pulls': [],
    '/pulls?tab=review-requested': [],
    '/issues?page=40': [],
  }
  for (const [address, expected] of Object.entries(cases)) assert.deepEqual(await titles(address), expected, address)
  const refused = await visitor.get('/issues?q=is:banana')
  assert.equal(refused.status, 422)
  assert.match(refused.text, /is:banana is not supported/)
  assert.match((await new Guest(forge).get('/issues')).location ?? '', /^\/login\?return_to=%2Fissues/)
})

test('stars and watched repositories have pages, where one can end them', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { description: '<b>bold</b>' })
  await expect(204, await ben.put('/user/starred/ada/engine'))
  await expect(200, await ben.put('/repos/ada/engine/subscription', { subscribed: true }))
  const visitor = await signedIn(forge, 'ben')
  for (const address of ['/stars', '/stars?sort=updated', '/watching']) {
    const { text } = await visitor.get(address)
    assert.match(text, /href="\/ada\/engine"><strong>engine<\/strong>/, address)
    assert.ok(!text.includes('<b>bold'), address)
  }
  assert.equal((await visitor.post('/ada/engine/unstar', {})).status, 303)
  assert.match((await visitor.get('/stars')).text, /You have no stars yet/)
  assert.equal((await visitor.post('/ada/engine/watch', { level: 'participating' })).status, 303)
  assert.match((await visitor.get('/watching')).text, /You watch no repository/)
})
