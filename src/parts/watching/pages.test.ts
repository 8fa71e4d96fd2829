import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { told } from '#test/inbox.ts'

/** Ada's repository; Ben is signed in at the pages. */
async function openEngine() {
  const forge = await openForge({ worker: true })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ada.owns('secret', { private: true })
  return Object.assign(forge, { ada, ben, visitor: await signedIn(forge, 'ben') })
}

const current = (text: string) => [...text.matchAll(/value="(\w+)"(?: aria-current="true"| checked)/g)].map(([, value]) => value)

test('the star button stars and unstars, and leads back to the page it is on', async () => {
  await using forge = await openEngine()
  const { visitor, web } = forge
  const page = await visitor.get('/ada/engine/issues')
  assert.match(page.text, /action="\/ada\/engine\/star"/)
  const referer = `${web}/ada/engine/issues?q=is%3Aopen&flash=gone`
  const starred = await visitor.post('/ada/engine/star', {}, { referer })
  assert.deepEqual([starred.status, starred.location], [303, '/ada/engine/issues?q=is%3Aopen'])
  assert.match((await visitor.get('/ada/engine/issues')).text, /action="\/ada\/engine\/unstar"/)
  assert.equal((await forge.ben.get('/user/starred/ada/engine')).status, 204)
  for (const foreign of ['https://example.com/x', `${web}//example.com/x`, 'junk', '']) {
    const { location } = await visitor.post('/ada/engine/unstar', {}, { referer: foreign })
    assert.match(location ?? '', /^\/(?:ada\/engine)?$/, foreign)
  }
  assert.equal((await forge.ben.get('/user/starred/ada/engine')).status, 404)
  for (const verb of ['star', 'unstar', 'watch']) {
    assert.equal((await visitor.post(`/ada/secret/${verb}`, { level: 'all' })).status, 404, verb)
  }
})

test('the watch menu sets the level, and refuses another one', async () => {
  await using forge = await openEngine()
  const { visitor } = forge
  const page = () => visitor.get('/ada/engine/subscription')
  assert.deepEqual(current((await page()).text), ['participating', 'participating'])
  for (const level of ['all', 'ignore', 'participating']) {
    assert.equal((await visitor.post('/ada/engine/watch', { level })).location, '/ada/engine')
    assert.deepEqual(current((await page()).text), [level, level])
  }
  assert.equal((await visitor.post('/ada/engine/watch', { level: 'toString' })).status, 422)
  await visitor.post('/ada/engine/watch', { level: 'custom', kind: ['Release', 'Junk', 'Issue'] })
  assert.deepEqual(current((await page()).text), ['custom', 'Issue', 'Release'])
  assert.partialDeepStrictEqual(await forge.ben.read('/repos/ada/engine/subscription'), { subscribed: true, ignored: false })
  await visitor.post('/ada/engine/watch', { level: 'custom' })
  assert.equal((await forge.ben.get('/repos/ada/engine/subscription')).status, 404, 'no kind is no subscription')
  await visitor.post('/ada/engine/watch', { level: 'custom', kind: 'Release' })
  await expect(200, await forge.ben.put('/repos/ada/engine/subscription', {}))
  assert.deepEqual(current((await page()).text), ['all', 'all'], 'the API has no kinds, and sets all of them')
})

test('a custom watcher is notified of the chosen kinds, and of what concerns them', async () => {
  await using forge = await openEngine()
  const { ada, ben, visitor } = forge
  await visitor.get('/ada/engine')
  await visitor.post('/ada/engine/watch', { level: 'custom', kind: 'Release' })
  const { default_branch } = await ada.read('/repos/ada/engine')
  await expect(
    201,
    await ada.put('/repos/ada/engine/contents/a.txt', { message: 'Begin', content: 'YQ==', branch: default_branch }),
  )
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Quiet' }))
  await expect(201, await ada.post('/repos/ada/engine/releases', { tag_name: 'v1', name: 'First' }))
  const { number } = await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'For Ben', body: 'See @ben' }))
  await told(forge)
  const titles = async () =>
    (await ben.read('/notifications')).map((thread: { subject: { title: string } }) => thread.subject.title).sort()
  assert.deepEqual(await titles(), ['First', 'For Ben'])
  await visitor.post('/ada/engine/watch', { level: 'custom', kind: ['Issue', 'PullRequest'] })
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Loud' }))
  await expect(201, await ada.post('/repos/ada/engine/releases', { tag_name: 'v2', name: 'Second' }))
  await told(forge)
  assert.deepEqual(await titles(), ['First', 'For Ben', 'Loud'])
  const subscription = async (issue: number) => (await visitor.get(`/ada/engine/issues/${issue}`)).text
  assert.match(await subscription(number), /Unsubscribe</)
  await visitor.post('/ada/engine/watch', { level: 'custom', kind: 'Commit' })
  assert.doesNotMatch(await subscription(number - 1), /Unsubscribe</)
})
