import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Person } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { openNodes } from '#test/outage.ts'
import { ReplicatedPostgres } from '#test/replicated-postgres.ts'

/** Opens issues until it is stopped, and keeps the titles of those that were acknowledged. */
function openIssues(admin: Person, name: string) {
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  let over = false
  const ended = (async () => {
    for (let number = 1; !over; number++) {
      const title = `${name} ${number}`
      const answer = await admin.post('/repos/admin/engine/issues', { title })
      await answer.arrayBuffer()
      statuses.add(answer.status)
      if (answer.status === 201) acknowledged.push(title)
      else assert.equal(answer.headers.get('retry-after'), '5')
    }
  })()
  const stop = async () => {
    over = true
    await ended
    return { acknowledged, statuses: [...statuses].sort() }
  }
  return { acknowledged, stop }
}

test('when the primary is killed and its standby promoted, nodes use the new primary, and nothing acknowledged is lost', async () => {
  await using postgres = await ReplicatedPostgres.open()
  await using outage = await openNodes(postgres.url)
  const { nodes, adminOf, recovery } = outage
  const writers = nodes.flatMap((node, place) =>
    [1, 2].map((number) => openIssues(adminOf(node), `node ${place} writer ${number}`)),
  )
  const enough = (count: number) =>
    until(`each writer wrote ${count}`, () => writers.every(({ acknowledged }) => acknowledged.length >= count))
  await enough(10)
  await postgres.failOver()
  const many = Math.max(...writers.map(({ acknowledged }) => acknowledged.length))
  await enough(many + 10)
  const written = await Promise.all(writers.map((writer) => writer.stop()))
  for (const { statuses } of written) assert.deepEqual(statuses, [201, 503])
  await Promise.all(nodes.map((_, place) => recovery(place)))

  const found = new Set((await postgres.query('select title from issues')).map(({ title }) => title))
  const lost = written.flatMap(({ acknowledged }) => acknowledged.filter((title) => !found.has(title)))
  assert.deepEqual(lost, [])
  const [{ events, issues } = {}] = await postgres.query(
    "select (select count(*) from events where type = 'IssuesEvent') as events, (select count(*) from issues) as issues",
  )
  assert.equal(events, issues, 'every issue has its event')
  assert.deepEqual(await Promise.all(nodes.map((node) => node.stop())), ['0', '0'])
})

test('when the former primary still runs, nodes use the one that was promoted', async () => {
  await using postgres = await ReplicatedPostgres.open()
  await using outage = await openNodes(postgres.url)
  const { nodes, adminOf, recovery } = outage
  const writers = nodes.map((node, place) => openIssues(adminOf(node), `node ${place}`))
  await until('each writer wrote', () => writers.every(({ acknowledged }) => acknowledged.length >= 5))
  await postgres.promoteBeside()
  await Promise.all(nodes.map((_, place) => recovery(place)))
  const written = await Promise.all(writers.map((writer) => writer.stop()))
  const found = new Set((await postgres.query('select title from issues')).map(({ title }) => title))
  const lost = written.flatMap(({ acknowledged }) => acknowledged.filter((title) => !found.has(title)))
  assert.deepEqual(lost, [])
})

test('what a failover lost is not shown, and hides nothing that is written afterwards', async () => {
  await using postgres = await ReplicatedPostgres.open()
  await using outage = await openNodes(postgres.url)
  const [node] = outage.nodes
  const admin = outage.adminOf(node)
  const listTitles = async () => {
    const events: { payload: { issue?: { title: string } } }[] = await expect(200, await admin.get('/repos/admin/engine/events'))
    return events.flatMap(({ payload }) => payload.issue?.title ?? [])
  }
  await expect(201, await admin.post('/repos/admin/engine/issues', { title: 'before' }))
  await postgres.detachStandby()
  for (let number = 1; number <= 20; number++)
    await expect(201, await admin.post('/repos/admin/engine/issues', { title: `lost ${number}` }))
  assert.equal((await listTitles())[0], 'lost 20')
  await postgres.failOver()
  await until('the new primary is used', async () => {
    const answer = await admin.post('/repos/admin/engine/issues', { title: 'after' })
    await answer.arrayBuffer()
    return answer.status === 201
  })
  assert.deepEqual(await listTitles(), ['after', 'before'])
})
