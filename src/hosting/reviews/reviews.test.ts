import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, fineGrained, repo } from '#test/conversations.ts'
import { type Client, expect, injecting, linesOf } from '#test/forge.ts'
import { noticesOf } from '#test/notices.ts'
import { Octokit } from '#test/octokit.ts'
import { openWithPull, pull } from '#test/reviews.ts'

const inject = injecting(openWithPull)
const all = `${pull}/reviews`
const here = { ...repo, pull_number: 1 }
const states = async (who: Client) =>
  (await who.read(all)).map(({ state, user }: { state: string; user: { login: string } }) => `${user.login} ${state}`)

test('octokit creates, reads, changes, submits and dismisses reviews', inject(async (forge) => {
  for (const baseUrl of [`${forge.web}/api/v3`, forge.versioned]) {
    const { pulls } = new Octokit({ baseUrl, auth: forge.ada.token })
    const comments = [{ path: 'mill.txt', line: 2, body: 'Why?' }]
    const made = await pulls.createReview({ ...here, body: 'So far', comments })
    assert.equal(made.status, 200)
    const review_id = made.data.id
    assert.partialDeepStrictEqual(made.data, {
      html_url: `${forge.web}/ada/engine/pull/1#pullrequestreview-${review_id}`,
      pull_request_url: `${baseUrl}${pull}`,
      _links: { pull_request: { href: `${baseUrl}${pull}` } },
      user: { login: 'ada' },
      state: 'PENDING',
      body: 'So far',
      commit_id: forge.head,
      author_association: 'OWNER',
    })
    assert.equal(made.data.submitted_at, undefined)
    await pulls.updateReview({ ...here, review_id, body: 'Nearly' })
    const said = (await pulls.listCommentsForReview({ ...here, review_id })).data
    assert.deepEqual(linesOf(said, 'path', 'line', 'body', 'pull_request_review_id'), [`mill.txt 2 Why? ${review_id}`])
    const submitted = await pulls.submitReview({ ...here, review_id, event: 'APPROVE' })
    assert.partialDeepStrictEqual(submitted.data, { id: review_id, state: 'APPROVED', body: 'Nearly' })
    assert.ok(submitted.data.submitted_at)
    assert.deepEqual((await pulls.getReview({ ...here, review_id })).data, submitted.data)
    assert.deepEqual((await pulls.listReviews(here)).data.at(-1), submitted.data)
    const dismissed = await pulls.dismissReview({ ...here, review_id, message: 'Much has changed' })
    assert.partialDeepStrictEqual(dismissed.data, { id: review_id, state: 'DISMISSED', body: 'Nearly' })
    const other = (await pulls.createReview(here)).data
    assert.equal((await pulls.deletePendingReview({ ...here, review_id: other.id })).data.id, other.id)
    await assert.rejects(pulls.getReview({ ...here, review_id: other.id }), { status: 404 })
  }
}))

test('only its author sees a pending review, and each user has at most one', inject(async ({ forge, ada, ben, dan, nobody }) => {
  const comments = [{ path: 'mill.txt', line: 2, body: 'Hush @cy' }]
  const { id } = await expect(200, await dan.post(all, { body: 'Draft', comments }))
  const [comment] = await dan.read(`${all}/${id}/comments`)
  const paths = [`${all}/${id}`, `${all}/${id}/comments`, `${engine}/pulls/comments/${comment.id}`]
  for (const who of [ada, ben, nobody]) {
    for (const path of paths) assert.equal((await who.get(path)).status, 404, path)
    for (const path of [all, `${pull}/comments`, `${engine}/pulls/comments`]) assert.deepEqual(await who.read(path), [], path)
  }
  for (const path of paths) assert.equal((await dan.get(path)).status, 200, path)
  for (const path of [all, `${pull}/comments`, `${engine}/pulls/comments`]) assert.equal((await dan.read(path)).length, 1, path)
  for (const who of [ada, ben]) {
    assert.equal((await who.put(`${all}/${id}`, { body: 'x' })).status, 404)
    assert.equal((await who.post(`${all}/${id}/events`, { event: 'COMMENT', body: 'x' })).status, 404)
    assert.equal((await who.put(`${all}/${id}/dismissals`, { message: 'x' })).status, 404)
    assert.equal((await who.delete(`${all}/${id}`)).status, 404)
    assert.equal((await who.patch(`${engine}/pulls/comments/${comment.id}`, { body: 'x' })).status, 404)
    assert.equal((await who.delete(`${engine}/pulls/comments/${comment.id}`)).status, 404)
    assert.equal((await who.post(`${pull}/comments/${comment.id}/replies`, { body: 'x' })).status, 404)
  }
  assert.equal((await dan.post(`${pull}/comments/${comment.id}/replies`, { body: 'x' })).status, 404)
  await expect(200, await dan.patch(`${engine}/pulls/comments/${comment.id}`, { body: 'Hush @ben' }))
  await expect(200, await dan.put(`${all}/${id}`, { body: 'Draft again' }))
  const refused = await expect(422, await dan.post(all, { body: 'Another' }))
  assert.equal(refused.message, 'User can only have one pending review per pull request')
  await expect(200, await ada.post(all, { body: 'Mine' }))
  assert.equal((await nobody.read(pull)).review_comments, 0)
  assert.deepEqual((await noticesOf(forge)).slice(1), [], 'nobody is told of what is not submitted')
  assert.deepEqual(await states(dan), ['dan PENDING'])
  await expect(200, await dan.post(`${all}/${id}/events`, { event: 'COMMENT' }))
  assert.deepEqual(await states(nobody), ['dan COMMENTED'])
  assert.equal((await nobody.read(`${all}/${id}/comments`)).length, 1)
  assert.equal((await noticesOf(forge)).at(-1), 'dan reviewed PullRequest #1 PullRequestReview "Draft again\\n\\nHush @ben"')
}))

