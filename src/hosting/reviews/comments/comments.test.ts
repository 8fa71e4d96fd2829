import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, fineGrained, repo } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { noticesOf } from '#test/notices.ts'
import { Octokit } from '#test/octokit.ts'
import { openWithPull, pull } from '#test/reviews.ts'

const inject = injecting(openWithPull)
const on = `${pull}/comments`
const here = { ...repo, pull_number: 1 }

test('octokit creates, replies to, lists, changes and deletes review comments', inject(async (forge) => {
  for (const baseUrl of [`${forge.web}/api/v3`, forge.versioned]) {
    const { pulls } = new Octokit({ baseUrl, auth: forge.dan.token })
    const at = { path: 'mill.txt', commit_id: forge.head, line: 2, side: 'RIGHT' as const }
    const made = await pulls.createReviewComment({ ...here, ...at, body: 'Why so loud?' })
    const comment_id = made.data.id
    assert.equal(made.headers.location, `${baseUrl}${engine}/pulls/comments/${comment_id}`)
    assert.partialDeepStrictEqual(made.data, {
      ...at,
      url: `${baseUrl}${engine}/pulls/comments/${comment_id}`,
      html_url: `${forge.web}/ada/engine/pull/1#discussion_r${comment_id}`,
      pull_request_url: `${baseUrl}${pull}`,
      user: { login: 'dan' },
      body: 'Why so loud?',
      diff_hunk: '@@ -1,5 +1,5 @@\n line 1\n-line 2\n+LINE 2',
      position: 3,
      original_commit_id: forge.head,
      author_association: 'NONE',
      subject_type: 'line',
    })
    const review_id = made.data.pull_request_review_id ?? 0
    const review = (await pulls.getReview({ ...here, review_id })).data
    assert.partialDeepStrictEqual(review, { state: 'COMMENTED', body: '', commit_id: forge.head })
    const reply = (await pulls.createReplyForReviewComment({ ...here, comment_id, body: 'It has to be heard.' })).data
    assert.partialDeepStrictEqual(reply, {
      in_reply_to_id: comment_id,
      path: 'mill.txt',
      line: 2,
      diff_hunk: made.data.diff_hunk,
    })
    const second = { ...at, path: 'nowhere', in_reply_to: reply.id }
    const other = (await pulls.createReviewComment({ ...here, ...second, body: 'Ah.' })).data
    assert.partialDeepStrictEqual(other, { in_reply_to_id: comment_id, path: 'mill.txt' })
    forge.clock.advance(60_000)
    const changed = (await pulls.updateReviewComment({ ...repo, comment_id, body: 'Why?' })).data
    assert.notEqual(changed.updated_at, changed.created_at)
    assert.deepEqual((await pulls.getReviewComment({ ...repo, comment_id })).data, changed)
    assert.deepEqual((await pulls.listReviewComments(here)).data, [changed, reply, other])
    assert.deepEqual((await pulls.listReviewCommentsForRepo(repo)).data, [changed, reply, other])
    for (const { id } of [changed, reply, other]) await pulls.deleteReviewComment({ ...repo, comment_id: id })
    await assert.rejects(pulls.getReviewComment({ ...repo, comment_id }), { status: 404 })
    assert.deepEqual((await pulls.listReviews(here)).data, [], 'a review that says nothing any more is gone')
  }
}))

