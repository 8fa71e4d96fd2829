import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { seeding } from '#test/seeding.ts'

const day = 86_400_000
const seed = seeding('ada', async (work) => ({ branches: { main: await work.commit('Begin') } }))

const inject = injecting(async () => {
  const forge = await openWithEngine()
  await seed(forge, forge.ada)
  return Object.assign(forge, { guest: new Guest(forge) })
})

const summaryOf = (text: string) => /<p class="muted">([^<]*in the last \d+ days\.)/.exec(text)?.[1]
const hintsOf = (text: string, noun: string) =>
  [...text.matchAll(/<rect class="hit"[^>]*><title>([^<]*)<\/title>/g)].flatMap(([, hint = '']) =>
    new RegExp(`: [1-9]\\d* ${noun}`).test(hint) ? [hint] : [],
  )

test('the activity of a repository has its events, and a plot of stars and pushes', inject(async ({ ben, dan, guest, clock }) => {
  await expect(204, await ben.put('/user/starred/ada/engine'))
  clock.advance(2 * day)
  await expect(204, await dan.put('/user/starred/ada/engine'))
  await expect(201, await dan.post('/repos/ada/engine/issues', { title: '<script>alert(1)</script>' }))
  const { status, text } = await guest.get('/ada/engine/activity')
  assert.equal(status, 200)
  assert.equal(summaryOf(text), '1 push and 2 new stars in the last 30 days.')
  assert.deepEqual(hintsOf(text, 'push'), ['3 Feb 2026: 1 push'])
  assert.deepEqual(hintsOf(text, 'star'), ['3 Feb 2026: 1 star', '4 Feb 2026: 1 star', '5 Feb 2026: 2 stars'])
  assert.match(text, /<link rel="alternate"[^>]*href="\/ada\/engine\.atom"/)
  assert.doesNotMatch(text, /<script>alert/)
  const pulls = await guest.get('/ada/engine/activity?kind=pulls&period=year')
  assert.match(pulls.text, /Nothing lately/)
  assert.match((await guest.get('/ada/engine/activity?kind=people')).text, /dan[\s\S]*starred/)
  assert.equal((await guest.get('/ada/engine/activity?kind=toString&period=none&page=999')).status, 200)
  clock.advance(60 * day)
  assert.equal(summaryOf((await guest.get('/ada/engine/activity')).text), '0 pushes and 0 new stars in the last 30 days.')
  assert.equal(
    summaryOf((await guest.get('/ada/engine/activity?period=quarter')).text),
    '1 push and 2 new stars in the last 90 days.',
  )
}))

test('pushes to a repository that was private are not counted for everyone', inject(async ({ forge, ada, guest }) => {
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  assert.equal((await guest.get('/ada/engine/activity')).status, 404)
  const content = { message: 'Hidden', content: 'YQ==', branch: 'main' }
  await expect(201, await ada.put('/repos/ada/engine/contents/hidden.txt', content))
  assert.match(summaryOf((await (await signedIn(forge, 'ada')).get('/ada/engine/activity')).text) ?? '', /^2 pushes/)
  await expect(200, await ada.patch('/repos/ada/engine', { private: false }))
  const { text } = await guest.get('/ada/engine/activity')
  assert.match(summaryOf(text) ?? '', /^1 push /)
  assert.doesNotMatch(text, /Hidden/)
}))
