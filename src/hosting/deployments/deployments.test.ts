import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openChecker } from '#test/apps.ts'
import { engine, fineGrained } from '#test/conversations.ts'
import { checkVisits } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload, unneeded } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)

const path = `${engine}/deployments`
const addresses = { log_url: 'https://ci.example/1', environment_url: 'https://qa.example' }

test('every response about deployments matches the public documentation, on both variants', inject(async ({ ben }) => {
  await checkVisits(ben, {}, [
    [
      'repos/create-deployment',
      201,
      'post',
      `id=${path}`,
      { ref: 'topic', payload: { a: [1] }, environment: 'qa/eu', description: 'Try' },
    ],
    ['repos/create-deployment', 201, 'post', path, { ref: 'topic', payload: 'words' }],
    ['repos/get-deployment', 200, 'get', `${path}/{id}`],
    ['repos/list-deployments', 200, 'get', path],
    [
      'repos/create-deployment-status',
      201,
      'post',
      `status=${path}/{id}/statuses`,
      { ...addresses, state: 'success', description: 'Up' },
    ],
    ['repos/get-deployment-status', 200, 'get', `${path}/{id}/statuses/{status}`],
    ['repos/list-deployment-statuses', 200, 'get', `${path}/{id}/statuses`],
    ['repos/get-all-environments', 200, 'get', `${engine}/environments`],
    ['repos/get-environment', 200, 'get', `${engine}/environments/qa%2Feu`],
    ['repos/create-deployment-status', 201, 'post', `${path}/{id}/statuses`, { ...addresses, state: 'inactive' }],
    ['repos/delete-deployment', 204, 'delete', `${path}/{id}`],
  ])
}))

test('deployments are listed by what they are of, and name their environments', inject(async ({ ben, nobody, main, topic }) => {
  for (const body of [{ ref: 'main' }, { ref: 'topic', environment: 'qa' }, { ref: topic, task: 'deploy:migrations' }]) {
    await expect(201, await ben.post(path, { auto_merge: false, ...body }))
  }
  const listed = async (query: string) => linesOf(await nobody.read(`${path}?${query}`), 'ref', 'task', 'environment')
  const third = `${topic} deploy:migrations production`
  assert.deepEqual(await listed(''), [third, 'topic deploy qa', 'main deploy production'])
  assert.deepEqual(await listed('environment=qa&sha=none'), ['topic deploy qa'])
  assert.deepEqual(await listed(`sha=${main}`), ['main deploy production'])
  assert.deepEqual(await listed('task=deploy:migrations'), [third])
  assert.deepEqual(await listed('ref=topic&per_page=1'), ['topic deploy qa'])
  const { total_count, environments } = await nobody.read(`${engine}/environments`)
  assert.deepEqual([total_count, ...linesOf(environments, 'name')], [2, 'production', 'qa'])
  for (const { url } of environments) await expect(200, await nobody.get(url))
  await expect(404, await nobody.get(`${engine}/environments/staging`))
}))

test('a commit is deployed when its contexts have succeeded', inject(async ({ forge, ada, ben, topic }) => {
  const deploy = (body = {}) => ben.post(path, { ref: 'topic', ...body })
  const report = async (state: string, context: string) =>
    expect(201, await ada.post(`${engine}/statuses/${topic}`, { state, context }))
  await report('success', 'ci')
  await report('pending', 'lint')
  const refused = await expect(409, await deploy())
  assert.equal(refused.message, 'Conflict: Commit status checks failed for topic.')
  assert.partialDeepStrictEqual(refused.errors, [{ resource: 'Deployment', field: 'required_contexts', code: 'invalid' }])
  await expect(201, await deploy({ required_contexts: [] }))
  await expect(201, await deploy({ required_contexts: ['ci'] }))
  await expect(409, await deploy({ required_contexts: ['ci', 'never'] }))
  await report('success', 'lint')
  await expect(201, await deploy())
  await expect(201, await (await openChecker(forge, ada)).post(`${engine}/check-runs`, { name: 'unit', head_sha: topic }))
  await expect(409, await deploy())
}))

test('a branch gets the commits of the default branch first', inject(async ({ forge, ada, ben, work }) => {
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Ahead', { 'ahead.txt': 'a\n' })
  await work.push('main')
  const deploy = (body = {}) => ben.post(path, { ref: 'topic', ...body })
  const fine = await fineGrained(forge, 'ada', { metadata: 'read', deployments: 'write' })
  await expect(403, await fine.post(path, { ref: 'topic' }))
  assert.deepEqual(await expect(202, await deploy()), { message: 'Auto-merged main into topic on deployment.' })
  const made = await expect(201, await deploy())
  assert.equal(made.sha, (await ada.read(`${engine}/branches/topic`)).commit.sha)
  await work.commit('Conflict', { 'notes.txt': 'Another note.\n' })
  await work.push('main')
  assert.equal((await expect(409, await deploy())).message, 'Conflict merging main into topic.')
  await expect(201, await deploy({ auto_merge: false }))
  await expect(201, await fine.post(path, { ref: 'main' }))
}))

