import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const hostile = '<script>alert(1)</script>"><img onerror=x>'
const cards = (text: string) => [...text.matchAll(/<div class="who"><p><a href="\/(\w+)">/g)].map(([, login]) => login)

test('stargazers and watchers are listed newest first, with whom the visitor follows', async () => {
  await using forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('engine')
  await ada.owns('secret', { private: true })
  const guest = new Guest(forge)
  assert.match((await guest.get('/ada/engine/stargazers')).text, /No stars yet/)
  await expect(200, await ben.patch('/user', { name: hostile }))
  for (const person of [ben, cy]) {
    forge.clock.advance(1000)
    await expect(204, await person.put('/user/starred/ada/engine'))
    await expect(200, await person.put('/repos/ada/engine/subscription', {}))
  }
  await expect(204, await ada.put('/user/following/ben'))
  for (const [path, listed] of [
    ['stargazers', ['cy', 'ben']],
    ['watchers', ['cy', 'ben', 'ada']],
  ] as const) {
    const page = await guest.get(`/ada/engine/${path}`)
    assert.deepEqual([page.status, cards(page.text)], [200, [...listed]], path)
    assert.doesNotMatch(page.text, /<script>alert|<img onerror|Unfollow/)
    assert.equal((await guest.get(`/ada/secret/${path}`)).status, 404)
    assert.deepEqual(cards((await guest.get(`/ada/engine/${path}?page=9`)).text), [])
  }
  const own = await signedIn(forge, 'ada')
  assert.match((await own.get('/ada/engine/stargazers')).text, /action="\/users\/ben\/unfollow"[\s\S]*Unfollow ben/)
  assert.equal((await own.get('/ada/secret/stargazers')).status, 200)
})

test('forks are listed, and private ones only to those who see them', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  const guest = new Guest(forge)
  assert.match((await guest.get('/ada/engine/forks')).text, /No forks yet/)
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  const listed = async (visitor: Guest) =>
    (await visitor.get('/ada/engine/forks?sort=stargazers')).text.includes('href="/ben/engine"')
  assert.equal(await listed(guest), true)
  await expect(200, await ben.patch('/repos/ben/engine', { private: true }))
  assert.equal(await listed(guest), false)
  assert.equal(await listed(await signedIn(forge, 'ben')), true)
  assert.equal((await guest.get('/ada/engine/network/members')).location, '/ada/engine/forks')
})
