import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, injecting, type Person } from '#test/forge.ts'
import { installHook } from '#test/git.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

const nothing = {
  required_status_checks: null,
  enforce_admins: null,
  required_pull_request_reviews: null,
  restrictions: null,
}
const protect = async (who: Person, rules: Record<string, unknown> = {}, repo = engine, branch = 'main') =>
  expect(200, await who.put(`${repo}/branches/${branch}/protection`, { ...nothing, ...rules }))
const pass = async (who: Person, sha: string, context = 'ci', state = 'success') =>
  expect(201, await who.post(`${engine}/statuses/${sha}`, { state, context }))
const checks = { required_status_checks: { strict: false, contexts: ['ci'] } }
const reviews = { required_pull_request_reviews: { required_approving_review_count: 1 } }

test('a protected branch is neither deleted nor rewritten by git, and other refs of the push move', inject(async ({
  forge,
  ada,
  work,
  topic,
}) => {
  await protect(ada)
  await protect(ada, {}, engine, 'topic')
  const before = await work.git('rev-parse', 'main')
  await work.git('checkout', '--quiet', '--orphan', 'other')
  const other = await work.commit('Other', { 'other.txt': 'o\n' })
  const forced = await work.attempt('push', 'origin', '+other:main', 'other:refs/heads/other')
  assert.equal(forced.status, 1)
  assert.match(forced.stderr, /remote: error: Protected branch update failed for refs\/heads\/main\./)
  assert.match(forced.stderr, /remote: error: Cannot force-push to this branch\./)
  assert.match(forced.stderr, /! \[remote rejected\] other -> main \(hook declined\)/)
  const deleted = await work.attempt('push', 'origin', ':topic')
  assert.match(deleted.stderr, /remote: error: Cannot delete this branch\./)
  const tip = async (branch: string) => (await ada.read(`${engine}/branches/${branch}`)).commit.sha
  assert.deepEqual([await tip('main'), await tip('other')], [before, other])
  await work.git('push', '--quiet', 'origin', 'topic:main')
  assert.equal(await tip('main'), topic)
  const atomic = await work.attempt('push', '--atomic', 'origin', '+other:main', '+main:refs/heads/other')
  assert.equal(atomic.status, 1)
  assert.equal(await tip('other'), other)
  // The hooks of an operator run besides.
  await installHook(forge.belfry.storage.pathOf(forge.id), 'update', 'echo checked >&2')
  const again = await work.attempt('push', 'origin', '+other:main', '+main:refs/heads/other')
  assert.match(again.stderr, /Cannot force-push/)
  assert.match(again.stderr, /remote: checked/)
  await protect(ada, { allow_force_pushes: true, allow_deletions: true })
  await work.git('push', '--quiet', 'origin', '+other:main')
}))

test('the API refuses the same: refs, contents and branches of pull requests', inject(async ({ ada, ben, work, main, topic }) => {
  await work.git('checkout', '--quiet', '--orphan', 'other')
  const other = await work.commit('Other', { 'other.txt': 'o\n' })
  await work.push('other')
  await protect(ada, { ...reviews, required_linear_history: true }, engine, 'topic')
  await protect(ada, { ...reviews, required_linear_history: true })
  const move = (who: Person, sha: string, force = true) => who.patch(`${engine}/git/refs/heads/main`, { sha, force })
  assert.match((await expect(422, await move(ada, other))).message, /Cannot force-push to this branch/)
  assert.match((await expect(422, await move(ben, topic))).message, /Changes must be made through a pull request/)
  assert.match((await expect(422, await ada.delete(`${engine}/git/refs/heads/topic`))).message, /Cannot delete this branch/)
  const file = { message: 'Write', content: btoa('x') }
  const { message } = await expect(409, await ben.put(`${engine}/contents/new.txt`, file))
  assert.equal(message, 'Could not update file: Changes must be made through a pull request.')
  await expect(201, await ada.put(`${engine}/contents/new.txt`, file))
  await work.git('checkout', '--quiet', '-b', 'merged', main)
  await work.commit('Side', { 'side.txt': 's\n' })
  await work.git('merge', '--quiet', 'topic')
  const merged = await work.head()
  await work.push('merged')
  await protect(ada, { enforce_admins: true, required_linear_history: true }, engine, 'topic')
  const linear = await expect(422, await ada.patch(`${engine}/git/refs/heads/topic`, { sha: merged }))
  assert.match(linear.message, /must not contain merge commits/)
  const pushed = await work.attempt('push', 'origin', 'merged:topic')
  assert.match(pushed.stderr, /remote: error: This branch must not contain merge commits\./)
  const { number } = await expect(201, await ben.post(`${engine}/pulls`, { title: 'T', head: 'topic', base: 'main' }))
  const updated = await expect(422, await ben.put(`${engine}/pulls/${number}/update-branch`))
  assert.match(updated.message, /must not contain merge commits/)
}))

