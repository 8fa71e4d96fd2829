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
