import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, fineGrained } from '#test/conversations.ts'
import { checkVisits } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)

test('every response about statuses matches the public documentation, on both variants', inject(async ({ ben, main }) => {
  await checkVisits(ben, { main }, [
    [
      'repos/create-commit-status',
      201,
      'post',
      `${engine}/statuses/{main}`,
      { state: 'success', target_url: 'https://ci.example/1', description: 'Built', context: 'ci/build' },
    ],
    ['repos/create-commit-status', 201, 'post', `${engine}/statuses/{main}`, { state: 'error', description: null }],
    ['repos/list-commit-statuses-for-ref', 200, 'get', `${engine}/commits/{main}/statuses`],
    ['repos/list-commit-statuses-for-ref', 200, 'get', `${engine}/statuses/{main}`],
    ['repos/get-combined-status-for-ref', 200, 'get', `${engine}/commits/main/status`],
  ])
}))

test('the combined state follows from the last status of each context', inject(async ({ ben, nobody, main, topic }) => {
  const report = async (state: string, context?: string) =>
    expect(201, await ben.post(`${engine}/statuses/${main}`, { state, ...(context && { context }) }))
  const combined = () => nobody.read(`${engine}/commits/${main}/status`)
  assert.partialDeepStrictEqual(await combined(), { state: 'pending', total_count: 0, statuses: [], sha: main })
  await report('pending')
  await report('success', 'lint')
  assert.partialDeepStrictEqual(await combined(), { state: 'pending', total_count: 2 })
  await report('success')
  const all = await combined()
  assert.equal(all.state, 'success')
  assert.deepEqual(linesOf(all.statuses, 'context', 'state'), ['lint success', 'default success'])
  await report('error', 'lint')
  assert.equal((await combined()).state, 'failure')
  await report('failure', 'lint')
  assert.equal((await combined()).state, 'failure')
  const listed = await nobody.read(`${engine}/commits/main/statuses?per_page=2`)
  assert.deepEqual(linesOf(listed, 'context', 'state', 'creator.login'), ['lint failure ben', 'lint error ben'])
  const second = await nobody.get(`${engine}/commits/main/status?per_page=1&page=2`)
  assert.match(second.headers.get('link') ?? '', /page=1>; rel="prev"/)
  assert.deepEqual(linesOf((await expect(200, second)).statuses, 'context'), ['lint'])
  assert.equal((await nobody.read(`${engine}/commits/${topic}/status`)).total_count, 0)
}))

test('a status is sent to hooks with its commit and the branches that contain it', inject(async ({
  forge,
  ada,
  ben,
  main,
  topic,
}) => {
  await hookOn(ada, 'repos/ada/engine', 'status')
  const [first] = await heardOf(forge, async () =>
    expect(201, await ben.post(`${engine}/statuses/${main}`, { state: 'success', context: 'ci' })),
  )
  assert.equal(first?.event, 'status')
  checkPayload('status', first?.payload)
  assert.partialDeepStrictEqual(first?.payload, {
    sha: main,
    name: 'ada/engine',
    context: 'ci',
    state: 'success',
    commit: { sha: main, author: { login: 'ada' } },
    branches: [
      { name: 'main', commit: { sha: main }, protected: false },
      { name: 'topic', commit: { sha: topic } },
    ],
    sender: { login: 'ben' },
  })
}))

test('a wrong status is refused', inject(async ({ ada, cy, dan, nobody, forge, main }) => {
  const path = `${engine}/statuses/${main}`
  for (const wrong of [
    {},
    { state: 'fine' },
    { state: 'success', target_url: 'javascript:alert(1)' },
    { state: 'success', target_url: 'http://' },
    { state: 'success', description: 'x'.repeat(141) },
    { state: 'success', context: 'x'.repeat(256) },
    { state: 'success', context: 7 },
  ]) {
    await expect(422, await ada.post(path, wrong))
  }
  for (const sha of ['f'.repeat(40), 'main', main.slice(0, 8)]) {
    const { message } = await expect(422, await ada.post(`${engine}/statuses/${sha}`, { state: 'success' }))
    assert.equal(message, `No commit found for SHA: ${sha}`)
  }
  await expect(422, await nobody.get(`${engine}/commits/nope/status`))
  await expect(401, await nobody.post(path, { state: 'success' }))
  for (const who of [cy, dan]) await expect(403, await who.post(path, { state: 'success' }))
  await forge.belfry.db.query(sql`update status_contexts set statuses_count = 1000`)
  await expect(201, await ada.post(path, { state: 'success' }))
  await forge.belfry.db.query(sql`update status_contexts set statuses_count = 1000`)
  const { errors } = await expect(422, await ada.post(path, { state: 'success' }))
  assert.match(errors[0].message, /maximum number of statuses/)
  await expect(200, await ada.patch(engine, { archived: true }))
  await expect(403, await ada.post(path, { state: 'success' }))
  assert.deepEqual(errorsOf(forge), [])
}))

test('the scope repo:status is enough for statuses of private repositories, and for nothing else', inject(async ({
  forge,
  ada,
  main,
}) => {
  await expect(200, await ada.patch(engine, { private: true }))
  const reporter = await forge.tokenFor('ben', ['repo:status'])
  await expect(201, await reporter.post(`${engine}/statuses/${main}`, { state: 'success' }))
  assert.equal((await reporter.read(`${engine}/commits/${main}/status`)).state, 'success')
  await expect(404, await reporter.get(`${engine}/commits/${main}`))
  const publicOnly = await forge.tokenFor('ben', ['public_repo'])
  await expect(404, await publicOnly.post(`${engine}/statuses/${main}`, { state: 'success' }))
  for (const path of [`commits/${main}/status`, `commits/${main}/statuses`, `statuses/${main}`]) {
    await expect(404, await publicOnly.get(`${engine}/${path}`))
    await expect(404, await forge.nobody.get(`${engine}/${path}`))
    await expect(404, await forge.dan.get(`${engine}/${path}`))
  }
  const fine = await fineGrained(forge, 'ada', { metadata: 'read', statuses: 'write' })
  await expect(201, await fine.post(`${engine}/statuses/${main}`, { state: 'success' }))
  const reader = await fineGrained(forge, 'ada', { metadata: 'read', statuses: 'read' })
  await expect(403, await reader.post(`${engine}/statuses/${main}`, { state: 'success' }))
}))
