import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { engine } from '#test/conversations.ts'
import { type Client, expect } from '#test/forge.ts'
import { openWithPull } from '#test/reviews.ts'

/** Every request with a response body; creations come first. `{r}` and `{c}` are the last created ones. */
const visits: [operation: string, method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object][] = [
  ['pulls/request-reviewers', 'post', 'pulls/1/requested_reviewers', { reviewers: ['ada', 'cy'], team_reviewers: ['core'] }],
  ['pulls/list-requested-reviewers', 'get', 'pulls/1/requested_reviewers'],
  ['pulls/remove-requested-reviewers', 'delete', 'pulls/1/requested_reviewers', { reviewers: ['cy'] }],
  ['pulls/create-review', 'post', 'pulls/1/reviews', { comments: [{ path: 'mill.txt', line: 2, body: 'x' }] }],
  ['pulls/delete-pending-review', 'delete', 'pulls/1/reviews/{r}'],
  ['pulls/create-review', 'post', 'pulls/1/reviews', { comments: [{ path: 'mill.txt', line: 4, start_line: 2, body: 'x' }] }],
  ['pulls/update-review', 'put', 'pulls/1/reviews/{r}', { body: 'So' }],
  ['pulls/submit-review', 'post', 'pulls/1/reviews/{r}/events', { event: 'APPROVE' }],
  ['pulls/get-review', 'get', 'pulls/1/reviews/{r}'],
  ['pulls/list-comments-for-review', 'get', 'pulls/1/reviews/{r}/comments'],
  ['pulls/dismiss-review', 'put', 'pulls/1/reviews/{r}/dismissals', { message: 'No' }],
  ['pulls/list-reviews', 'get', 'pulls/1/reviews'],
  [
    'pulls/create-review-comment',
    'post',
    'pulls/1/comments',
    { path: 'mill.txt', subject_type: 'file', body: 'x', commit_id: '{h}' },
  ],
  ['pulls/create-review-comment', 'post', 'pulls/1/comments', { path: 'mill.txt', line: 2, body: 'x', commit_id: '{h}' }],
  ['pulls/create-reply-for-review-comment', 'post', 'pulls/1/comments/{c}/replies', { body: 'y' }],
  ['pulls/update-review-comment', 'patch', 'pulls/comments/{c}', { body: 'z' }],
  ['pulls/get-review-comment', 'get', 'pulls/comments/{c}'],
  ['pulls/list-review-comments', 'get', 'pulls/1/comments'],
  ['pulls/list-review-comments-for-repo', 'get', 'pulls/comments'],
  ['activity/list-repo-events', 'get', 'events'],
]

test('every response about reviews matches the public documentation, on both variants', async () => {
  await using forge = await openWithPull()
  await forge.organization('acme', forge.ada)
  await expect(202, await forge.ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  await expect(201, await forge.ada.post('/orgs/acme/teams', { name: 'Core' }))
  await expect(204, await forge.ada.put('/orgs/acme/teams/core/repos/acme/engine'))
  for (const name of ['self-hosted', 'versioned'] as const) {
    const contract = Contract.of(name)
    const speaker: Client = name === 'versioned' ? forge.ada.versioned : forge.ada
    const ada = speaker.with({ accept: 'application/vnd.github+json' })
    const faults: Fault[] = []
    const made = { r: '', c: '', h: forge.head }
    const fill = (text: string) => text.replaceAll(/\{([rch])\}/g, (_, letter: 'r' | 'c' | 'h') => made[letter])
    for (const [operation, method, path, body] of visits) {
      const answer = await ada[method](`/repos/acme/engine/${fill(path)}`, body && JSON.parse(fill(JSON.stringify(body))))
      assert.ok(answer.ok, `${operation}: ${answer.status}`)
      const found = await expect(answer.status, answer)
      if (operation === 'pulls/list-requested-reviewers') assert.equal(found.teams.length, 1)
      if (Array.isArray(found)) assert.ok(found.length > 0, `${path} shows nothing`)
      if (operation === 'pulls/create-review') made.r = found.id
      if (operation === 'pulls/create-review-comment') made.c = found.id
      faults.push(...contract.check(operation, answer.status, 'application/json', found))
      if (path !== 'events') continue
      for (const kind of ['PullRequestReviewEvent', 'PullRequestReviewCommentEvent']) {
        const events = found.filter(({ type }: { type: string }) => type === kind)
        assert.ok(events.length > 0)
        for (const event of events) faults.push(...contract.checkPayload(operation, event))
      }
    }
    for (const [operation, path, at] of [
      ['pulls/create-review', 'reviews', { comments: [{ path: 'mill.txt', line: 9, body: 'x' }] }],
      ['pulls/create-review', 'reviews', { comments: [{ path: 'mill.txt', body: 'x' }] }],
      ['pulls/create-review', 'reviews', { commit_id: forge.base }],
      ['pulls/create-review-comment', 'comments', { path: 'mill.txt', line: 9, body: 'x', commit_id: forge.head }],
      ['pulls/create-review-comment', 'comments', { path: 'mill.txt', body: 'x', commit_id: forge.head }],
      ['pulls/create-review-comment', 'comments', { body: 'x' }],
    ] as const) {
      const refused = await expect(422, await ada.post(`/repos/acme/engine/pulls/1/${path}`, at))
      faults.push(...contract.check(operation, 422, 'application/json', refused))
    }
    assert.deepEqual([...new Set(faults.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
  }
})
