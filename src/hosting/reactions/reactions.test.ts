import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { assertDocumented } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf } from '#test/forge.ts'
import { openWithPull, pull } from '#test/reviews.ts'

/** A pull request with a comment of each kind, and a release. */
const inject = injecting(async () => {
  const forge = await openWithPull()
  const { ada } = forge
  const make = async (path: string, body: Record<string, unknown>) =>
    `${engine}/${path}/${(await expect(201, await ada.post(`${engine}/${path}`, body))).id}`
  const at = { path: 'mill.txt', line: 2, body: 'Loud', commit_id: forge.head }
  const { id: line_id } = await expect(201, await ada.post(`${pull}/comments`, at))
  const { id: comment_id } = await expect(201, await ada.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  const { id: noted_id } = await expect(201, await ada.post(`${engine}/commits/${forge.head}/comments`, { body: 'Hm' }))
  const subjects = {
    issue: `${engine}/issues/1`,
    'issue-comment': `${engine}/issues/comments/${comment_id}`,
    'pull-request-review-comment': `${engine}/pulls/comments/${line_id}`,
    'commit-comment': `${engine}/comments/${noted_id}`,
    release: await make('releases', { tag_name: 'v1' }),
  }
  return Object.assign(forge, { subjects })
})

test('users react to every kind of text, and the text counts reactions', inject(async ({ forge, ada, dan, nobody, subjects }) => {
  for (const [kind, path] of Object.entries(subjects)) {
    const made = await expect(201, await dan.post(`${path}/reactions`, { content: 'heart' }))
    assert.deepEqual(await expect(200, await dan.post(`${path}/reactions`, { content: 'heart' })), made, 'again is the same')
    await expect(201, await ada.post(`${path}/reactions`, { content: '+1' }))
    await expect(201, await dan.post(`${path}/reactions`, { content: '+1' }))
    assert.deepEqual(linesOf(await nobody.read(`${path}/reactions`), 'user.login', 'content'), ['dan heart', 'ada +1', 'dan +1'])
    assert.deepEqual(linesOf(await nobody.read(`${path}/reactions?content=heart`), 'user.login'), ['dan'])
    const { reactions } = await nobody.read(path)
    assert.partialDeepStrictEqual(reactions, { total_count: 3, '+1': 2, heart: 1, '-1': 0 }, kind)
    assert.equal(reactions.url, `${forge.web}/api/v3${path}/reactions`)
    assert.equal((await ada.delete(`${path}/reactions/${made.id}`)).status, 403, 'it is not hers')
    assert.equal((await dan.delete(`${path}/reactions/${made.id}`)).status, 204)
    assert.equal((await dan.delete(`${path}/reactions/${made.id}`)).status, 404)
    assert.equal((await nobody.read(path)).reactions.total_count, 2)
  }
  assert.deepEqual(linesOf(await nobody.read(`${engine}/issues`), 'number', 'reactions.+1'), ['1 2'])
  assert.deepEqual(linesOf(await nobody.read(`${engine}/issues/1/comments`), 'reactions.total_count'), ['2'])
  assert.deepEqual(errorsOf(forge), [])
}))

test('a reaction needs a known content, a text that is there, and a conversation that is open', inject(async (forge) => {
  const { ada, dan, nobody, subjects } = forge
  assert.equal((await dan.post(`${subjects.issue}/reactions`, { content: 'tada' })).status, 422)
  assert.equal((await dan.post(`${subjects.issue}/reactions`)).status, 422)
  assert.equal((await dan.post(`${subjects.release}/reactions`, { content: 'confused' })).status, 422, 'not for releases')
  assert.equal((await nobody.post(`${subjects.issue}/reactions`, { content: 'heart' })).status, 401)
  assert.equal((await dan.post(`${engine}/issues/99/reactions`, { content: 'heart' })).status, 404)
  assert.equal((await dan.get(`${engine}/comments/999999/reactions`)).status, 404)
  const reader = await forge.tokenFor('dan', ['gist'])
  assert.equal((await reader.post(`${subjects.issue}/reactions`, { content: 'heart' })).status, 403)
  const { id } = await expect(201, await dan.post(`${subjects.issue}/reactions`, { content: 'heart' }))
  assert.equal((await dan.delete(`${subjects['issue-comment']}/reactions/${id}`)).status, 404, 'it belongs to another text')
  await expect(204, await ada.put(`${engine}/issues/1/lock`))
  for (const kind of ['issue', 'issue-comment', 'pull-request-review-comment'] as const) {
    assert.equal((await dan.post(`${subjects[kind]}/reactions`, { content: 'eyes' })).status, 403)
    assert.equal((await ada.post(`${subjects[kind]}/reactions`, { content: 'eyes' })).status, 201)
  }
  await expect(200, await ada.patch(engine, { private: true }))
  assert.equal((await dan.get(`${subjects.issue}/reactions`)).status, 404)
}))

test('concurrent reactions of one kind are one', inject(async ({ dan, subjects }) => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => dan.post(`${subjects.issue}/reactions`, { content: 'rocket' })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 201])
}))

test('responses about reactions match the public documentation', inject(async ({ ada, dan, subjects }) => {
  for (const variant of ['self-hosted', 'versioned'] as const) {
    for (const [kind, path] of Object.entries(subjects)) {
      await assertDocumented(variant === 'versioned' ? ada : dan, variant, [
        [`reactions/create-for-${kind}`, 'post', `${path}/reactions`, { content: 'hooray' }],
        [`reactions/list-for-${kind}`, 'get', `${path}/reactions`],
      ])
    }
    await assertDocumented(ada, variant, [
      ['issues/get', 'get', subjects.issue],
      ['issues/get-comment', 'get', subjects['issue-comment']],
      ['pulls/get-review-comment', 'get', subjects['pull-request-review-comment']],
      ['repos/get-commit-comment', 'get', subjects['commit-comment']],
      ['repos/get-release', 'get', subjects.release],
    ])
  }
}))
