import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, join } from '#test/conversations.ts'
import { expect, injecting, type Person } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

const nothing = {
  required_status_checks: null,
  enforce_admins: null,
  required_pull_request_reviews: null,
  restrictions: null,
}
const pull = `${engine}/pulls/1`
const protect = async (who: Person, rules: Record<string, unknown> = {}) =>
  expect(200, await who.put(`${engine}/branches/main/protection`, { ...nothing, ...rules }))
const report = async (who: Person, sha: string, state: string, context = 'ci') =>
  expect(201, await who.post(`${engine}/statuses/${sha}`, { state, context }))
const stateOf = async (who: Person) => (await who.read(pull)).mergeable_state
const refused = async (who: Person, body = {}) => (await expect(405, await who.put(`${pull}/merge`, body))).message

test('required checks block a merge until they pass; others make it unstable', inject(async ({
  ada,
  ben,
  propose,
  topic,
  work,
  follow,
}) => {
  await propose({}, ben)
  await protect(ada, { required_status_checks: { strict: true, contexts: ['ci'] } })
  assert.equal(await refused(ben), 'Required status check "ci" is expected.')
  assert.equal(await stateOf(ben), 'blocked')
  await report(ada, topic, 'failure')
  assert.equal(await refused(ben), 'Required status check "ci" is failing.')
  await report(ada, topic, 'success')
  await report(ada, topic, 'pending', 'coverage')
  assert.equal(await stateOf(ben), 'unstable')
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Ahead', { 'ahead.txt': 'a\n' })
  await work.push('main')
  await follow()
  assert.equal(await stateOf(ben), 'behind')
  assert.equal(await refused(ben), 'The head branch is not up to date with the base branch.')
  await protect(ada, { required_status_checks: { strict: false, contexts: ['ci'] } })
  await report(ada, topic, 'success', 'coverage')
  assert.equal(await stateOf(ben), 'clean')
  await expect(200, await ben.put(`${pull}/merge`))
}))

test('required reviews block a merge until enough users with write access approve', inject(async ({
  ada,
  ben,
  cy,
  dan,
  propose,
  work,
  follow,
}) => {
  await join(ada, dan, 'push')
  await propose({}, dan)
  const review = async (who: Person, event: string) => expect(200, await who.post(`${pull}/reviews`, { event, body: 'Read' }))
  const reviews = { required_approving_review_count: 2, dismiss_stale_reviews: true }
  await protect(ada, { required_pull_request_reviews: reviews, enforce_admins: true })
  assert.equal(await refused(ada), 'At least 2 approving reviews are required by reviewers with write access.')
  await review(cy, 'APPROVE')
  await review(ben, 'APPROVE')
  assert.equal(await stateOf(ada), 'blocked')
  await review(ada, 'REQUEST_CHANGES')
  assert.equal(await refused(ben), 'Changes were requested by a reviewer with write access.')
  await review(ada, 'APPROVE')
  assert.equal(await stateOf(ada), 'clean')
  await work.git('checkout', '--quiet', 'topic')
  await work.commit('More', { 'more.txt': 'm\n' })
  await work.push('topic')
  await follow()
  assert.equal(await stateOf(ada), 'blocked')
  await protect(ada, { required_pull_request_reviews: { ...reviews, dismiss_stale_reviews: false }, enforce_admins: true })
  assert.equal(await stateOf(ada), 'clean')
  await protect(ada, { required_pull_request_reviews: { required_approving_review_count: 3 } })
  assert.match(await refused(dan), /At least 3 approving reviews/)
  await expect(200, await ada.put(`${pull}/merge`))
}))

test('a linear history takes squashes and rebases', inject(async ({ ada, ben, propose }) => {
  await propose({}, ben)
  await protect(ada, { required_linear_history: true, required_pull_request_reviews: { required_approving_review_count: 0 } })
  assert.match(await refused(ben), /Merge commits are not allowed on this branch/)
  await expect(200, await ben.put(`${pull}/merge`, { merge_method: 'squash' }))
}))

test('only listed users dismiss reviews of a restricted branch, and merge into it', inject(async ({
  forge,
  ada,
  ben,
  propose,
  follow,
}) => {
  await propose({}, ben)
  await forge.organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  await follow()
  const works = '/repos/acme/engine'
  const { id } = await expect(200, await ada.post(`${works}/pulls/1/reviews`, { event: 'APPROVE' }))
  const rules = { restrictions: { users: [] }, required_pull_request_reviews: { dismissal_restrictions: { users: ['cy'] } } }
  await expect(200, await ada.put(`${works}/branches/main/protection`, { ...nothing, ...rules }))
  const dismiss = (who: Person) => who.put(`${works}/pulls/1/reviews/${id}/dismissals`, { message: 'Old' })
  assert.match((await expect(403, await dismiss(ben))).message, /not authorized to dismiss/)
  assert.match((await expect(405, await ben.put(`${works}/pulls/1/merge`))).message, /not authorized to push/)
  await expect(200, await dismiss(ada))
  await expect(200, await ada.put(`${works}/pulls/1/merge`))
}))
