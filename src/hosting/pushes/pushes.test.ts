import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { injecting, linesOf } from '#test/forge.ts'
import { assertSettled, eventsOf, lines, openEngine, type Told } from '#test/git.ts'

const inject = injecting(openEngine)
const zeros = '0'.repeat(40)

test('a push is in the timeline, with its commits, when the client has the response', inject(async ({ forge, ada, work, id }) => {
  const first = await work.commit('Begin')
  forge.clock.advance(60_000)
  await work.push()
  const second = await work.commit('Go on\n\nWith a body, and “more”.')
  await work.push()
  const events = await eventsOf(ada, 'ada/engine')
  assert.deepEqual(lines(events), ['ada CreateEvent main', 'ada PushEvent refs/heads/main', 'ada PushEvent refs/heads/main'])
  const [made, begun, moved] = events.map(({ payload }) => payload)
  assert.partialDeepStrictEqual(made, { ref_type: 'branch', master_branch: 'main' })
  assert.partialDeepStrictEqual(begun, { before: zeros, head: first, size: 1, distinct_size: 1 })
  assert.partialDeepStrictEqual(moved, { before: first, head: second, size: 1, distinct_size: 1 })
  assert.notEqual(begun?.push_id, moved?.push_id)
  assert.partialDeepStrictEqual(moved?.commits, [
    {
      sha: second,
      message: 'Go on\n\nWith a body, and “more”.',
      distinct: true,
      author: { name: 'ada', email: 'ada@example.com' },
    },
  ])
  const repo = await ada.read('/repos/ada/engine')
  assert.ok(repo.size > 0)
  assert.equal(repo.pushed_at, forge.clock.now().toISOString().replace(/\.\d+/, ''))
  assert.equal(repo.updated_at, repo.pushed_at)
  await assertSettled(forge, id)
}))

test('an event lists the last twenty commits, oldest first, and counts all', inject(async ({ ada, work }) => {
  for (let turn = 1; turn <= 25; turn++) await work.commit(`Turn ${turn}`)
  await work.push()
  const [, { payload }] = (await eventsOf(ada, 'ada/engine')) as [Told, Told]
  assert.deepEqual([payload.size, payload.distinct_size], [25, 25])
  assert.deepEqual(
    payload.commits.map(({ message }) => message),
    Array.from({ length: 20 }, (_, index) => `Turn ${index + 6}`),
  )
}))

test('commits of another branch are listed as not distinct', inject(async ({ ada, work }) => {
  const first = await work.commit('Begin')
  await work.push()
  await work.git('checkout', '--quiet', '-b', 'side')
  const onSide = await work.commit('On the side')
  await work.push()
  await work.git('checkout', '--quiet', 'main')
  await work.git('merge', '--quiet', '--ff-only', 'side')
  const own = await work.commit('On main')
  await work.push('main')
  const pushed = (await eventsOf(ada, 'ada/engine')).filter(({ type }) => type === 'PushEvent').map(({ payload }) => payload)
  assert.partialDeepStrictEqual(pushed, [
    { ref: 'refs/heads/main', size: 1 },
    { ref: 'refs/heads/side', before: zeros, size: 1, distinct_size: 1 },
    { ref: 'refs/heads/main', before: first, size: 2, distinct_size: 1 },
  ])
  assert.deepEqual(linesOf(pushed[2]?.commits ?? [], 'sha', 'distinct'), [`${onSide} false`, `${own} true`])
}))

test('creating, force-pushing and deleting branches and tags have their events', inject(async ({ forge, ada, work, id }) => {
  const first = await work.commit('Begin')
  await work.push()
  await work.git('tag', 'v1')
  await work.git('tag', '-a', 'v2', '-m', 'Second')
  await work.push('v1', 'v2', 'HEAD:refs/heads/topic', 'HEAD:refs/notes/x')
  await work.git('commit', '--quiet', '--amend', '-m', 'Begin again')
  const again = await work.head()
  await work.git('tag', '--force', 'v1')
  await work.push('--force', 'main', 'v1')
  await work.push('--delete', 'topic', 'v2')
  const events = (await eventsOf(ada, 'ada/engine')).slice(2)
  assert.deepEqual(lines(events.slice(0, 3)).sort(), ['ada CreateEvent topic', 'ada CreateEvent v1', 'ada CreateEvent v2'])
  assert.deepEqual(lines(events.slice(3, 5)).sort(), ['ada PushEvent refs/heads/main', 'ada PushEvent refs/tags/v1'])
  const forced = events.find(({ type, payload }) => type === 'PushEvent' && payload.ref === 'refs/heads/main')?.payload
  assert.partialDeepStrictEqual(forced, { before: first, head: again, size: 1 })
  assert.deepEqual(lines(events.slice(5)).sort(), ['ada DeleteEvent topic', 'ada DeleteEvent v2'])
  assert.deepEqual(
    events.filter(({ payload }) => payload.ref === 'v2').map(({ payload }) => payload.ref_type),
    ['tag', 'tag'],
  )
  await assertSettled(forge, id)
}))

