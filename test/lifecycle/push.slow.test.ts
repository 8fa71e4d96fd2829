import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { git } from '#git/git.ts'
import { Storage } from '#git/storage.ts'
import { Desk, installHook, zeros } from '#test/git.ts'
import { kill, processesIn, until } from '#test/machine.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

const branch = 'refs/heads/main'

/** A Belfry that can be killed and started again. */
async function openScene() {
  await using undo = new AsyncDisposableStack()
  const host = undo.use(await Host.openUsed())
  const admin = { login: 'x-access-token', token: host.token }
  let belfry = await host.start()
  const desk = undo.use(await Desk.open(belfry))
  const running = undo.move()

  /** A repository, and a clone of it that has a commit to push. */
  async function openRepository(name: string) {
    const made = await belfry.post('/api/v3/user/repos', host.token, { name })
    const { id, full_name } = (await made.json()) as { id: number; full_name: string }
    const path = new Storage(host.data).pathOf(id)
    const work = await desk.begin(admin, full_name)
    const first = await work.commit('Begin')
    await work.push()
    const second = await work.commit('Go on')
    /** The pushes to the branch in the event log, oldest first. */
    const logged = async (): Promise<[string, string][]> => {
      const rows = await host.query(
        `select payload->>'before' as before, payload->>'head' as head from events
         where type = 'PushEvent' and repo_id = ${id} and payload->>'ref' = '${branch}' order by id`,
      )
      return rows.map(({ before, head }) => [before, head])
    }
    return {
      path,
      work,
      first,
      second,
      logged,
      push: () => work.attempt('push', 'origin', 'main'),
      isOpen: async () => (await host.query(`select from pushes where repo_id = ${id}`)).length > 0,
      async killGit() {
        for (const pid of processesIn(path)) kill(pid, 'SIGKILL')
        await until('git is gone', () => processesIn(path).length === 0)
      },
      reconnect: () => work.git('remote', 'set-url', 'origin', new Desk(desk.folder, belfry.web).url(admin, full_name)),
      /** Disk, table, log and counts agree. */
      async assertAgreed(heads: string[]) {
        assert.equal((await git(['-C', path, 'rev-parse', branch])).trim(), heads.at(-1))
        assert.deepEqual(await host.query(`select name, sha from refs where repo_id = ${id}`), [
          { name: branch, sha: heads.at(-1) },
        ])
        assert.deepEqual(
          await logged(),
          heads.map((head, index) => [heads[index - 1] ?? zeros, head]),
        )
        const [counts] = await host.query(
          `select count(*)::int as events, count(distinct payload->>'push_id')::int as pushes from events
           where repo_id = ${id} and type in ('PushEvent', 'CreateEvent', 'DeleteEvent') and payload->>'ref' is not null`,
        )
        assert.deepEqual(counts, { events: heads.length + 1, pushes: heads.length })
      },
    }
  }

  return {
    host,
    openRepository,
    get belfry() {
      return belfry
    },
    /** Kills the server and its database. */
    async crash() {
      for (const pid of [belfry.pid, ...processesIn(host.cluster)]) kill(pid, 'SIGKILL')
      await belfry.ended()
      await until('PostgreSQL is gone', () => processesIn(host.cluster).length === 0)
    },
    async restart() {
      belfry = await host.start()
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** A hook that shows when it has been reached, and waits until it is let go. */
async function waitIn(path: string, hook: string) {
  const [reached, go] = [join(path, `${hook}-reached`), join(path, `${hook}-go`)]
  await installHook(path, hook, `[ -e "${go}" ] && exit; touch "${reached}"; until [ -e "${go}" ]; do sleep 0.02; done`)
  return { reached: () => until(`${hook} is reached`, () => existsSync(reached)), letGo: () => writeFileSync(go, '') }
}

test('a kill of the server and its database during pushes loses no push and records none twice', async (t) => {
  await using scene = await openScene()
  const { host } = scene
  const names = ['begun', 'moved', 'found', 'followed', 'recorded', 'answered']
  const repositories = await Promise.all(names.map(scene.openRepository))
  const [begun, moved, found, followed, recorded, answered] = repositories as Tuple<(typeof repositories)[0]>
  // In `pre-receive`, git would ask its server after the wait, and refuse the push because there is none.
  const hooks = await Promise.all([
    waitIn(begun.path, 'pre-receive'),
    waitIn(moved.path, 'post-receive'),
    waitIn(found.path, 'update'),
    waitIn(followed.path, 'update'),
  ])
  const [begunHook, movedHook, foundHook, followedHook] = hooks
  // After five seconds, git would tell the client that it lives, and end because its server does not.
  for (const { path } of [found, followed]) await git(['-C', path, 'config', 'receive.keepAlive', '0'])
  await answered.work.push()
  const cut = [begun, moved, found, followed].map((repository) => repository.push())
  await Promise.all(hooks.map((hook) => hook.reached()))
  assert.ok(await begun.isOpen())
  assert.deepEqual(await moved.logged(), [[zeros, moved.first]])
  const rival = new pg.Client({ host: join(dirname(host.cluster), 'socket'), user: 'belfry', database: 'belfry' })
  rival.on('error', () => {})
  await rival.connect()
  await rival.query('begin')
  await rival.query('lock table events in exclusive mode')
  cut.push(recorded.push())
  await until('the recording waits', async () => {
    const waiting = await host.query("select from pg_locks where relation = 'events'::regclass and not granted")
    return waiting.length > 0
  })

  await scene.crash()
  for (const repository of [begun, moved, recorded]) await repository.killGit()
  for (const ended of await Promise.all(cut)) assert.notEqual(ended.status, 0)
  await scene.restart()
  for (const repository of repositories) await repository.reconnect()

  await t.test('when it was begun and nothing had moved: nothing is recorded, and the same push later is, once', async () => {
    const { work, first, second, assertAgreed } = begun
    await assertAgreed([first])
    begunHook.letGo()
    await work.push()
    await assertAgreed([first, second])
  })

  await t.test('when the refs had moved and nothing was recorded: it is recorded before any request is answered', async () => {
    const { work, first, second, assertAgreed, isOpen } = moved
    await assertAgreed([first, second])
    assert.equal(await isOpen(), false)
    movedHook.letGo()
    const third = await work.commit('And on')
    await work.push()
    await assertAgreed([first, second, third])
  })

  await t.test('when git outlives its server and moves refs after the restart: the schedule finds it', async () => {
    const { path, first, second, assertAgreed, logged, isOpen } = found
    await assertAgreed([first])
    foundHook.letGo()
    await until('the orphan has ended', () => processesIn(path).length === 0)
    assert.equal((await git(['-C', path, 'rev-parse', branch])).trim(), second)
    await host.query("update pushes set started_at = started_at - interval '2 minutes'")
    await host.query("select graphile_worker.add_job('find_open_pushes')")
    await until('it is recorded', async () => (await logged()).length === 2)
    await assertAgreed([first, second])
    assert.equal(await isOpen(), false)
  })

  await t.test('when git outlives its server and moves refs after the restart: the next push records it first', async () => {
    const { path, work, first, second, assertAgreed } = followed
    followedHook.letGo()
    await until('the orphan has ended', () => processesIn(path).length === 0)
    await work.git('fetch', '--quiet')
    const third = await work.commit('And on')
    await work.push()
    await assertAgreed([first, second, third])
  })

  await t.test('when it was being recorded, or was answered: it is recorded once', async () => {
    for (const { first, second, assertAgreed, isOpen } of [recorded, answered]) {
      await assertAgreed([first, second])
      assert.equal(await isOpen(), false)
    }
  })

  await t.test('an orderly stop waits for the push in progress', async () => {
    const { belfry }: { belfry: BelfryProcess } = scene
    const { path, work, push, first, second, assertAgreed } = answered
    const third = await work.commit('And on')
    const hook = await waitIn(path, 'pre-receive')
    const pushed = push()
    await hook.reached()
    const stopped = belfry.stop()
    await until('no new request is accepted', () =>
      belfry.get('/healthz').then(
        () => false,
        () => true,
      ),
    )
    hook.letGo()
    assert.equal((await pushed).status, 0)
    assert.equal(await stopped, '0')
    assert.deepEqual(processesIn(path), [])
    await scene.restart()
    await assertAgreed([first, second, third])
  })
})

type Tuple<T> = [T, T, T, T, T, T]
