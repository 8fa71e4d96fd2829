import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'

test('a fork shows how far it is from its parent, and is brought up to date by a button', async () => {
  await using forge = await openWithTopic()
  const { ada, dan, topic } = forge
  await expect(202, await dan.post('/repos/ada/engine/forks'))
  const own = await signedIn(forge, 'dan')
  assert.match((await own.get('/dan/engine')).text, /The files are being copied/)
  await forge.follow()
  assert.match(
    (await own.get('/dan/engine')).text,
    /Forked from <a href="\/ada\/engine">ada\/engine<\/a>[\s\S]*up to date with <code>ada:main<\/code>/,
  )
  await expect(200, await ada.patch('/repos/ada/engine/git/refs/heads/main', { sha: topic }))
  assert.match((await own.get('/dan/engine')).text, /1 commit behind <code>ada:main<\/code>[\s\S]*Sync fork/)
  assert.doesNotMatch((await new Guest(forge).get('/dan/engine')).text, /Sync fork/)
  const synced = await own.fillAndFollow('/dan/engine', { branch: 'main' }, '/dan/engine/merge-upstream')
  assert.match(synced.text, /fast-forwarded from upstream[\s\S]*up to date/)
  await own.fill('/dan/engine/new/main', { path: 'mine.txt', text: 'x', message: 'Mine' })
  assert.match((await own.get('/dan/engine')).text, /1 commit ahead of[\s\S]*href="\/ada\/engine\/compare\/main\.\.\.dan:main"/)
  assert.equal(
    (await (await signedIn(forge, 'ada')).fill('/dan/engine', { branch: 'main' }, '/dan/engine/merge-upstream')).status,
    403,
  )
  assert.equal((await own.fill('/dan/engine', { branch: 'gone' }, '/dan/engine/merge-upstream')).status, 422)
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  assert.doesNotMatch((await own.get('/dan/engine')).text, /Forked from/)
})
