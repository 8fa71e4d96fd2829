import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { loadUser } from '#identity/accounts.ts'
import { sql } from '#platform/database.ts'
import { thisServer } from '#platform/processes.ts'
import { join as invite } from '#test/conversations.ts'
import { injecting, linesOf } from '#test/forge.ts'
import { assertSettled, eventsOf, installHook, lines, openEngine, zeros } from '#test/git.ts'
import { until } from '#test/machine.ts'
import { pushTasks } from './jobs.ts'
import { beginPush, type Command, pushRefs, settleForgotten, settlePushes } from './pushes.ts'

const inject = injecting(openEngine)
const movesOf = (pushed: object[]) => linesOf(pushed, 'payload.before', 'payload.head')

test('concurrent pushes of two users to different branches have their own events', inject(async (scene) => {
  const { forge, ada, work, id, desk } = scene
  await work.commit('Begin')
  await work.push()
  const people = await Promise.all(
    ['ben', 'cy', 'dora'].map(async (login) => {
      const person = await forge.person(login)
      await invite(ada, person, 'push')
      return { login, clone: await desk.clone(person, 'ada/engine') }
    }),
  )
  await Promise.all(
    people.map(async ({ login, clone }) => {
      for (const turn of [1, 2]) {
        await clone.commit(`${login} ${turn}`)
        await clone.push(`HEAD:${login}`)
      }
    }),
  )
  const events = (await eventsOf(ada, 'ada/engine')).slice(2)
  for (const { login } of people) {
    assert.deepEqual(lines(events.filter(({ actor }) => actor.login === login)), [
      `${login} CreateEvent ${login}`,
      `${login} PushEvent refs/heads/${login}`,
      `${login} PushEvent refs/heads/${login}`,
    ])
  }
  assert.equal(events.length, 9)
  await assertSettled(forge, id)
}))

test('consecutive pushes are recorded once each, also while the first still runs', inject(async ({ forge, ada, work, id }) => {
  const path = forge.belfry.storage.pathOf(id)
  const first = await work.commit('Begin')
  // The first waits after its refs have moved.
  await installHook(
    path,
    'post-receive',
    `[ -e "${path}/go" ] && exit; touch "${path}/moved"; until [ -e "${path}/go" ]; do sleep 0.02; done`,
  )
  const waiting = work.push()
  await until('it has moved', () => existsSync(join(path, 'moved')))
  assert.deepEqual(await eventsOf(ada, 'ada/engine'), [])
  await writeFile(join(path, 'hooks', 'post-receive'), '')
  const second = await work.commit('Go on')
  await work.push()
  const third = await work.commit('And on')
  await work.push()
  await writeFile(join(path, 'go'), '')
  await waiting
  const pushed = (await eventsOf(ada, 'ada/engine')).filter(({ type }) => type === 'PushEvent')
  assert.deepEqual(movesOf(pushed), [`${zeros} ${first}`, `${first} ${second}`, `${second} ${third}`])
  assert.equal(new Set(pushed.map(({ payload }) => payload.push_id)).size, 3)
  await assertSettled(forge, id)
}))

test('a branch that moves back while its first push runs has both moves in the log', inject(async ({ forge, ada, work, id }) => {
  const path = forge.belfry.storage.pathOf(id)
  const first = await work.commit('Begin')
  await work.push()
  const second = await work.commit('Go on')
  await installHook(path, 'post-receive', `touch "${path}/moved"; until [ -e "${path}/go" ]; do sleep 0.02; done`)
  const waiting = work.push()
  await until('it has moved', () => existsSync(join(path, 'moved')))
  await writeFile(join(path, 'hooks', 'post-receive'), '')
  await work.push('--force', `${first}:refs/heads/main`)
  await writeFile(join(path, 'go'), '')
  await waiting
  const pushed = (await eventsOf(ada, 'ada/engine')).slice(2)
  assert.deepEqual(movesOf(pushed), [`${first} ${second}`, `${second} ${first}`])
  await assertSettled(forge, id)
}))

