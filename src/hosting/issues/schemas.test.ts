import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { engine, openWithEngine } from '#test/conversations.ts'
import { type Client, expect } from '#test/forge.ts'

/** Every request with a response body; creations come first. `{m}` is a new number on each variant, `{comment}` the id of its comment. */
const visits: [operation: string, method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object][] = [
  ['issues/create-milestone', 'post', 'milestones', { title: 'T{m}', due_on: '2026-03-01T00:00:00Z' }],
  ['issues/create-label', 'post', 'labels', { name: 'L{m}', color: 'ff0000', description: 'Red' }],
  ['issues/create', 'post', 'issues', { title: 'Smoke', labels: ['L{m}'], assignees: ['ben', 'ada'], milestone: '{m}' }],
  ['issues/create-comment', 'post', 'issues/{m}/comments', { body: 'Hm' }],
  ['issues/update', 'patch', 'issues/{m}', { state: 'closed', state_reason: 'duplicate' }],
  ['issues/update-comment', 'patch', 'issues/comments/{comment}', { body: 'Ha' }],
  ['issues/update-label', 'patch', 'labels/L{m}', { description: null }],
  ['issues/update-milestone', 'patch', 'milestones/{m}', { state: 'open' }],
  ['issues/add-assignees', 'post', 'issues/{m}/assignees', { assignees: ['cy'] }],
  ['issues/remove-assignees', 'delete', 'issues/{m}/assignees', { assignees: ['cy'] }],
  ['issues/add-labels', 'post', 'issues/{m}/labels', { labels: ['a', 'b'] }],
  ['issues/remove-label', 'delete', 'issues/{m}/labels/a'],
  ['issues/list-labels-on-issue', 'get', 'issues/{m}/labels'],
  ['issues/list-labels-for-milestone', 'get', 'milestones/{m}/labels'],
  ['issues/set-labels', 'put', 'issues/{m}/labels', { labels: ['L{m}', 'c'] }],
  ['issues/get', 'get', 'issues/{m}'],
  ['issues/list-for-repo', 'get', 'issues?state=all'],
  ['issues/list-comments', 'get', 'issues/{m}/comments'],
  ['issues/list-comments-for-repo', 'get', 'issues/comments'],
  ['issues/get-comment', 'get', 'issues/comments/{comment}'],
  ['issues/list-assignees', 'get', 'assignees'],
  ['issues/list-labels-for-repo', 'get', 'labels'],
  ['issues/get-label', 'get', 'labels/L{m}'],
  ['issues/list-milestones', 'get', 'milestones'],
  ['issues/get-milestone', 'get', 'milestones/{m}'],
  ['activity/list-repo-events', 'get', 'events'],
]

test('every response about issues matches the public documentation, on both variants', async () => {
  await using forge = await openWithEngine()
  for (const [index, name] of (['self-hosted', 'versioned'] as const).entries()) {
    const contract = Contract.of(name)
    const speaker: Client = name === 'versioned' ? forge.ada.versioned : forge.ada
    const ada = speaker.with({ accept: 'application/vnd.github+json' })
    let comment = 0
    const fill = (text: string) => text.replaceAll('{m}', `${index + 1}`).replaceAll('{comment}', `${comment}`)
    const faults: Fault[] = []
    for (const [operation, method, path, body] of visits) {
      const sent = body && JSON.parse(fill(JSON.stringify(body)))
      const answer = await ada[method](`${engine}/${fill(path)}`, sent)
      assert.ok(answer.ok, `${operation}: ${answer.status}`)
      const found = await expect(answer.status, answer)
      if (operation === 'issues/create-comment') comment = found.id
      if (Array.isArray(found)) assert.ok(found.length > 0, `${path} shows nothing`)
      faults.push(...contract.check(operation, answer.status, 'application/json', found))
      if (path !== 'events') continue
      for (const event of found) faults.push(...contract.checkPayload(operation, event))
      const kinds = new Set(
        found.map(({ type, payload }: { type: string; payload: { action?: string } }) => `${type} ${payload.action}`),
      )
      for (const action of ['opened', 'closed', 'assigned', 'unassigned', 'labeled', 'unlabeled'])
        assert.ok(kinds.has(`IssuesEvent ${action}`))
      assert.ok(kinds.has('IssueCommentEvent created'))
    }
    const own = await ada.read('/issues?state=all')
    assert.ok(own.length > 0)
    faults.push(...contract.check('issues/list', 200, 'application/json', own))
    assert.deepEqual([...new Set(faults.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
  }
})
