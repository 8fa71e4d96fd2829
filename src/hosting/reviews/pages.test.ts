import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pullTasks } from '#hosting/pulls/jobs.ts'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { runJobs } from '#test/jobs.ts'
import { openWithPull, pull } from '#test/reviews.ts'
import { piecesOf } from './suggestions.ts'

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

test('a thread is resolved and unresolved by its author, the author of the pull request and users with push access', inject(async (forge) => {
  const made = { path: 'mill.txt', line: 2, commit_id: forge.head, body: 'Why?' }
  const first = await expect(201, await forge.dan.post(`${pull}/comments`, made))
  const reply = await expect(201, await forge.ada.post(`${pull}/comments/${first.id}/replies`, { body: 'Because' }))
  const { user } = await forge.ada.read(pull)
  const [dan, author, ada, cy] = [
    await signedIn(forge, 'dan'),
    await signedIn(forge, user.login),
    await signedIn(forge, 'ada'),
    await signedIn(forge, 'cy'),
  ]
  const guest = new Guest(forge)
  for (const who of [ada, cy]) await who.get(path)
  const address = `${path}/threads/${first.id}/resolution`
  const resolve = (who: Guest, resolved: string, page = 'files') => who.post(address, { resolved, page })
  const fold = /<details class="thread-fold"><summary>.*resolved 2 comments.*Why\?/s
  for (const [who, login, page, back] of [
    [dan, 'dan', 'files', files],
    [author, user.login, 'conversation', path],
    [ada, 'ada', 'files', files],
  ] as const) {
    assert.match((await who.get(back)).text, /Resolve conversation/)
    assert.equal((await resolve(who, 'yes', page)).location, `${back}#thread-${first.id}`)
    assert.equal((await resolve(ada, 'yes', page)).status, 303)
    const { text } = await guest.get(back)
    assert.match(text, fold)
    assert.match(text, new RegExp(`<strong>${login}</strong> resolved`), 'the first to resolve it is named')
    assert.doesNotMatch(text, /olve conversation/)
    assert.match((await who.get(back)).text, /Unresolve conversation/)
    assert.equal((await resolve(who, 'no', page)).status, 303)
    assert.doesNotMatch((await guest.get(back)).text, /thread-fold/)
  }
  assert.doesNotMatch((await cy.get(files)).text, /Resolve conversation/)
  assert.equal((await resolve(cy, 'yes')).status, 403)
  for (const id of [reply.id, 999_999, 'x']) {
    assert.equal((await ada.post(`${path}/threads/${id}/resolution`, { resolved: 'yes' })).status, 404, String(id))
  }
  await expect(204, await forge.ada.put(`${engine}/issues/1/lock`))
  assert.equal((await resolve(dan, 'yes')).status, 403)
  assert.equal((await resolve(ada, 'yes')).status, 303)
  assert.match((await ada.get(`${path}?edit=discussion_r${first.id}`)).text, /<details class="thread-fold" open>/)
  await expect(204, await forge.ada.delete(`${engine}/pulls/comments/${first.id}`))
  assert.doesNotMatch((await guest.get(path)).text, /thread-fold/, 'a reply without its first comment is a new thread')
}))

test('pages name the user who edited the text of another', inject(async (forge) => {
  const { head, ada, cy } = forge
  const guest = await signedIn(forge, 'ada')
  const by = (login: string) => new RegExp(`edited by <a href="/${login}">`, 'g')
  const edits = async () => ((await guest.get(path)).text.match(by('ada')) ?? []).length
  const review = await expect(200, await cy.post(`${pull}/reviews`, { event: 'COMMENT', body: 'Hm' }))
  const line = await expect(201, await cy.post(`${pull}/comments`, { path: 'mill.txt', line: 2, commit_id: head, body: 'Line' }))
  const comment = await expect(201, await cy.post(`${engine}/issues/1/comments`, { body: 'Talk' }))
  await expect(200, await cy.put(`${pull}/reviews/${review.id}`, { body: 'Hmm' }))
  const own = (await guest.get(path)).text
  assert.match(own, /edited<\/span>/)
  assert.equal(await edits(), 0)
  await expect(200, await ada.put(`${pull}/reviews/${review.id}`, { body: 'Yes' }))
  assert.equal(await edits(), 1)
  await expect(200, await ada.patch(`${engine}/pulls/comments/${line.id}`, { body: 'Other line' }))
  assert.equal(await edits(), 2)
  await expect(200, await ada.patch(`${engine}/issues/comments/${comment.id}`, { body: 'Other talk' }))
  assert.equal(await edits(), 3)
}))

