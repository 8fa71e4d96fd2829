import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { git } from '#git/git.ts'
import { Storage } from '#git/storage.ts'
import { Desk, installHook, type Worktree } from '#test/git.ts'
import { kill, processesIn, until } from '#test/machine.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

const zeros = '0'.repeat(40)
const branch = 'refs/heads/main'

/** A Belfry that can be killed and started again, with a repository and a clone of it that has a commit to push. */
async function openScene() {
  await using undo = new AsyncDisposableStack()
  const host = undo.use(await Host.openUsed())
  const admin = { login: 'x-access-token', token: host.token }
  let belfry = await host.start()
  const made = await belfry.post('/api/v3/user/repos', host.token, { name: 'engine' })
  const { id, full_name } = (await made.json()) as { id: number; full_name: string }
  const path = new Storage(host.data).pathOf(id)
  const desk = undo.use(await Desk.open(belfry))
  const work = await desk.begin(admin, full_name)
  const first = await work.commit('Begin')
  await work.push()
  const second = await work.commit('Go on')
  const running = undo.move()
  return {
    host,
    path,
    work,
    first,
    second,
    get belfry() {
      return belfry
    },
    /** Kills the server and its database, and those of git too unless they are to live on. */
    async crash({ orphans = false } = {}) {
      const database = processesIn(host.cluster)
      for (const pid of [belfry.pid, ...database]) kill(pid, 'SIGKILL')
      await belfry.ended()
      await until('PostgreSQL is gone', () => processesIn(host.cluster).length === 0)
      if (orphans) return
      for (const pid of processesIn(path)) kill(pid, 'SIGKILL')
      await until('git is gone', () => processesIn(path).length === 0)
    },
    async restart() {
      belfry = await host.start()
      const there = await Desk.open(belfry)
      await work.git('remote', 'set-url', 'origin', there.url(admin, full_name))
      await there[Symbol.asyncDispose]()
    },
    /** What the log tells of the branch, oldest first. */
    async told(): Promise<[string, string][]> {
      const rows = await host.query(
        `select payload->>'before' as before, payload->>'head' as head from events
         where type = 'PushEvent' and repo_id = ${id} and payload->>'ref' = '${branch}' order by id`,
      )
      return rows.map(({ before, head }) => [before, head])
    },
    /** Disk, table, log and counts agree. */
    async assertAgreed(heads: string[]) {
      assert.equal((await git(['-C', path, 'rev-parse', branch])).trim(), heads.at(-1))
      assert.deepEqual(await host.query(`select name, sha from refs where repo_id = ${id}`), [
        { name: branch, sha: heads.at(-1) },
      ])
      assert.deepEqual(
        await this.told(),
        heads.map((head, index) => [heads[index - 1] ?? zeros, head]),
      )
      const [counts] = await host.query(
        `select count(*)::int as events, count(distinct payload->>'push_id')::int as pushes from events
         where repo_id = ${id} and type in ('PushEvent', 'CreateEvent', 'DeleteEvent') and payload->>'ref' is not null`,
      )
      assert.deepEqual(counts, { events: heads.length + 1, pushes: heads.length })
    },
    openPushes: async () => (await host.query('select id from pushes')).length,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** A hook that says when it has been reached, and waits until it is let go. */
async function waitIn(path: string, hook: string) {
  const [reached, go] = [join(path, `${hook}-reached`), join(path, `${hook}-go`)]
  await installHook(path, hook, `[ -e "${go}" ] && exit; touch "${reached}"; until [ -e "${go}" ]; do sleep 0.02; done`)
  return { reached: () => until(`${hook} is reached`, () => existsSync(reached)), letGo: () => writeFileSync(go, '') }
}

const pushing = (work: Worktree) => work.attempt('push', 'origin', 'main')

test('killed when a push is begun and nothing has moved: nothing is recorded, and the same push later is, once', async () => {
  await using scene = await openScene()
  const { path, work, first, second } = scene
  const hook = await waitIn(path, 'pre-receive')
  const cut = pushing(work)
  await hook.reached()
  assert.equal(await scene.openPushes(), 1)
  await scene.crash()
  assert.notEqual((await cut).status, 0)
  await scene.restart()
  await scene.assertAgreed([first])
  hook.letGo()
  await work.push()
  await scene.assertAgreed([first, second])
})

test('killed when the refs have moved and nothing is recorded: it is recorded before anyone is answered', async () => {
  await using scene = await openScene()
  const { path, work, first, second } = scene
  const hook = await waitIn(path, 'post-receive')
  const cut = pushing(work)
  await hook.reached()
  assert.deepEqual(await scene.told(), [[zeros, first]])
  await scene.crash()
  assert.notEqual((await cut).status, 0)
  await scene.restart()
  await scene.assertAgreed([first, second])
  assert.equal(await scene.openPushes(), 0)
  hook.letGo()
  const third = await work.commit('And on')
  await work.push()
  await scene.assertAgreed([first, second, third])
})

test('a git that outlives its server moves refs after the restart: the schedule finds it', async () => {
  await using scene = await openScene()
  const { host, path, work, first, second } = scene
  const hook = await waitIn(path, 'pre-receive')
  const cut = pushing(work)
  await hook.reached()
  await scene.crash({ orphans: true })
  await cut
  await scene.restart()
  await scene.assertAgreed([first])
  hook.letGo()
  await until('the orphan has ended', () => processesIn(path).length === 0)
  assert.equal((await git(['-C', path, 'rev-parse', branch])).trim(), second)
  await host.query("update pushes set started_at = started_at - interval '2 minutes'")
  await host.query("select graphile_worker.add_job('find_open_pushes')")
  await until('it is recorded', async () => (await scene.told()).length === 2)
  await scene.assertAgreed([first, second])
  assert.equal(await scene.openPushes(), 0)
})

test('a git that outlives its server moves refs after the restart: the next push records it first', async () => {
  await using scene = await openScene()
  const { path, work, first, second } = scene
  const hook = await waitIn(path, 'pre-receive')
  const cut = pushing(work)
  await hook.reached()
  await scene.crash({ orphans: true })
  await cut
  await scene.restart()
  hook.letGo()
  await until('the orphan has ended', () => processesIn(path).length === 0)
  await work.git('fetch', '--quiet')
  const third = await work.commit('And on')
  await work.push()
  await scene.assertAgreed([first, second, third])
})

test('killed in the middle of recording: it is recorded once', async () => {
  await using scene = await openScene()
  const { host, work, first, second } = scene
  const rival = new pg.Client({ host: join(dirname(host.cluster), 'socket'), user: 'belfry', database: 'belfry' })
  rival.on('error', () => {})
  await rival.connect()
  await rival.query('begin')
  await rival.query('lock table events in exclusive mode')
  const cut = pushing(work)
  await until('the recording waits', async () => {
    const waiting = await host.query("select from pg_locks where relation = 'events'::regclass and not granted")
    return waiting.length > 0
  })
  await scene.crash()
  assert.notEqual((await cut).status, 0)
  await scene.restart()
  await scene.assertAgreed([first, second])
  assert.equal(await scene.openPushes(), 0)
})

test('killed after the answer: the push is there, once', async () => {
  await using scene = await openScene()
  const { work, first, second } = scene
  await work.push()
  await scene.crash()
  await scene.restart()
  await scene.assertAgreed([first, second])
  assert.equal(await scene.openPushes(), 0)
})

test('an orderly stop waits for the push that is in hand', async () => {
  await using scene = await openScene()
  const { path, work, first, second } = scene
  const hook = await waitIn(path, 'pre-receive')
  const pushed = pushing(work)
  await hook.reached()
  const { belfry }: { belfry: BelfryProcess } = scene
  const stopped = belfry.stop()
  await until('nobody new is let in', () =>
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
  await scene.assertAgreed([first, second])
})