test('authors cannot approve their own pull request, and a request for changes needs a reason', inject(async (forge) => {
  const { ada, ben, cy } = forge
  for (const [event, message] of [
    ['APPROVE', 'Can not approve your own pull request'],
    ['REQUEST_CHANGES', 'Can not request changes on your own pull request'],
  ] as const) {
    assert.equal((await expect(422, await ben.post(all, { event, body: 'x' }))).message, message)
    const { id } = await expect(200, await ben.post(all))
    assert.equal((await expect(422, await ben.post(`${all}/${id}/events`, { event, body: 'x' }))).message, message)
    await expect(200, await ben.delete(`${all}/${id}`))
  }
  await expect(200, await ben.post(all, { event: 'COMMENT', body: 'Look here' }))
  for (const event of ['COMMENT', 'REQUEST_CHANGES']) {
    for (const body of [undefined, null, '', ' \n']) assert.equal((await ada.post(all, { event, body })).status, 422)
  }
  assert.equal(
    (await ada.post(all, { event: 'REQUEST_CHANGES', comments: [{ path: 'mill.txt', line: 2, body: 'x' }] })).status,
    422,
  )
  await expect(200, await ada.post(all, { event: 'COMMENT', comments: [{ path: 'mill.txt', line: 2, body: 'x' }] }))
  await expect(200, await ada.post(all, { event: 'REQUEST_CHANGES', body: 'Finer' }))
  await expect(200, await cy.post(all, { event: 'APPROVE' }))
  assert.deepEqual(await states(ada), ['ben COMMENTED', 'ada COMMENTED', 'ada CHANGES_REQUESTED', 'cy APPROVED'])
}))

test('of two concurrent submissions of a review, one succeeds', inject(async ({ forge, ada }) => {
  const { id } = await expect(200, await ada.post(all, { body: 'x' }))
  const verdicts = ['APPROVE', 'REQUEST_CHANGES', 'COMMENT', 'APPROVE']
  const answers = await Promise.all(verdicts.map((event) => ada.post(`${all}/${id}/events`, { event })))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422, 422, 422])
  const events = await ada.read(`${engine}/events`)
  assert.equal(events.filter(({ type }: { type: string }) => type === 'PullRequestReviewEvent').length, 1)
  assert.equal((await noticesOf(forge)).filter((line) => line.includes('reviewed')).length, 1)
  const pending = await Promise.all(Array.from({ length: 4 }, () => ada.post(all, { body: 'y' })))
  assert.deepEqual(pending.map(({ status }) => status).toSorted(), [200, 422, 422, 422])
  assert.equal((await ada.delete(`${all}/${id}`)).status, 422, 'what was submitted stays')
}))

