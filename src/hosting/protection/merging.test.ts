import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, join } from '#test/conversations.ts'
import { expect, injecting, type Person } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
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
  assert.equal(
    await refused(ben),
    'Changes were requested by a reviewer with write access. At least 2 approving reviews are required by reviewers with write access.',
  )
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

test('review conversations must be resolved before a merge, if the branch asks for it', inject(async ({
  forge,
  ada,
  ben,
  propose,
}) => {
  await propose({}, ben)
  const rules = await protect(ada, { required_conversation_resolution: true })
  assert.deepEqual(rules.required_conversation_resolution, { enabled: true })
  assert.deepEqual(await ada.read(`${engine}/branches/main/protection`), rules)
  const [pending, plain] = [{}, { event: 'COMMENT', body: 'Read' }].map((more) => ({
    ...more,
    comments: [{ path: 'notes.txt', position: 1, body: 'Why?' }],
  }))
  await expect(200, await ada.post(`${pull}/reviews`, pending))
  assert.equal(await stateOf(ben), 'clean', 'a pending review is not a conversation yet')
  await expect(200, await ben.post(`${pull}/reviews`, plain))
  const [comment] = await ben.read(`${pull}/comments`)
  await expect(201, await ada.post(`${pull}/comments/${comment.id}/replies`, { body: 'Because.' }))
  assert.equal(await stateOf(ben), 'blocked')
  assert.equal(await refused(ben), 'All review conversations must be resolved: 1 is not.')
  const guest = await signedIn(forge, 'ben')
  assert.match((await guest.get('/ada/engine/pull/1')).text, /All review conversations must be resolved: 1 is not\./)
  const resolve = (resolved: string) =>
    guest.fill('/ada/engine/pull/1', { resolved }, `/ada/engine/pull/1/threads/${comment.id}/resolution`)
  assert.equal((await resolve('yes')).status, 303)
  assert.equal(await stateOf(ben), 'clean')
  assert.equal((await resolve('no')).status, 303)
  await refused(ben)
  // By default, admins are exempt.
  await expect(200, await ada.put(`${pull}/merge`))
}))

test('a refused merge names all reasons, and so does the page', inject(async ({ forge, ada, ben, propose, work }) => {
  await propose({ draft: true }, ben)
  await protect(ada, {
    required_linear_history: true,
    required_pull_request_reviews: { required_approving_review_count: 1 },
    required_status_checks: { strict: true, contexts: ['ci', 'lint'] },
    required_conversation_resolution: true,
  })
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Conflict', { 'notes.txt': 'Another note.\n' })
  await work.push('main')
  await expect(
    200,
    await ben.post(`${pull}/reviews`, { event: 'COMMENT', comments: [{ path: 'notes.txt', position: 1, body: 'Why?' }] }),
  )
  const unmet = [
    'At least 1 approving review is required by reviewers with write access.',
    'All review conversations must be resolved: 1 is not.',
    '2 of 2 required status checks have not succeeded: "ci" is expected, "lint" is expected.',
    'The head branch is not up to date with the base branch.',
  ]
  const all = [
    'Pull Request is still a draft.',
    'Merge commits are not allowed on this branch: squash or rebase.',
    ...unmet,
    'The branch has conflicts with the base branch.',
  ]
  assert.equal(await refused(ben), all.join(' '))
  const { text } = await (await signedIn(forge, 'ben')).get('/ada/engine/pull/1')
  for (const message of unmet) assert.ok(text.includes(`<li>${message.replaceAll('"', '&quot;')}</li>`), message)
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
