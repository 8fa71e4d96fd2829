import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { Guest, signedIn } from '#test/guest.ts'

const names = (page: string) => [...page.matchAll(/<a class="branch"[^>]*>.*?<bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name)

test('branches are shown with their last commits, pull requests and distance to the default branch', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  const guest = new Guest(forge)
  assert.match((await guest.get('/ada/engine/branches')).text, /There are no branches yet/)
  await work.git('commit', '--quiet', '--allow-empty', '-m', 'First', '--date=2026-01-01T00:00:00Z')
  await work.push('HEAD', 'HEAD:refs/heads/old/one')
  await work.git('checkout', '--quiet', '-b', 'topic')
  await work.commit('Add <b>', { 'a.txt': 'a' })
  await work.push('topic')
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Second', { 'b.txt': 'b' })
  await work.push()
  await expect(201, await ada.post('/repos/ada/engine/pulls', { title: 'My <i>topic', head: 'topic', base: 'main' }))
  await expect(
    200,
    await ada.put('/repos/ada/engine/branches/topic/protection', {
      ...{ required_status_checks: null, enforce_admins: true, required_pull_request_reviews: null, restrictions: null },
    }),
  )
  const { text } = await guest.get('/ada/engine/branches')
  assert.equal(names(text)[0], 'main')
  assert.deepEqual(names(text).toSorted(), ['main', 'old/one', 'topic'])
  assert.match(text, /title="1 commits behind main, 1 ahead"/)
  assert.match(text, /title="1 commits behind main, 0 ahead"/)
  assert.match(text, /href="\/ada\/engine\/pull\/1" title="My &lt;i&gt;topic"/)
  assert.equal(text.match(/aria-label="Protected"/g)?.length, 1)
  assert.doesNotMatch(text, /Create branch|Delete </)
  assert.deepEqual(names((await guest.get('/ada/engine/branches?q=OLD')).text), ['main', 'old/one'])
  assert.match((await guest.get('/ada/engine/branches?q=%3Cnone%3E')).text, /No branch matches/)
})

test('those who may push create and delete branches, and learn why they cannot', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  await work.commit('First')
  await work.push('HEAD', 'HEAD:refs/heads/topic')
  await forge.person('ben')
  const [own, other] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ben')]
  const page = '/ada/engine/branches'
  const made = await own.fillAndFollow(page, { name: 'fix/"one"<b>', from: 'topic' })
  assert.match(made.text, /role="status"[\s\S]*The branch fix\/&quot;one&quot;&lt;b&gt; is created\./)
  assert.match((await own.fill(page, { name: 'topic', from: 'main' })).text, /role="alert">Reference already exists/)
  assert.match((await own.fill(page, { name: 'x', from: 'gone' })).text, /role="alert">No commit found[\s\S]*value="gone"/)
  assert.equal((await own.fill(page, { name: 'a..b', from: 'main' })).status, 422)
  assert.match((await own.fill(page, { branch: 'main' }, `${page}/delete`)).text, /Cannot delete the default branch/)
  assert.equal((await other.fill(page, { branch: 'topic' }, `${page}/delete`)).status, 403)
  assert.equal((await own.fillAndFollow(page, { branch: 'topic' }, `${page}/delete`)).status, 200)
  await expect(404, await ada.get('/repos/ada/engine/branches/topic'))
})

test('the history of a file or a folder follows the ref in the address', async () => {
  await using engine = await openEngine()
  const { work, forge } = engine
  const guest = new Guest(forge)
  assert.match((await guest.get('/ada/engine/commits')).text, /There are no commits yet/)
  await work.commit('Add one', { 'src/one.txt': '1' })
  await work.commit('Add two', { 'src/two.txt': '2' })
  await work.push('HEAD:refs/heads/main', 'HEAD:refs/heads/feature/x')
  const titles = async (path: string) =>
    [...(await guest.get(`/ada/engine/commits${path}`)).text.matchAll(/class="commit-title"[^>]*>([^<]*)</g)].map(
      ([, title]) => title,
    )
  assert.deepEqual(await titles(''), ['Add two', 'Add one'])
  assert.deepEqual(await titles('/feature/x'), ['Add two', 'Add one'])
  assert.deepEqual(await titles('/feature/x/src/one.txt'), ['Add one'])
  assert.deepEqual(await titles('/main/src'), ['Add two', 'Add one'])
  assert.equal((await guest.get('/ada/engine/commits/gone')).status, 404)
})
