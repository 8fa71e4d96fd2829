import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, injecting, type Person } from '#test/forge.ts'
import { assertSettled, sendPush, zeros } from '#test/git.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const unknown = 'b'.repeat(40)
const rules = { required_status_checks: null, enforce_admins: true, required_pull_request_reviews: null, restrictions: null }
const protect = async (who: Person, changes: object = {}, branch = 'main', repo = engine) =>
  expect(200, await who.put(`${repo}/branches/${branch}/protection`, { ...rules, ...changes }))
const tipOf = async (who: Person, branch = 'main', repo = engine) => (await who.read(`${repo}/branches/${branch}`)).commit.sha

test('a push that names a ref twice is refused, and moves nothing', inject(async ({ forge, ada, main, topic, id }) => {
  await protect(ada)
  const pushes: [before: string, after: string][][] = [
    [
      [unknown, main],
      [main, zeros],
    ],
    [
      [unknown, main],
      [main, zeros],
      [zeros, topic],
    ],
    [
      [zeros, main],
      [main, topic],
    ],
    [
      [main, topic],
      [main, topic],
    ],
  ]
  for (const moves of pushes) {
    const sent = await sendPush(
      forge,
      ada,
      moves.map(([before, after]) => ({ ref: 'refs/heads/main', before, after })),
    )
    assert.equal(sent.status, 422, sent.text)
    assert.match(sent.text, /must not name a ref twice/)
    assert.equal(await tipOf(ada), main)
  }
  await assertSettled(forge, id)
}))

test('rules are decided by the commit that a branch has, not by the one that the client names', inject(async (scene) => {
  const { forge, ada, ben, main, topic, id } = scene
  await forge.organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  const works = '/repos/acme/engine'
  const tips = async () => [await tipOf(ada, 'main', works), await tipOf(ada, 'topic', works)]
  const restricted = { restrictions: { users: ['ada'], teams: [] }, allow_deletions: true, allow_force_pushes: true }
  for (const branch of ['main', 'topic']) await protect(ada, restricted, branch, works)
  for (const [ref, before, after] of [
    ['refs/heads/main', zeros, topic],
    ['refs/heads/main', zeros, zeros],
    ['refs/heads/topic', zeros, zeros],
    ['refs/heads/topic', zeros, main],
    ['refs/heads/topic', unknown, zeros],
    ['refs/heads/topic', unknown, main],
    ['refs/heads/topic', main, main],
  ] as const) {
    const { text } = await sendPush(forge, ben, [{ ref, before, after }])
    assert.doesNotMatch(text, /ok refs/, `${ref} ${before} → ${after}`)
    assert.deepEqual(await tips(), [main, topic], `${ref} ${before} → ${after}`)
  }
  // With rules that only say how a branch may move.
  await protect(ada, {}, 'topic', works)
  for (const before of [zeros, unknown, main]) {
    const { text } = await sendPush(forge, ada, [{ ref: 'refs/heads/topic', before, after: main }])
    assert.match(text, /The branch is not at the commit that you push from\. Fetch, and push again\./)
  }
  assert.deepEqual(await tips(), [main, topic])
  await assertSettled(forge, id)
}))

test('where the file system ignores case, a branch has one spelling', inject(async ({ forge, ada, main, topic, id, work }) => {
  await protect(ada)
  const root = dirname(dirname(forge.belfry.storage.pathOf(id)))
  await symlink(root, join(dirname(root), 'REPOSITORIES'))
  const twice = await sendPush(forge, ada, [
    { ref: 'refs/heads/é', before: zeros, after: topic },
    { ref: 'refs/heads/E\u0301', before: zeros, after: topic },
  ])
  assert.match(twice.text, /must not name a ref twice/)
  const pushed = await work.attempt('push', 'origin', 'topic:refs/heads/MAIN')
  assert.notEqual(pushed.status, 0)
  const refused = await expect(422, await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/Main', sha: topic }))
  assert.match(refused.message, /refs\/heads\/Main and refs\/heads\/main differ in case only/)
  await work.git('push', '--quiet', 'origin', 'topic:refs/heads/new')
  assert.equal(await tipOf(ada), main)
  await assertSettled(forge, id)
}))
