import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const path = '/ada/engine/pull/1'

test('a pull request is shown, commented on, closed and reopened on its page', inject(async (forge) => {
  await forge.propose({ body: 'For @ben' })
  await forge.open({ title: 'An issue' })
  const nobody = new Guest(forge)
  const shown = (await nobody.get(path)).text
  for (const said of [
    /wants to merge 1 commit into .*<code>main<\/code>.* from .*<code>topic<\/code>/,
    /Commits<\/span><span class="counter">1</,
    /Files changed<\/span><span class="counter">1</,
    /No conflicts with the base branch/,
    /> Open</,
  ]) {
    assert.match(shown, said)
  }
  assert.equal(shown.includes('Merge pull request'), false)
  assert.equal((await nobody.get('/ada/engine/issues/1')).location, path)
  assert.equal((await nobody.get('/ada/engine/pull/2')).location, '/ada/engine/issues/2')
  assert.equal((await nobody.get('/ada/engine/pull/3')).status, 404)
  assert.match((await nobody.get(`${path}/commits`)).text, /Add notes/)
  for (const [tab, last] of [
    ['commits', 'k Previous commit'],
    ['checks', 'k Previous check'],
    ['files', 'Ctrl Enter Send the comment or review'],
  ] as const) {
    const [, keys = ''] = /data-page-keys="([^"]*)"/.exec((await nobody.get(`${path}/${tab}`)).text) ?? []
    assert.equal(JSON.parse(keys.replaceAll('&quot;', '"')).at(-1)?.join(' '), last, tab)
  }
  assert.match((await nobody.get(`${path}/files`)).text, /notes\.txt<\/code> .*>added<.*class="code">A note\.</s)
  const titles = async (list: string) =>
    [...(await nobody.get(list)).text.matchAll(/class="issue-title" href="([^"]*)"/g)].map(([, to]) => to)
  assert.deepEqual(await titles('/ada/engine/pulls'), [path])
  assert.deepEqual(await titles('/ada/engine/issues'), ['/ada/engine/issues/2'])

  const dan = await signedIn(forge, 'dan')
  await dan.get(path)
  assert.match((await dan.post(`${path}/comments`, { body: 'Hm' })).location ?? '', /^\/ada\/engine\/pull\/1#issuecomment-\d+$/)
  assert.equal((await dan.post('/ada/engine/issues/1/comments', { body: 'Hm' })).status, 404)
  assert.equal((await dan.post(`${path}/merge`, { method: 'merge' })).status, 403)
  assert.equal((await dan.post(`${path}/subscription`, { subscribe: 'yes' })).location, path)
  const ada = await signedIn(forge, 'ada')
  await ada.get(path)
  await ada.post(`${path}/comments`, { state: 'closed' })
  assert.match((await ada.get(path)).text, /Reopen pull request/)
  await ada.post(`${path}/comments`, { state: 'open' })
  assert.equal((await forge.ada.read(`${engine}/pulls/1`)).state, 'open')
}))

test('a page merges the commits that it showed, with push access, or nothing', inject(async (forge) => {
  await forge.propose()
  const ben = await signedIn(forge, 'ben')
  assert.match((await ben.get(path)).text, /href="\/ada\/engine\/pull\/1\?merge=squash#merge"/)
  const shown = (await ben.get(`${path}?merge=squash`)).text
  const [, sha = ''] = /name="sha" value="(\w{40})"/.exec(shown) ?? []
  assert.equal(sha, forge.topic)
  assert.match(shown, /name="commit_title" type="text" value="Add notes \(#1\)"/)
  for (const wrong of ['', forge.main, 'x'])
    assert.equal((await ben.post(`${path}/merge`, { method: 'merge', sha: wrong })).status, 422)
  const said = { commit_title: 'Note it', commit_message: 'Because\r\nit helps.' }
  const done = await ben.postAndFollow(`${path}/merge`, { method: 'squash', sha, ...said, delete_branch: 'yes' })
  assert.match(done.text, /merged, and topic is deleted/)
  await forge.follow()
  const after = (await ben.get(path)).text
  assert.match(after, /<span class="state merged">.* Merged<\/span>/)
  assert.equal(after.includes('Reopen pull request'), false)
  assert.match((await ben.post(`${path}/comments`, { state: 'open' })).text, /cannot be reopened because it was merged/)
  assert.equal((await ben.post(`${path}/merge`, { method: 'merge', sha })).status, 422)
  assert.equal((await forge.ada.read(`${engine}/commits/main`)).commit.message, 'Note it\n\nBecause\nit helps.\n')
  assert.match(after, /Restore branch/)
  assert.match((await ben.postAndFollow(`${path}/branch`, { branch: 'restore' })).text, /topic is restored.*Delete branch/s)
  const dan = await signedIn(forge, 'dan')
  await dan.get(path)
  assert.equal((await dan.post(`${path}/branch`, { branch: 'delete' })).status, 403)
}))

