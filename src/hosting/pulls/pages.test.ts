import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, openBrowser, signIn } from '#test/browser.ts'
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
    /wants to merge <code>topic<\/code> into <code>main<\/code>/,
    /Commits \(1\)/,
    /Files \(1\)/,
    /without conflicts/,
    /> Open</,
  ]) {
    assert.match(shown, said)
  }
  assert.equal(shown.includes('Merge pull request'), false)
  assert.equal((await nobody.get('/ada/engine/issues/1')).location, path)
  assert.equal((await nobody.get('/ada/engine/pull/2')).location, '/ada/engine/issues/2')
  assert.equal((await nobody.get('/ada/engine/pull/3')).status, 404)
  assert.match((await nobody.get(`${path}/commits`)).text, /Add notes/)
  assert.match((await nobody.get(`${path}/files`)).text, /notes\.txt<\/code> .*>added<.*class="code">A note\.</s)
  const titles = async (list: string) =>
    [...(await nobody.get(list)).text.matchAll(/class="title" href="([^"]*)"/g)].map(([, to]) => to)
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
  const shown = (await ben.get(path)).text
  const [, sha = ''] = /name="sha" value="(\w{40})"/.exec(shown) ?? []
  assert.equal(sha, forge.topic)
  for (const wrong of ['', forge.main, 'x'])
    assert.equal((await ben.post(`${path}/merge`, { method: 'merge', sha: wrong })).status, 422)
  assert.equal((await ben.post(`${path}/merge`, { method: 'squash', sha })).location, path)
  await forge.follow()
  const after = (await ben.get(path)).text
  assert.match(after, /<span class="state merged">.* Merged<\/span>/)
  assert.equal(after.includes('Reopen pull request'), false)
  assert.match((await ben.post(`${path}/comments`, { state: 'open' })).text, /cannot be reopened because it was merged/)
  assert.equal((await ben.post(`${path}/merge`, { method: 'merge', sha })).status, 422)
  assert.equal((await forge.ada.read(`${engine}/commits/main`)).commit.message.split('\n')[0], 'Add notes (#1)')
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
  assert.match(dirty, /conflicts with the base/)
  assert.equal(dirty.includes('Merge pull request'), false)
  assert.match((await ben.post(`${path}/merge`, { method: 'merge', sha: forge.topic })).text, /not mergeable/)
}))

test('a browser shows reviews and merges a pull request', inject(async (forge) => {
  await using browser = await openBrowser()
  const { page, picture } = browser
  await forge.propose({ title: 'Notes & <i>more</i>', body: 'As **agreed** in ada/engine#1' })
  const comments = [{ path: 'notes.txt', line: 1, body: 'Which `note`? <script>' }]
  await expect(
    200,
    await forge.ben.post(`${engine}/pulls/1/reviews`, { event: 'REQUEST_CHANGES', body: 'Not yet, @ada', comments }),
  )
  await expect(200, await forge.cy.post(`${engine}/pulls/1/reviews`, { event: 'APPROVE', body: '' }))
  await expect(200, await forge.dan.post(`${engine}/pulls/1/reviews`, { body: 'Pending and hidden', comments: [] }))
  await expect(201, await forge.ada.post(`${engine}/pulls/1/requested_reviewers`, { reviewers: ['cy'] }))
  await signIn(page, forge, 'ben', path)
  await page.getByText('Which note?').waitFor()
  assert.equal(await page.getByText('Pending and hidden').count(), 0)
  await check(page)
  await picture('pull')
  await page.getByRole('link', { name: 'Files (1)' }).click()
  await page.getByRole('cell', { name: 'A note.' }).waitFor()
  await check(page)
  await picture('pull-files')
  await page.getByRole('link', { name: 'Commits (1)' }).click()
  await page.getByText('Add notes').waitFor()
  await check(page)
  await page.getByRole('link', { name: 'Conversation' }).click()
  await page.getByLabel('How').selectOption('Squashed into one commit')
  await page.getByRole('button', { name: 'Merge pull request' }).click()
  await page.getByText('ben merged this into').waitFor()
  await check(page)
  await picture('pull-merged')
}))