test('the first pushed branch becomes the default branch if there is none', async (t) => {
  await using scene = await openEngine({ worker: true })
  const { forge, ada, work, desk } = scene
  await work.commit('Begin')
  await work.push('HEAD:refs/heads/master', 'HEAD:refs/heads/a')
  assert.equal((await ada.read('/repos/ada/engine')).default_branch, 'master')
  const made = (await eventsOf(ada, 'ada/engine')).find(({ type }) => type === 'CreateEvent')
  assert.equal(made?.payload.master_branch, 'master')
  const { id } = await ada.read('/repos/ada/engine')
  const headOf = () => git(['-C', forge.belfry.storage.pathOf(id), 'symbolic-ref', 'HEAD'])
  await t.waitFor(async () => assert.equal((await headOf()).trim(), 'refs/heads/master'), { interval: 20, timeout: 60_000 })
  assert.equal(await (await desk.clone(null, 'ada/engine')).git('branch', '--show-current'), 'master')
  await work.push('HEAD:main')
  assert.equal((await ada.read('/repos/ada/engine')).default_branch, 'master')
})

test('a push that is refused or moves nothing has no event and is closed', inject(async ({ forge, ada, work, id, desk }) => {
  await work.commit('Begin')
  await work.push()
  const other = await desk.clone(ada, 'ada/engine')
  await other.commit('First come')
  await other.push()
  await work.commit('Too late')
  assert.match((await work.attempt('push', 'origin', 'main')).stderr, /rejected/)
  assert.equal((await other.attempt('push', 'origin', 'main')).status, 0)
  assert.equal((await eventsOf(ada, 'ada/engine')).length, 3)
  await assertSettled(forge, id)
}))

test('the initial refs of a fork are not a push, and later ones are', async (t) => {
  await using scene = await openEngine({ worker: true })
  const { forge, ada, work, desk } = scene
  await work.commit('Begin')
  await work.push('HEAD:main', 'HEAD:refs/tags/v1')
  const ben = await forge.person('ben')
  const fork = (await (await ben.post('/repos/ada/engine/forks')).json()) as { id: number }
  await t.waitFor(() => assert.ok(forge.belfry.storage.has(fork.id)), { interval: 20, timeout: 60_000 })
  assert.deepEqual(await eventsOf(ben, 'ben/engine'), [])
  await assertSettled(forge, fork.id)
  const clone = await desk.clone(ben, 'ben/engine')
  await clone.commit('My own')
  await clone.push()
  const events = await eventsOf(ben, 'ben/engine')
  assert.deepEqual(lines(events), ['ben PushEvent refs/heads/main'])
  assert.equal(events[0]?.payload.size, 1)
  assert.equal((await eventsOf(ada, 'ada/engine')).length, 3)
})

test('messages of any kind and length are cut to the limits of a timeline', inject(async ({ ada, work }) => {
  const smile = '😀'.repeat(10_000)
  await writeFile(join(work.folder, 'message'), Buffer.concat([Buffer.from(`x${smile}`), Buffer.from([0xff, 0xfe])]))
  await work.git('commit', '--quiet', '--allow-empty', '-F', 'message')
  await writeFile(join(work.folder, 'message'), 'word '.repeat(600_000))
  await work.git('commit', '--quiet', '--allow-empty', '-F', 'message')
  await work.push()
  const [, pushed] = (await eventsOf(ada, 'ada/engine')) as [Told, Told]
  assert.equal(pushed.payload.size, 2)
  assert.equal(pushed.payload.commits.at(-1)?.message.slice(0, 10), 'word word ')
  assert.ok(pushed.payload.commits.every(({ message }) => message.length < 20_000))
}))