test('a success ends the earlier deployments to the environment, and only inactive ones are deleted', inject(async ({
  ben,
  nobody,
}) => {
  const deploy = async (environment: string, more = {}) =>
    (await expect(201, await ben.post(path, { ref: 'main', environment, ...more }))).id as number
  const report = async (id: number, body: Record<string, unknown>) => expect(201, await ben.post(`${path}/${id}/statuses`, body))
  const states = async (id: number) => linesOf(await nobody.read(`${path}/${id}/statuses`), 'state', 'environment')
  const first = await deploy('qa')
  await expect(204, await ben.delete(`${path}/${first}`))
  const [second, third, live] = [await deploy('qa'), await deploy('qa'), await deploy('production')]
  for (const id of [second, live]) await report(id, { state: 'success' })
  await expect(422, await ben.delete(`${path}/${second}`))
  await report(third, { state: 'in_progress' })
  await report(third, { state: 'success' })
  assert.deepEqual(await states(second), ['inactive qa', 'success qa'])
  await expect(204, await ben.delete(`${path}/${second}`))
  await report(await deploy('production'), { state: 'success' })
  assert.deepEqual(await states(live), ['success production'])
  await report(third, { state: 'success', environment: 'staging' })
  assert.partialDeepStrictEqual(await nobody.read(`${path}/${third}`), { environment: 'staging', original_environment: 'qa' })
  await expect(200, await nobody.get(`${engine}/environments/staging`))
}))

test('deployments and their statuses are sent to hooks', inject(async ({ forge, ada, ben }) => {
  await hookOn(ada, 'repos/ada/engine', 'deployment', 'deployment_status')
  const heard = await heardOf(forge, async () => {
    const { id } = await expect(201, await ben.post(path, { ref: 'main', payload: '{"a": 1}' }))
    await expect(201, await ben.post(`${path}/${id}/statuses`, { state: 'queued', target_url: 'https://ci.example/1' }))
    await expect(201, await ben.post(`${path}/${id}/statuses`, { state: 'inactive' }))
    const plain = await expect(201, await ben.post(path, { ref: 'main', payload: 'words' }))
    await expect(201, await ben.post(`${path}/${plain.id}/statuses`, { state: 'error' }))
  })
  for (const { event, payload } of heard) checkPayload(event, payload)
  assert.deepEqual(linesOf(heard, 'event', 'payload.action', 'payload.deployment_status.state'), [
    'deployment created ',
    'deployment_status created queued',
    'deployment created ',
    'deployment_status created error',
  ])
  assert.partialDeepStrictEqual(heard[1]?.payload, {
    deployment: { ref: 'main', payload: { a: 1 } },
    deployment_status: { log_url: 'https://ci.example/1', target_url: 'https://ci.example/1' },
    sender: { login: 'ben' },
  })
  assert.deepEqual(unneeded('deployment', 'deployment_status'), [])
}))

test('a wrong deployment is refused, and the scope repo_deployment is enough for private ones', inject(async ({
  forge,
  ada,
  ben,
  cy,
  nobody,
}) => {
  for (const wrong of [
    {},
    { ref: '' },
    { ref: 'gone' },
    { ref: 'main', payload: 7 },
    { ref: 'main', payload: 'x'.repeat(65_536) },
    { ref: 'main', required_contexts: 'ci' },
    { ref: 'main', environment: '' },
    { ref: 'main', description: 'x'.repeat(141) },
  ]) {
    await expect(422, await ben.post(path, wrong))
  }
  const { id } = await expect(201, await ben.post(path, { ref: 'main' }))
  for (const wrong of [
    {},
    { state: 'waiting' },
    { state: 'success', log_url: 'file:///x' },
    { state: 'success', environment_url: 'x' },
  ]) {
    await expect(422, await ben.post(`${path}/${id}/statuses`, wrong))
  }
  await expect(403, await cy.post(path, { ref: 'main' }))
  await expect(401, await nobody.post(`${path}/${id}/statuses`, { state: 'success' }))
  await ben.owns('other')
  await expect(404, await ben.get(`/repos/ben/other/deployments/${id}`))
  await expect(404, await ben.post(`/repos/ben/other/deployments/${id}/statuses`, { state: 'success' }))
  await expect(404, await ben.delete(`/repos/ben/other/deployments/${id}`))
  await expect(200, await ada.patch(engine, { private: true }))
  const deployer = await forge.tokenFor('ben', ['repo_deployment'])
  await expect(201, await deployer.post(`${path}/${id}/statuses`, { state: 'success' }))
  await expect(404, await deployer.get(engine))
  for (const where of [path, `${path}/${id}`, `${path}/${id}/statuses`, `${engine}/environments`]) {
    await expect(404, await nobody.get(where))
    await expect(200, await deployer.get(where))
  }
  assert.deepEqual(errorsOf(forge), [])
}))