test('a push needs the required checks of its commit; admins only if the rules apply to them', inject(async ({
  desk,
  ada,
  ben,
  work,
  topic,
}) => {
  await protect(ada, { required_status_checks: { strict: false, contexts: ['ci', 'lint\u001b[31m'] } })
  const bens = await desk.clone(ben, 'ada/engine')
  const push = () => bens.attempt('push', 'origin', 'origin/topic:refs/heads/main')
  assert.match(
    (await push()).stderr,
    /2 of 2 required status checks have not succeeded: "ci" is expected, "lint \[31m" is expected\./,
  )
  await pass(ada, topic)
  await pass(ada, topic, 'lint\u001b[31m', 'failure')
  assert.match((await push()).stderr, /Required status check "lint \[31m" is failing\./)
  await protect(ada, { ...checks, enforce_admins: true })
  await pass(ada, topic, 'ci', 'pending')
  assert.match((await work.attempt('push', 'origin', 'topic:main')).stderr, /Required status check "ci" is pending\./)
  await pass(ada, topic)
  assert.equal((await push()).status, 0)
  await protect(ada, { ...checks, lock_branch: true })
  await bens.git('checkout', '--quiet', '-b', 'next', 'origin/topic')
  const next = await bens.commit('Next', { 'next.txt': 'n\n' })
  assert.match((await bens.attempt('push', 'origin', `${next}:refs/heads/main`)).stderr, /This branch is locked/)
  await protect(ada)
  await expect(200, await ada.post(`${engine}/branches/main/protection/required_signatures`))
  assert.match((await bens.attempt('push', 'origin', `${next}:refs/heads/main`)).stderr, /Commits must have verified signatures/)
}))

test('only listed users and members of listed teams push to a restricted branch, and bypass pull requests', inject(async ({
  forge,
  ada,
  ben,
  cy,
  main,
}) => {
  await forge.organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  const works = '/repos/acme/engine'
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' }))
  await expect(204, await ada.put('/orgs/acme/teams/core/repos/acme/engine', { permission: 'push' }))
  const write = async (who: Person, status: number) => {
    const body = { message: 'Write', content: btoa('x') }
    return expect(status, await who.put(`${works}/contents/${who.login}-${Math.random()}.txt`, body))
  }
  await write(ben, 201)
  await protect(ada, { restrictions: { users: [], teams: ['core'] } }, works)
  assert.match((await write(ben, 409)).message, /You are not authorized to push to this branch/)
  await write(ada, 201)
  await expect(200, await ada.put('/orgs/acme/teams/core/memberships/cy'))
  await write(cy, 201)
  const bypass_pull_request_allowances = { users: ['ben'] }
  await protect(ada, { required_pull_request_reviews: { bypass_pull_request_allowances } }, works)
  assert.match((await write(cy, 409)).message, /Changes must be made through a pull request/)
  await write(ben, 201)
  await expect(201, await ben.post(`${works}/git/refs`, { ref: 'refs/heads/free', sha: main }))
}))