test('reviews can be changed by their author and with push access, and dismissed with push access', inject(async (forge) => {
  const { ada, ben, cy, dan, nobody } = forge
  const { id } = await expect(200, await dan.post(all, { event: 'APPROVE', body: 'Good @ada' }))
  const one = `${all}/${id}`
  for (const who of [
    nobody,
    cy,
    await forge.tokenFor('dan', ['gist']),
    await fineGrained(forge, 'dan', { pull_requests: 'write' }),
    await fineGrained(forge, 'ada', { pull_requests: 'read', contents: 'write' }),
  ]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.put(one, { body: 'y' })).status, status)
    assert.equal((await who.put(`${one}/dismissals`, { message: 'y' })).status, status)
    if (who !== cy) assert.equal((await who.post(all, { event: 'COMMENT', body: 'y' })).status, status)
  }
  assert.equal((await dan.put(`${one}/dismissals`, { message: 'y' })).status, 403)
  await expect(200, await dan.put(one, { body: 'Good @ada' }))
  await expect(200, await ben.put(one, { body: 'Good @cy' }))
  assert.deepEqual((await noticesOf(forge)).slice(1), [
    'dan reviewed PullRequest #1 PullRequestReview "Good @ada"',
    'ben edited PullRequest #1 PullRequestReview "Good @cy" "Good @ada"',
  ])
  const comment = await expect(200, await dan.post(all, { event: 'COMMENT', body: 'Hm' }))
  const refused = await expect(422, await ada.put(`${all}/${comment.id}/dismissals`, { message: 'x' }))
  assert.equal(refused.message, 'Can not dismiss a commented pull request review')
  for (const wrong of [{}, { message: '' }, { message: 7 }, { message: 'x', event: 'APPROVE' }]) {
    assert.equal((await ada.put(`${one}/dismissals`, wrong)).status, 422)
  }
  await expect(200, await ben.put(`${one}/dismissals`, { message: 'Out of date', event: 'DISMISS' }))
  assert.equal((await ben.put(`${one}/dismissals`, { message: 'Again' })).status, 422)
  await ada.owns('other')
  assert.equal((await ada.get(`/repos/ada/other/pulls/1/reviews/${id}`)).status, 404)
}))

test('a locked pull request needs push access for reviews, and an archived repository refuses them', inject(async (forge) => {
  const { ada, cy, dan } = forge
  const { id } = await expect(200, await dan.post(all, { body: 'Draft' }))
  await expect(204, await ada.put(`${engine}/issues/1/lock`))
  assert.equal((await cy.post(all, { event: 'COMMENT', body: 'x' })).status, 403)
  assert.equal((await dan.post(`${all}/${id}/events`, { event: 'COMMENT' })).status, 403)
  await expect(200, await ada.post(all, { event: 'COMMENT', body: 'x' }))
  await expect(204, await ada.delete(`${engine}/issues/1/lock`))
  await expect(200, await ada.patch(engine, { archived: true }))
  assert.equal((await ada.post(all, { event: 'COMMENT', body: 'x' })).status, 403)
  assert.equal((await dan.post(`${all}/${id}/events`, { event: 'COMMENT' })).status, 403)
  assert.equal((await dan.delete(`${all}/${id}`)).status, 403)
}))

test('reviews of a private repository need access', inject(async ({ forge, ada, cy, dan, nobody }) => {
  await expect(200, await ada.patch(engine, { private: true }))
  const { id } = await expect(200, await cy.post(all, { event: 'APPROVE' }))
  for (const who of [dan, nobody, await forge.tokenFor('ada', ['public_repo']), await fineGrained(forge, 'dan', {})]) {
    for (const path of [all, `${all}/${id}`, `${all}/${id}/comments`]) assert.equal((await who.get(path)).status, 404, path)
  }
  assert.equal((await dan.post(all, { event: 'APPROVE' })).status, 404)
}))

test('an invalid review is refused', inject(async ({ ada, nobody, base, middle, open }) => {
  for (const wrong of [
    { event: 'LOVE' },
    { event: 7 },
    { body: 7 },
    { body: 'x'.repeat(65_537) },
    { comments: {} },
    { comments: [7] },
    { comments: [{ path: 'mill.txt', line: 2 }] },
    { comments: [{ path: 'mill.txt', line: 2, body: ' ' }] },
    { comments: [{ path: 'mill.txt', line: 2, body: 'x'.repeat(65_537) }] },
    { comments: [{ path: 'mill.txt', body: 'x' }] },
    { comments: [{ path: 'nothing.txt', line: 2, body: 'x' }] },
    { commit_id: 7 },
    { commit_id: 'main' },
    { commit_id: base },
    { commit_id: '0'.repeat(40) },
  ]) {
    assert.equal((await ada.post(all, wrong)).status, 422, JSON.stringify(wrong).slice(0, 80))
  }
  assert.deepEqual(await ada.read(all), [])
  assert.equal((await expect(200, await ada.post(all, { commit_id: middle, body: 'half \ud83d' }))).commit_id, middle)
  for (const wrong of [{}, { event: null }, { event: 'PENDING' }, { event: 'COMMENT', body: 7 }]) {
    assert.equal((await ada.post(`${all}/1/events`, wrong)).status, 422)
  }
  for (const path of [
    '/2/reviews',
    '/x/reviews',
    '/1/reviews/99',
    '/1/reviews/x',
    '/99999999999/reviews',
    '/1/reviews/99/comments',
  ]) {
    assert.equal((await nobody.get(`${engine}/pulls${path}`)).status, 404, path)
  }
  await open()
  assert.equal((await ada.post(`${engine}/pulls/2/reviews`, { body: 'x' })).status, 404, 'an issue is no pull request')
}))