test('a pending thread cannot be resolved', inject(async (forge) => {
  const ada = await signedIn(forge, 'ada')
  const at = { anchor: 'x', path: 'mill.txt', line: '2', side: 'R', commit: forge.head, page: 'files', how: 'review', body: 'Hm' }
  const id = /r(\d+)$/.exec((await ada.fill(files, at, `${path}/review-comments`)).location ?? '')?.[1]
  assert.doesNotMatch((await ada.get(files)).text, /Resolve conversation/)
  assert.equal((await ada.post(`${path}/threads/${id}/resolution`, { resolved: 'yes' })).status, 404)
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

test('teams with access are offered as reviewers to those who may see them', inject(async (forge) => {
  await forge.organization('acme', forge.ada)
  await expect(202, await forge.ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  for (const login of ['ben', 'cy']) await expect(200, await forge.ada.put(`/orgs/acme/memberships/${login}`))
  for (const [name, privacy] of Object.entries({ Core: 'closed', Outside: 'closed', Hidden: 'secret' })) {
    await expect(201, await forge.ada.post('/orgs/acme/teams', { name, privacy }))
    if (name !== 'Outside') {
      await expect(204, await forge.ada.put(`/orgs/acme/teams/${name}/repos/acme/engine`, { permission: 'push' }))
    }
  }
  const [ada, ben] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ben')]
  const moved = '/acme/engine/pull/1'
  const offered = async (who: Guest) =>
    [...(await who.get(moved)).text.matchAll(/name="reviewer" value="(acme\/[^"]*)"( checked)?/g)].map(
      ([, name, on = '']) => name + on,
    )
  assert.deepEqual(await offered(ada), ['acme/core', 'acme/hidden'])
  assert.deepEqual(await offered(ben), ['acme/core'])
  assert.equal((await ben.post(`${moved}/reviewers`, { reviewer: ['cy', 'acme/core'] })).location, moved)
  assert.equal((await ada.post(`${moved}/reviewers`, { reviewer: 'ACME/Hidden' })).location, moved)
  assert.deepEqual(await offered(ben), ['acme/core checked'])
  assert.deepEqual(await offered(ada), ['acme/core checked', 'acme/hidden checked'])
  assert.equal((await ben.post(`${moved}/reviewers`, { had: ['cy', 'acme/core'], reviewer: 'cy' })).location, moved)
  const { users, teams } = await forge.ada.read('/repos/acme/engine/pulls/1/requested_reviewers')
  assert.deepEqual([users[0].login, teams.map(({ slug }: { slug: string }) => slug)], ['cy', ['hidden']])
  for (const reviewer of ['acme/outside', 'other/core', 'acme/', '/', 'acme/core/x']) {
    const refused = await ben.post(`${moved}/reviewers`, { reviewer })
    assert.equal(refused.status, 422, reviewer)
    assert.match(refused.text, /only be requested from collaborators/)
  }
}))

test('a text is divided at its suggestions', () => {
  assert.deepEqual(piecesOf('a\n```suggestion\nb\n```\nc'), [{ text: 'a\n' }, { suggestion: 'b\n' }, { text: 'c' }])
  assert.deepEqual(piecesOf('```suggestion\n```'), [{ suggestion: '' }])
  assert.deepEqual(piecesOf('````suggestion\n```\n````'), [{ suggestion: '```\n' }])
  assert.deepEqual(piecesOf('```suggestion\nopen'), [{ text: '```suggestion\nopen' }])
})