test('a comment has the position of its line in the diff', inject(async ({ dan, head, middle }) => {
  const say = (at: object) => dan.post(on, { body: 'x', commit_id: head, ...at })
  for (const [at, position, line, side, last] of [
    [{ path: 'mill.txt', line: 2 }, 3, 2, 'RIGHT', '+LINE 2'],
    [{ path: 'mill.txt', line: 2, side: 'LEFT' }, 2, 2, 'LEFT', '-line 2'],
    [{ path: 'mill.txt', line: 17 }, 12, 17, 'RIGHT', ' line 16'],
    [{ path: 'mill.txt', line: 16, side: 'LEFT' }, 12, 16, 'LEFT', ' line 16'],
    [{ path: 'mill.txt', position: 1 }, 1, 1, 'RIGHT', ' line 1'],
    [{ path: 'mill.txt', position: 2 }, 2, 2, 'LEFT', '-line 2'],
    [{ path: 'mill.txt', position: 11 }, 11, 16, 'RIGHT', '+between'],
    [{ path: 'new.txt', line: 1 }, 1, 1, 'RIGHT', '+new'],
    [{ path: 'gone.txt', line: 1, side: 'LEFT' }, 1, 1, 'LEFT', '-gone'],
  ] as const) {
    const made = await expect(201, await say(at))
    assert.partialDeepStrictEqual(made, { position, line, side, start_line: null, start_side: null, subject_type: 'line' })
    assert.equal(made.diff_hunk.split('\n').at(-1), last)
    assert.match(made.diff_hunk, /^@@ /)
    assert.equal(made.diff_hunk.match(/^@@/gm).length, 1, 'the hunk and no other')
  }
  const several = await expect(201, await say({ path: 'mill.txt', start_line: 2, start_side: 'LEFT', line: 4 }))
  assert.partialDeepStrictEqual(several, { start_line: 2, start_side: 'LEFT', line: 4, side: 'RIGHT', original_start_line: 2 })
  for (const path of ['mill.txt', 'moved.txt', 'blob.bin']) {
    const whole = await expect(201, await say({ path, subject_type: 'file' }))
    assert.partialDeepStrictEqual(whole, { path, subject_type: 'file', position: 1 })
    assert.equal(whole.line, undefined)
  }
  const early = await expect(201, await dan.post(on, { body: 'x', path: 'new.txt', line: 1, commit_id: middle }))
  assert.equal(early.commit_id, middle)
  assert.equal((await dan.post(on, { body: 'x', path: 'mill.txt', line: 2, commit_id: middle })).status, 422)
}))

test('a position outside of the diff is refused', inject(async ({ dan, head, base }) => {
  const good = { body: 'x', commit_id: head, path: 'mill.txt', line: 2 }
  const refused = await expect(422, await dan.post(on, { ...good, line: 9 }))
  assert.deepEqual(refused.errors, [
    {
      resource: 'PullRequestReviewComment',
      code: 'custom',
      field: 'pull_request_review_thread.line',
      message: 'pull_request_review_thread.line must be part of the diff',
    },
  ])
  for (const wrong of [
    { line: 17, side: 'LEFT', start_line: 2 },
    { line: 2, start_line: 2 },
    { line: 2, start_line: 3 },
    { line: 4, start_line: 9 },
    { line: 20, side: 'LEFT' },
    { line: 0 },
    { line: 2 ** 31 },
    { line: '2' },
    { line: 2.5 },
    { side: 'MIDDLE' },
    { line: null },
    { line: null, position: 0 },
    { line: null, position: 7 },
    { line: null, position: 99 },
    { path: 'old.txt' },
    { path: 'moved.txt' },
    { path: 'blob.bin' },
    { path: '../mill.txt' },
    { path: '', subject_type: 'file' },
    { path: 7 },
    { path: undefined },
    { subject_type: 'folder' },
    { commit_id: undefined },
    { commit_id: 'topic' },
    { commit_id: base },
    { commit_id: head.slice(0, 10) },
    { commit_id: `${head.slice(0, 39)}\n` },
    { in_reply_to: 'x' },
    { in_reply_to: -1 },
    { in_reply_to: 1e300 },
    { body: '' },
    { body: '\t' },
    { body: 7 },
    { body: undefined },
    { body: 'x'.repeat(65_537) },
  ]) {
    assert.equal((await dan.post(on, { ...good, ...wrong })).status, 422, JSON.stringify(wrong).slice(0, 80))
  }
  assert.equal((await dan.post(on, { ...good, in_reply_to: 99 })).status, 404)
  assert.equal((await dan.post(`${on}/99/replies`, { body: 'x' })).status, 404)
  assert.equal((await dan.post(`${engine}/pulls/2/comments`, good)).status, 404)
  assert.deepEqual(await dan.read(on), [])
}))

