import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf } from '#test/forge.ts'
import { eventsOf, openEngine, zeros } from '#test/git.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'
import { newBudget, readDelivery } from './pushed-commits.ts'

test('a push payload has limits, and leaves out what exceeds them', async () => {
  await using engine = await openEngine()
  const { id } = engine
  const { db, storage } = engine.forge.belfry
  const author = { name: 'Ada', email: 'ada@example.com' }
  const commits = Array.from({ length: 2100 }, (_, index) => ({
    ...{ author, at: new Date(1e12 + 1000 * index), message: `Number ${index}` },
    files: { file: `${index}` },
  }))
  const { head } = await storage.commit(id, 'main', commits)
  const move = { ref: 'refs/heads/main', before: zeros, after: head }
  const all = await readDelivery(db, storage, id, move)
  assert.equal(all.commits.length, 2048)
  assert.equal(all.commits[0]?.message, 'Number 52')
  assert.deepEqual(all.commits.at(-1), all.head_commit)
  assert.deepEqual(all.head_commit?.modified, ['file'])
  const few = await readDelivery(db, storage, id, move, { most: 3 })
  assert.deepEqual(linesOf(few.commits, 'message'), ['Number 2097', 'Number 2098', 'Number 2099'])

  const nameless = await readDelivery(db, storage, id, move, { most: 3, budget: { ...newBudget(), names: 0 } })
  assert.deepEqual(
    nameless.commits.map(({ modified }) => modified),
    [[], [], []],
  )
  const cut = await readDelivery(db, storage, id, move, { budget: { ...newBudget(), text: 1000 } })
  assert.equal(cut.head_commit?.id, head)
  assert.ok(cut.commits.length < 2048)
  const late = await readDelivery(db, storage, id, move, { budget: { ...newBudget(), signal: AbortSignal.abort() } })
  assert.deepEqual(late, {
    ...move,
    created: true,
    deleted: false,
    forced: false,
    base_ref: null,
    commits: [],
    head_commit: null,
  })
})

test('a push is recorded even if there is no time to read its commits for hooks', async (t) => {
  await using engine = await openEngine()
  const { ada, work, forge } = engine
  await hookOn(ada, 'repos/ada/engine', 'push')
  const sha = await work.commit('One')
  const clock = t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
  const [told] = await heardOf(forge, () => work.push())
  clock.mock.restore()
  assert.partialDeepStrictEqual(told?.payload, {
    ref: 'refs/heads/main',
    after: sha,
    created: true,
    commits: [],
    head_commit: null,
  })
  const events = await eventsOf(ada, 'ada/engine')
  assert.partialDeepStrictEqual(events.at(-1), { type: 'PushEvent', payload: { head: sha, size: 1 } })
})