test('when a push cannot be recorded, the client gets an error, and a scheduled job records it later', inject(async (scene) => {
  const { forge, ada, work, id } = scene
  const { db, storage } = forge.belfry
  await work.commit('Begin')
  // What the hook says is on its way to the client before anything could be recorded.
  await installHook(storage.pathOf(id), 'post-receive', 'seq 20000')
  await db.pool.query(`alter table refs add constraint out_of_order check (repo_id <> ${id})`)
  const { status, stderr } = await work.attempt('push', 'origin', 'main')
  assert.match(stderr, /remote: 7/)
  assert.notEqual(status, 0, stderr.slice(-300))
  assert.deepEqual(await eventsOf(ada, 'ada/engine'), [])
  await db.pool.query('alter table refs drop constraint out_of_order')

  const { find_open_pushes, settle_pushes } = pushTasks(db, storage) as Record<string, (payload: object) => Promise<void>>
  const waiting = async () =>
    (await db.rows(sql`select from graphile_worker.jobs where task_identifier = 'settle_pushes'`)).length
  await find_open_pushes?.({})
  assert.equal(await waiting(), 0, 'it may be under way')
  forge.clock.advance(61_000)
  await find_open_pushes?.({})
  await find_open_pushes?.({})
  assert.equal(await waiting(), 1)
  await settle_pushes?.({ repo_id: id })
  await settle_pushes?.({ repo_id: id })
  assert.deepEqual(lines(await eventsOf(ada, 'ada/engine')), ['ada CreateEvent main', 'ada PushEvent refs/heads/main'])
  await assertSettled(forge, id)
}))

test('an unfinished push is checked for a day', inject(async ({ forge, ada, work, id }) => {
  const { db, storage } = forge.belfry
  const head = await work.commit('Begin')
  const user = await loadUser(db, 'ada')
  await beginPush(db, { id }, user, [{ ref: 'refs/heads/main', before: zeros, after: head }])
  const open = async () => (await db.rows(sql`select * from pushes`)).length
  await settlePushes(db, storage, id)
  assert.equal(await open(), 1)
  forge.clock.advance(86_400_001)
  await settlePushes(db, storage, id)
  assert.equal(await open(), 0)
  assert.deepEqual(await eventsOf(ada, 'ada/engine'), [])
}))

test('a push whose beginning or end the database did not answer is closed a minute later', inject(async ({
  forge,
  ada,
  work,
  id,
}) => {
  const { db, storage } = forge.belfry
  const head = await work.commit('Begin')
  const commands = [{ ref: 'refs/heads/main', before: zeros, after: head }]
  // As beginPush leaves it when only the answer is lost.
  const lose = () =>
    db.query(sql`
    insert into pushes (repo_id, pusher_id, commands, started_at, server)
    select ${id}, owner_id, ${JSON.stringify(commands)}::jsonb, ${db.now}, ${thisServer} from repositories where id = ${id}`)
  const open = async () => (await db.rows(sql`select * from pushes`)).length
  await lose()
  await settleForgotten(db, storage)
  assert.equal(await open(), 1, 'the answer may still come')
  const begun = await beginPush(db, { id }, await loadUser(db, 'ada'), commands)
  forge.clock.advance(61_000)
  await settleForgotten(db, storage)
  assert.equal(await open(), 1, 'this process works on the other one')
  await settlePushes(db, storage, id, begun)
  assert.equal(await open(), 0)
  assert.deepEqual(await eventsOf(ada, 'ada/engine'), [])
}))

test('concurrent recording records each move once', inject(async ({ forge, ada, work, id }) => {
  const { db, storage } = forge.belfry
  const user = await loadUser(db, 'ada')
  const heads: string[] = []
  for (let turn = 0; turn < 6; turn++) heads.push(await work.commit(`Turn ${turn}`))
  // Objects without a ref that anyone has heard of.
  await git(['-C', storage.pathOf(id), 'fetch', '--quiet', work.folder, 'main'])
  await git(['-C', storage.pathOf(id), 'update-ref', '-d', 'refs/heads/main'])
  const steps = heads.map((after, index) => ({ ref: 'refs/heads/main', before: heads[index - 1] ?? zeros, after }))
  for (const step of steps) {
    await beginPush(db, { id }, user, [step])
    await storage.moveRefs(id, [step])
  }
  await Promise.all(Array.from({ length: 8 }, () => settlePushes(db, storage, id)))
  const pushed = (await eventsOf(ada, 'ada/engine')).filter(({ type }) => type === 'PushEvent')
  assert.deepEqual(movesOf(pushed), linesOf(steps, 'before', 'after'))
  await assertSettled(forge, id)
}))

