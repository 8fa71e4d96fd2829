import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#test/machine.ts'
import { openOutage } from '#test/outage.ts'

const paths = ['/api/v3/user', '/login', '/timeline.atom', '/admin/engine.git/info/refs?service=git-upload-pack']

test('two nodes live through resets, drops and a stop of their database, and all works again without a restart', async () => {
  await using outage = await openOutage()
  const { nodes, proxy, database, recovery, request } = outage
  const recover = async () => {
    await Promise.all(nodes.map((_, place) => recovery(place)))
    assert.deepEqual(
      nodes.map(({ end }) => end),
      [undefined, undefined],
    )
  }
  const refused = async () => {
    const answers = await Promise.all(nodes.flatMap((node) => paths.map((path) => request(node, path))))
    for (const { path, status, retry_after } of answers) assert.deepEqual([status, retry_after], [503, '5'], path)
    const health = await Promise.all(nodes.map((node) => request(node, '/healthz')))
    assert.ok(health.every(({ status }) => status === 200))
  }

  // Jobs go on while connections are reset: a node must not end because what came of one could not be written.
  const addJobs = () => database.query("select graphile_worker.add_job('find_open_pushes') from generate_series(1, 4)")
  let over = false
  const busy = nodes.map(async (node) => {
    while (!over) await Promise.all([request(node, '/api/v3/user'), addJobs().catch(() => {}), sleep(20)])
  })
  for (let times = 0; times < 10; times++) {
    proxy.reset()
    await sleep(150)
  }
  over = true
  await Promise.all(busy)
  await recover()
  await until(
    'all jobs are done',
    async () => (await database.query('select from graphile_worker.jobs where run_at <= now()')).length === 0,
  )

  await proxy.set('drop')
  await refused()
  await proxy.set('pass')
  await recover()

  await proxy.set('refuse')
  await refused()
  await proxy.set('pass')
  await recover()
  assert.deepEqual(await Promise.all(nodes.map((node) => node.stop())), ['0', '0'])
})