test('the base, drafts and an old branch are changed on the page', inject(async (forge) => {
  await forge.propose()
  await forge.work.git('checkout', '--quiet', 'main')
  await forge.work.commit('Go on', { 'more.txt': 'More.\n' })
  await forge.work.push('main', 'main:other')
  await forge.follow()
  const [ada, dan] = [await signedIn(forge, 'ada'), await signedIn(forge, 'dan')]
  assert.match((await ada.get(path)).text, /Update branch[\s\S]*Change the base branch/)
  assert.match((await ada.postAndFollow(`${path}/update-branch`, { sha: forge.topic })).text, /are merged into topic/)
  await forge.follow()
  assert.equal((await ada.get(path)).text.includes('Update branch'), false)
  assert.match((await ada.postAndFollow(`${path}/base`, { base: 'other' })).text, /The base is other now/)
  assert.match((await ada.post(`${path}/base`, { base: 'none' })).text, /role="alert"/)
  assert.match((await ada.postAndFollow(`${path}/draft`, { draft: 'yes' })).text, /Drafts cannot be merged.*Ready for review/s)
  await ada.post(`${path}/draft`, { draft: 'no' })
  assert.equal((await forge.ada.read(`${engine}/pulls/1`)).draft, false)
  assert.doesNotMatch((await dan.get(path)).text, /Change the base branch/)
  for (const [form, fields] of [
    ['draft', { draft: 'yes' }],
    ['base', { base: 'main' }],
    ['update-branch', { sha: forge.topic }],
  ] as const)
    assert.ok((await dan.post(`${path}/${form}`, fields)).status >= 403, form)
}))

test('checks and the rules of the base are shown before a merge', inject(async (forge) => {
  await forge.propose()
  const status = { context: 'build <b>', description: 'Broken', target_url: 'https://ci.example/1', state: 'failure' }
  await expect(201, await forge.ada.post(`${engine}/statuses/${forge.topic}`, status))
  const rules = {
    required_status_checks: { strict: false, contexts: ['build <b>', 'deploy'] },
    enforce_admins: true,
    required_pull_request_reviews: { required_approving_review_count: 1 },
    restrictions: null,
  }
  await expect(200, await forge.ada.put(`${engine}/branches/main/protection`, rules))
  const ben = await signedIn(forge, 'ben')
  const { text } = await ben.get(path)
  for (const said of [
    /Some checks were not successful/,
    /1 failed, 1 expected/,
    /build &lt;b&gt;/,
    /Waiting to be reported/,
    /Review required/,
    /The base is protected/,
  ])
    assert.match(text, said)
  assert.match((await ben.post(`${path}/merge`, { method: 'merge', sha: forge.topic })).text, /role="alert"/)
  const checks = (await ben.get(`${path}/checks`)).text
  assert.match(checks, /Some checks were not successful.*href="https:\/\/ci\.example\/1"/s)
}))

test('conflicts and drafts are shown, and are not merged', inject(async (forge) => {
  await forge.propose({ draft: true })
  const ben = await signedIn(forge, 'ben')
  const draft = (await ben.get(path)).text
  assert.match(draft, /<span class="state draft">.* Draft<\/span>/)
  assert.equal(draft.includes('Merge pull request'), false)
  await expect(200, await forge.ada.patch(`${engine}/pulls/1`, { draft: false }))
  await expect(201, await forge.ada.put(`${engine}/contents/notes.txt`, { message: 'Other notes', content: btoa('Other.\n') }))
  const dirty = (await ben.get(path)).text
  assert.match(dirty, /This branch has conflicts/)
  assert.equal(dirty.includes('Merge pull request'), false)
  assert.match((await ben.post(`${path}/merge`, { method: 'merge', sha: forge.topic })).text, /not mergeable/)
}))
