import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pullTasks } from '#hosting/pulls/jobs.ts'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { runJobs } from '#test/jobs.ts'
import { openWithPull, pull } from '#test/reviews.ts'
import { piecesOf } from './views/threads.ts'

const inject = injecting(openWithPull)
const path = '/ada/engine/pull/1'
const files = `${path}/files`

test('a line is commented on without scripts, alone or in a review that is submitted later', inject(async (forge) => {
  const { head } = forge
  const [ada, cy] = [await signedIn(forge, 'ada'), await signedIn(forge, 'cy')]
  const shown = (await ada.get(files)).text
  const [, anchor = ''] = /href="\/ada\/engine\/pull\/1\/files\?comment=(\w+R2)#/.exec(shown) ?? []
  assert.match((await ada.get(`${files}?comment=${anchor}`)).text, /Add single comment/)
  const at = { anchor, path: 'mill.txt', line: '2', side: 'R', commit: head, page: 'files' }
  const single = await ada.post(`${path}/review-comments`, { ...at, body: 'Why **capitals**?', how: 'single' })
  assert.match(single.location ?? '', /^\/ada\/engine\/pull\/1\/files#discussion_r\d+$/)
  const again = (await ada.post(`${path}/review-comments`, { ...at, body: ' ', how: 'single' })).text
  assert.match(again, /href="\/ada\/engine\/pull\/1\/files\?diff=split".*role="alert"/s)
  assert.match(
    (await ada.post(`${path}/review-comments`, { ...at, line: '12', body: 'Kept', how: 'review' })).text,
    /role="alert".*Kept/s,
    'a line outside of the diff',
  )
  const range = { ...at, line: '16', start_line: '15', body: 'Mine\n```suggestion\nbetter\n```', how: 'review' }
  assert.equal((await ada.post(`${path}/review-comments`, range)).status, 303)
  const mine = (await ada.get(files)).text
  assert.match(mine, /Why <strong>capitals<\/strong>/)
  assert.match(mine, /Suggested change.*class="code">better</s)
  const theirs = (await cy.get(files)).text
  assert.match(theirs, /capitals/)
  assert.equal(theirs.includes('Suggested change'), false, 'a pending comment is seen by its author only')
  const [, pending = ''] = /name="pending" value="(\d+)"/.exec(mine) ?? []
  assert.ok(pending)
  const review = await ada.postAndFollow(`${path}/reviews`, { pending, event: 'REQUEST_CHANGES', body: 'Not yet' })
  assert.match(review.text, /requested changes.*Not yet.*lines 15 to 16/s)
  assert.equal((await forge.ada.read(`${pull}/reviews`)).at(-1).state, 'CHANGES_REQUESTED')
  assert.match((await cy.get(path)).text, /Changes requested/)
}))

test('threads are answered, edited and deleted from either page', inject(async (forge) => {
  const { head } = forge
  const made = { path: 'mill.txt', line: 2, commit_id: head }
  const first = await expect(201, await forge.ada.post(`${pull}/comments`, { ...made, body: 'First' }))
  const cy = await signedIn(forge, 'cy')
  await cy.get(path)
  for (const page of ['files', 'conversation']) {
    const answer = await cy.post(`${path}/threads/${first.id}`, { page, body: `From ${page}` })
    assert.match(answer.location ?? '', page === 'files' ? /\/files#discussion_r\d+$/ : /\/pull\/1#discussion_r\d+$/)
  }
  assert.match((await cy.get(path)).text, /First.*From files.*From conversation/s)
  assert.match((await cy.post(`${path}/threads/${first.id}`, { page: 'conversation', body: '' })).text, /role="alert"/)
  assert.match(
    (await cy.post(`${path}/threads/${first.id}`, { page: 'files', body: '*so*', preview: 'yes' })).text,
    /<em>so<\/em>/,
  )
  assert.equal((await cy.post(`${path}/threads/999999`, { body: 'x' })).status, 404)
  assert.equal((await cy.post(`${path}/review-comments/${first.id}`, { body: 'Mine now' })).status, 403)
  const ada = await signedIn(forge, 'ada')
  const id = `discussion_r${first.id}`
  assert.match((await ada.get(`${path}?edit=${id}`)).text, /<textarea id="discussion_r\d+-body"/)
  await ada.post(`${path}/review-comments/${first.id}`, { page: 'conversation', body: 'Changed <script>' })
  assert.match((await ada.get(`${files}?delete=${id}`)).text, /Changed &lt;script&gt;.*Delete this comment\?/s)
  assert.equal((await ada.post(`${path}/review-comments/${first.id}`, { page: 'files', delete: 'yes' })).status, 303)
  assert.equal((await forge.ada.read(`${pull}/comments`)).length, 2)
}))

test('a comment on a line that changed is outdated, and stays in the conversation', inject(async (forge) => {
  await expect(201, await forge.ada.post(`${pull}/comments`, { path: 'new.txt', line: 1, commit_id: forge.head, body: 'Old' }))
  const nobody = new Guest(forge)
  assert.equal((await nobody.get(files)).text.includes('outdated'), false)
  await forge.work.commit('Again', { 'new.txt': 'newer\n' })
  await forge.work.push('HEAD:topic')
  await runJobs(forge, pullTasks(forge.belfry.db, forge.belfry.storage))
  assert.match((await nobody.get(files)).text, /1 outdated conversation/)
  assert.match((await nobody.get(path)).text, /class="code">new<.*Old/s)
}))

test('a suggestion is committed to the branch once, by those who may push', inject(async (forge) => {
  const body = 'Better:\n```suggestion\nnewest\n<b>\n```'
  const made = { path: 'new.txt', line: 1, commit_id: forge.head, body }
  const { id } = await expect(201, await forge.ada.post(`${pull}/comments`, made))
  const [ben, dan] = [await signedIn(forge, 'ben'), await signedIn(forge, 'dan')]
  assert.equal((await dan.get(path)).text.includes('Commit suggestion'), false)
  const suggestion = 'newest\r\n<b>\r\n'
  assert.equal((await dan.post(`${path}/suggestions/${id}`, { suggestion })).status, 403)
  assert.match((await ben.get(path)).text, /Commit suggestion/)
  assert.match((await ben.post(`${path}/suggestions/${id}`, { suggestion: 'other\n' })).text, /does not suggest this/)
  assert.match((await ben.postAndFollow(`${path}/suggestions/${id}`, { suggestion })).text, /The suggestion is committed/)
  const { content } = await forge.ada.read(`${engine}/contents/new.txt?ref=topic`)
  assert.equal(Buffer.from(content, 'base64').toString(), 'newest\n<b>\n')
  await runJobs(forge, pullTasks(forge.belfry.db, forge.belfry.storage))
  assert.match((await ben.post(`${path}/suggestions/${id}`, { suggestion })).text, /have changed since/)
}))

test('reviewers are requested and dismissed on the page', inject(async (forge) => {
  const [ada, ben, cy, dan] = await Promise.all(['ada', 'ben', 'cy', 'dan'].map((login) => signedIn(forge, login)))
  assert.ok(ada && ben && cy && dan)
  assert.match((await ben.get(path)).text, /Change: Reviewers/)
  assert.equal((await ben.post(`${path}/reviewers`, { reviewer: ['ada', 'cy'] })).location, path)
  assert.equal((await ben.post(`${path}/reviewers`, { had: ['ada', 'cy'], reviewer: 'cy' })).location, path)
  assert.deepEqual(
    (await forge.ada.read(`${pull}/requested_reviewers`)).users.map(({ login }: { login: string }) => login),
    ['cy'],
  )
  assert.match((await ben.post(`${path}/reviewers`, { reviewer: 'dan' })).text, /only be requested from collaborators/)
  await dan.get(path)
  assert.equal((await dan.post(`${path}/reviewers`, { reviewer: 'ada' })).status, 403)
  assert.match((await ben.get(files)).text, /Finish your review/)
  assert.equal((await ben.get(files)).text.includes('value="APPROVE"'), false, 'authors do not judge their own changes')
  assert.match((await ben.post(`${path}/reviews`, { event: 'APPROVE', body: '' })).text, /your own pull request/)
  await cy.get(files)
  const approved = await cy.postAndFollow(`${path}/reviews`, { event: 'APPROVE', body: '', commit: forge.head })
  assert.match(approved.text, /approved these changes/)
  const [, id = ''] = /id="pullrequestreview-(\d+)"/.exec(approved.text) ?? []
  assert.match((await ada.get(`${path}?dismiss=${id}`)).text, /Why is this review dismissed/)
  assert.match(
    (await ada.postAndFollow(`${path}/reviews/${id}/dismissal`, { message: 'Stale <b>' })).text,
    /Dismissed: Stale &lt;b&gt;/,
  )
  assert.equal((await cy.post(`${path}/reviews/${id}/dismissal`, { message: 'No' })).status, 403)
}))

test('a text is divided at its suggestions', () => {
  assert.deepEqual(piecesOf('a\n```suggestion\nb\n```\nc'), [{ text: 'a\n' }, { suggestion: 'b\n' }, { text: 'c' }])
  assert.deepEqual(piecesOf('```suggestion\n```'), [{ suggestion: '' }])
  assert.deepEqual(piecesOf('````suggestion\n```\n````'), [{ suggestion: '```\n' }])
  assert.deepEqual(piecesOf('```suggestion\nopen'), [{ text: '```suggestion\nopen' }])
})
