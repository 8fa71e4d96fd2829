import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { checkVisits } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)
const rename = (from: string) => `${engine}/branches/${from}/rename`

test('a renamed default branch takes along its protection and the pull requests into it', inject(async (forge) => {
  const { ada, nobody, work, main } = forge
  await forge.propose()
  const rules = { required_status_checks: null, enforce_admins: true, required_pull_request_reviews: null, restrictions: null }
  await expect(200, await ada.put(`${engine}/branches/main/protection`, rules))
  await hookOn(ada, 'repos/ada/engine', '*')
  const heard = await heardOf(forge, async () => {
    const branch = await expect(201, await ada.post(rename('main'), { new_name: 'trunk/one' }))
    assert.partialDeepStrictEqual(branch, { name: 'trunk/one', commit: { sha: main }, protected: true })
    await forge.follow()
  })
  for (const { event, payload } of heard) checkPayload(event, payload)
  assert.deepEqual(
    heard.map(({ event, payload }) => [event, payload.action, payload.ref].filter(Boolean).join(' ')),
    [
      'repository edited',
      'create trunk/one',
      'push refs/heads/trunk/one',
      'delete main',
      'push refs/heads/main',
      'pull_request edited',
    ],
  )
  assert.deepEqual(heard[0]?.payload.changes, { default_branch: { from: 'main' } })
  assert.deepEqual(heard.at(-1)?.payload.changes, { base: { ref: { from: 'main' }, sha: { from: main } } })

  assert.equal((await ada.read(engine)).default_branch, 'trunk/one')
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/1`), { state: 'open', base: { ref: 'trunk/one', sha: main } })
  assert.deepEqual(linesOf(await nobody.read(`${engine}/branches`), 'name', 'protected'), ['topic false', 'trunk/one true'])
  assert.match(await work.git('ls-remote', '--symref', 'origin', 'HEAD'), /^ref: refs\/heads\/trunk\/one\tHEAD/)

  await expect(201, await ada.post(rename('trunk%2Fone'), { new_name: 'stem' }))
  for (const former of ['main', 'trunk/one']) {
    const moved = await nobody.get(`${engine}/branches/${former}`)
    assert.equal(moved.status, 301)
    assert.equal((await nobody.read(moved.headers.get('location') ?? '')).name, 'stem')
  }
  await expect(201, await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/main', sha: main }))
  assert.equal((await nobody.read(`${engine}/branches/main`)).name, 'main')
  await expect(201, await ada.put(`${engine}/contents/notes.txt`, { message: 'Merge by hand', content: '', branch: 'stem' }))
}))

test('pull requests from a renamed branch follow it, with what was pushed just before', inject(async (forge) => {
  const { ada, ben, work } = forge
  await forge.propose()
  await work.git('checkout', '--quiet', 'topic')
  const later = await work.commit('More', { 'more.txt': 'more' })
  await work.push('topic')
  await expect(201, await ben.post(rename('topic'), { new_name: 'subject' }))
  await forge.follow()
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/1`), {
    state: 'open',
    head: { ref: 'subject', sha: later },
    base: { ref: 'main' },
  })
  await expect(200, await ada.put(`${engine}/pulls/1/merge`))
}))

test('renames are refused like pushes, and names that git does not take', inject(async ({ forge, ada, ben, cy }) => {
  const statuses = async (who: typeof ada, from: string, names: string[]) =>
    Promise.all(names.map(async (new_name) => (await who.post(rename(from), { new_name })).status))
  assert.deepEqual(await statuses(ada, 'topic', ['main', 'topic', 'topic/a', 'a..b', '.', 'a b', '']), Array(7).fill(422))
  assert.equal((await ada.post(rename('topic'), {})).status, 422)
  assert.deepEqual(await statuses(ada, 'none', ['some']), [404])
  assert.deepEqual(await statuses(cy, 'topic', ['some']), [403])
  assert.deepEqual(await statuses(ben, 'main', ['some']), [403], 'only admins rename the default branch')
  const rules = { required_status_checks: null, enforce_admins: null, required_pull_request_reviews: null, restrictions: null }
  await expect(200, await ada.put(`${engine}/branches/topic/protection`, rules))
  assert.deepEqual(await statuses(ben, 'topic', ['some']), [403], 'nor do others rename a protected one')
  assert.deepEqual(linesOf(await ada.read(`${engine}/branches`), 'name'), ['main', 'topic'])
  assert.deepEqual(errorsOf(forge), [])
}))

test('renaming matches the public documentation', inject(async ({ ada }) => {
  await checkVisits(ada, {}, [
    ['repos/rename-branch', 201, 'post', rename('topic'), { new_name: 'theme' }],
    ['repos/get-branch', 301, 'get', `${engine}/branches/topic`],
    ['repos/rename-branch', 404, 'post', rename('none'), { new_name: 'theme' }],
    ['repos/rename-branch', 422, 'post', rename('theme'), { new_name: 'main' }],
    ['repos/rename-branch', 201, 'post', rename('theme'), { new_name: 'topic' }],
  ])
}))