test('pushRefs moves all refs or none, and only from their expected commits', inject(async ({ forge, ada, work, id }) => {
  const { db, storage } = forge.belfry
  const [first, second] = [await work.commit('Begin'), await work.commit('Go on')]
  await work.push()
  const user = await loadUser(db, 'ada')
  const repo = await loadRepository(db, { viewer_id: user.id, sees_private: true }, 'ada', 'engine')
  const move = (...commands: Command[]) => pushRefs(db, storage, repo, user, commands)
  await move({ ref: 'refs/heads/topic', before: zeros, after: first })
  await move({ ref: 'refs/heads/topic', before: first, after: second }, { ref: 'refs/tags/v1', before: zeros, after: first })
  const conflicts: Command[][] = [
    [{ ref: 'refs/heads/topic', before: first, after: second }],
    [{ ref: 'refs/heads/topic', before: zeros, after: second }],
    [{ ref: 'refs/heads/gone', before: first, after: second }],
    [{ ref: 'refs/heads/gone', before: first, after: zeros }],
    [{ ref: 'refs/heads/topic/below', before: zeros, after: first }],
    [
      { ref: 'refs/heads/new', before: zeros, after: first },
      { ref: 'refs/heads/topic', before: first, after: zeros },
    ],
  ]
  for (const commands of conflicts) await assert.rejects(move(...commands), { reason: 'conflict' }, JSON.stringify(commands))
  await move({ ref: 'refs/heads/topic', before: second, after: zeros })
  await move()
  const race = await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) => move({ ref: 'refs/heads/race', before: zeros, after: index % 2 ? first : second })),
  )
  assert.equal(race.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.deepEqual(lines((await eventsOf(ada, 'ada/engine')).slice(2)), [
    'ada CreateEvent topic',
    'ada PushEvent refs/heads/topic',
    'ada CreateEvent v1',
    'ada DeleteEvent topic',
    'ada CreateEvent race',
  ])
  await assertSettled(forge, id)
}))

test('deleting a repository during a push causes no error', inject(async ({ forge, ada, work, id }) => {
  const { db, storage } = forge.belfry
  const head = await work.commit('Begin')
  await work.push()
  const push_id = await beginPush(db, { id }, await loadUser(db, 'ada'), [{ ref: 'refs/heads/main', before: head, after: zeros }])
  await ada.delete('/repos/ada/engine')
  await settlePushes(db, storage, id, push_id)
  await storage.erase(id)
  await settlePushes(db, storage, id, push_id)
  assert.deepEqual(await db.rows(sql`select * from pushes`), [])
}))

test('after pushes, one maintenance job runs some minutes later', inject(async ({ forge, work, id }) => {
  const { db, storage } = forge.belfry
  for (const turn of [1, 2, 3]) {
    await work.commit(`Turn ${turn}`)
    await work.push()
  }
  const jobs = await db.rows<{ run_at: Date }>(sql`
    select run_at from graphile_worker.jobs where task_identifier = 'maintain_repository'`)
  assert.deepEqual(jobs, [{ run_at: new Date(forge.clock.now().getTime() + 300_000) }])
  const { maintain_repository } = pushTasks(db, storage) as Record<string, (payload: object) => Promise<void>>
  await maintain_repository?.({ repo_id: id })
  await maintain_repository?.({ repo_id: id + 1 })
  assert.ok(existsSync(join(storage.pathOf(id), 'objects/info/commit-graphs/commit-graph-chain')), 'history is not indexed')
}))