test('review comments can be changed by their author and with push access, and each is published once', inject(async (forge) => {
  const { ada, ben, cy, dan, nobody } = forge
  const good = { commit_id: forge.head, path: 'mill.txt', line: 2 }
  const { id } = await expect(201, await dan.post(on, { ...good, body: 'Why, @ada?' }))
  const one = `${engine}/pulls/comments/${id}`
  for (const who of [
    nobody,
    cy,
    await forge.tokenFor('dan', ['gist']),
    await fineGrained(forge, 'dan', { pull_requests: 'write' }),
    await fineGrained(forge, 'ada', { issues: 'write', contents: 'write' }),
  ]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.patch(one, { body: 'y' })).status, status)
    assert.equal((await who.delete(one)).status, status)
    if (who === cy) continue
    assert.equal((await who.post(on, { ...good, body: 'y' })).status, status)
    assert.equal((await who.post(`${on}/${id}/replies`, { body: 'y' })).status, status)
  }
  await ada.owns('other')
  assert.equal((await ada.delete(`/repos/ada/other/pulls/comments/${id}`)).status, 404)
  await expect(201, await cy.post(`${on}/${id}/replies`, { body: 'Half \ud83d' }))
  await expect(200, await ben.patch(one, { body: 'Why, @cy?' }))
  await expect(200, await ben.patch(one, { body: 'Why, @cy?' }))
  assert.deepEqual((await noticesOf(forge)).slice(1), [
    'dan commented PullRequest #1 PullRequestReviewComment "Why, @ada?"',
    'cy commented PullRequest #1 PullRequestReviewComment "Half \ufffd"',
    'ben edited PullRequest #1 PullRequestReviewComment "Why, @cy?" "Why, @ada?"',
  ])
  assert.equal((await ada.read(pull)).review_comments, 2)
  await expect(204, await ada.put(`${engine}/issues/1/lock`))
  assert.equal((await cy.post(on, { ...good, body: 'x' })).status, 403)
  assert.equal((await dan.post(`${on}/${id}/replies`, { body: 'x' })).status, 403)
  await expect(201, await ben.post(`${on}/${id}/replies`, { body: 'x' }))
  await expect(204, await ben.delete(one))
  assert.equal((await ben.delete(one)).status, 404)
  const replies: { in_reply_to_id?: number }[] = await nobody.read(on)
  assert.deepEqual(
    replies.map(({ in_reply_to_id }) => in_reply_to_id),
    [undefined, undefined],
    'replies outlive what they reply to',
  )
  await expect(200, await ada.patch(engine, { archived: true }))
  assert.equal((await ada.post(on, { ...good, body: 'x' })).status, 403)
}))

test('deleting one of several comments keeps the review', inject(async ({ ada }) => {
  const comments = [{ path: 'mill.txt', line: 2, body: 'a' }]
  const { id } = await expect(200, await ada.post(`${pull}/reviews`, { event: 'COMMENT', body: 'More', comments }))
  const [comment] = await ada.read(`${pull}/reviews/${id}/comments`)
  await expect(204, await ada.delete(`${engine}/pulls/comments/${comment.id}`))
  assert.equal((await ada.read(`${pull}/reviews/${id}`)).body, 'More')
}))

test('lists of comments sort and filter by creation and update time', inject(async ({ dan, nobody, head, clock }) => {
  const ids: number[] = []
  for (const [body, line] of Object.entries({ a: 1, b: 2, c: 3 })) {
    ids.push((await expect(201, await dan.post(on, { body, path: 'mill.txt', line, commit_id: head }))).id)
    clock.advance(60_000)
  }
  await expect(200, await dan.patch(`${engine}/pulls/comments/${ids[0]}`, { body: 'A' }))
  for (const list of [on, `${engine}/pulls/comments`]) {
    for (const [query, bodies] of [
      ['', 'Abc'],
      ['?direction=desc', 'cbA'],
      ['?sort=updated', 'bcA'],
      ['?sort=updated&direction=desc', 'Acb'],
      ['?sort=junk&direction=junk&since=junk', 'Abc'],
      ['?since=2026-02-03T04:07:00Z', 'Ac'],
      ['?per_page=1&page=2', 'b'],
    ] as const) {
      const found: { body: string }[] = await nobody.read(`${list}${query}`)
      assert.equal(found.map(({ body }) => body).join(''), bodies, `${list}${query}`)
    }
  }
}))
