import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { asInstallation, openChecker, registerApp } from '#test/apps.ts'
import { engine, fineGrained } from '#test/conversations.ts'
import { checkVisits } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)

const annotation = { path: 'readme.txt', start_line: 1, end_line: 2, annotation_level: 'warning', message: 'Odd' }

test('every response about checks matches the public documentation, on both variants', inject(async ({
  forge,
  ada,
  propose,
  topic,
}) => {
  await propose()
  await checkVisits(await openChecker(forge, ada), { topic }, [
    [
      'checks/create',
      201,
      'post',
      `run=${engine}/check-runs`,
      {
        name: 'ci',
        head_sha: topic,
        status: 'in_progress',
        started_at: '2026-01-02T03:04:05Z',
        external_id: '7',
        details_url: 'https://ci.example/7',
        output: { title: 'Running', summary: 'So far', annotations: [annotation] },
      },
    ],
    ['checks/get', 200, 'get', `${engine}/check-runs/{run}`],
    [
      'checks/update',
      200,
      'patch',
      `${engine}/check-runs/{run}`,
      {
        status: 'completed',
        conclusion: 'failure',
        output: { title: 'Done', summary: 'Bad', text: 'Long', annotations: [annotation] },
      },
    ],
    ['checks/list-annotations', 200, 'get', `${engine}/check-runs/{run}/annotations`],
    ['checks/list-for-ref', 200, 'get', `${engine}/commits/topic/check-runs`],
    ['checks/create-suite', 200, 'post', `suite=${engine}/check-suites`, { head_sha: topic }],
    ['checks/get-suite', 200, 'get', `${engine}/check-suites/{suite}`],
    ['checks/list-for-suite', 200, 'get', `${engine}/check-suites/{suite}/check-runs`],
    ['checks/list-suites-for-ref', 200, 'get', `${engine}/commits/topic/check-suites`],
    ['checks/rerequest-run', 201, 'post', `${engine}/check-runs/{run}/rerequest`],
    ['checks/rerequest-suite', 201, 'post', `${engine}/check-suites/{suite}/rerequest`],
  ])
}))

test('a suite follows from the latest run of each name', inject(async ({ forge, ada, nobody, propose, topic }) => {
  await propose()
  const bot = await openChecker(forge, ada)
  const make = async (name: string, more = {}) =>
    expect(201, await bot.post(`${engine}/check-runs`, { name, head_sha: topic, ...more }))
  const change = async ({ id }: { id: number }, more: object) =>
    expect(200, await bot.patch(`${engine}/check-runs/${id}`, more as Record<string, unknown>))
  const first = await make('build')
  const path = `${engine}/check-suites/${first.check_suite.id}`
  const state = async () => {
    const { status, conclusion, latest_check_runs_count } = await nobody.read(path)
    return [status, conclusion, latest_check_runs_count]
  }
  assert.deepEqual(await state(), ['queued', null, 1])
  const lint = await make('lint', { status: 'in_progress' })
  assert.deepEqual(await state(), ['in_progress', null, 2])
  await change(first, { conclusion: 'failure' })
  await change(lint, { status: 'completed', conclusion: 'skipped' })
  assert.deepEqual(await state(), ['completed', 'failure', 2])
  const second = await make('build', { conclusion: 'success' })
  assert.equal(second.status, 'completed')
  assert.ok(second.completed_at)
  assert.deepEqual(await state(), ['completed', 'success', 2])
  const again = await change(second, { status: 'in_progress' })
  assert.deepEqual([again.conclusion, again.completed_at], [null, null])
  assert.deepEqual(await state(), ['in_progress', null, 2])
  await change(second, { conclusion: 'neutral' })
  assert.deepEqual(await state(), ['completed', 'neutral', 2])
  const runs = async (query: string) => {
    const { check_runs, total_count } = await nobody.read(`${engine}/commits/topic/check-runs${query}`)
    return [total_count, ...linesOf(check_runs, 'name', 'conclusion')]
  }
  assert.deepEqual(await runs(''), [2, 'build neutral', 'lint skipped'])
  assert.deepEqual(await runs('?filter=all'), [3, 'build neutral', 'lint skipped', 'build failure'])
  assert.deepEqual(await runs('?check_name=lint'), [1, 'lint skipped'])
  assert.deepEqual(await runs('?status=queued'), [0])
  assert.deepEqual(await runs('?per_page=1&page=2'), [2, 'lint skipped'])
  assert.deepEqual(linesOf(second.pull_requests, 'number', 'head.ref', 'base.ref'), ['1 topic main'])
  assert.partialDeepStrictEqual(await nobody.read(path), { head_branch: 'topic', head_sha: topic, head_commit: { id: topic } })
  for (const url of [second.url, second.output.annotations_url, `${path}/check-runs`]) await expect(200, await nobody.get(url))
}))

test('annotations are added to those that a run has', inject(async ({ forge, ada, nobody, topic }) => {
  const bot = await openChecker(forge, ada)
  const output = { title: 'T', summary: 'S', annotations: [annotation, { ...annotation, start_column: 3, end_column: 4 }] }
  const { id } = await expect(201, await bot.post(`${engine}/check-runs`, { name: 'ci', head_sha: topic, output }))
  const more = { summary: 'S2', annotations: [{ ...annotation, path: 'a b/ü.txt', title: 'Third' }] }
  const run = await expect(200, await bot.patch(`${engine}/check-runs/${id}`, { output: more }))
  assert.partialDeepStrictEqual(run.output, { title: 'T', summary: 'S2', annotations_count: 3 })
  const listed = await nobody.read(`${engine}/check-runs/${id}/annotations?per_page=2&page=2`)
  assert.deepEqual(linesOf(listed, 'path', 'title', 'start_column'), ['a b/ü.txt Third '])
  await forge.belfry.db.query(sql`update check_runs set annotations_count = 10000`)
  await expect(422, await bot.patch(`${engine}/check-runs/${id}`, { output: more }))
}))

test('runs and suites are sent to hooks', inject(async ({ forge, ada, ben, propose, topic }) => {
  await propose()
  const bot = await openChecker(forge, ada)
  await hookOn(ada, 'repos/ada/engine', 'check_run', 'check_suite')
  const heard = await heardOf(forge, async () => {
    const { id } = await expect(201, await bot.post(`${engine}/check-runs`, { name: 'ci', head_sha: topic }))
    await expect(422, await ben.post(`${engine}/check-runs/${id}/rerequest`))
    const { check_suite } = await expect(200, await bot.patch(`${engine}/check-runs/${id}`, { conclusion: 'timed_out' }))
    await expect(200, await bot.patch(`${engine}/check-runs/${id}`, { output: { summary: 'Late' } }))
    await expect(201, await ben.post(`${engine}/check-runs/${id}/rerequest`))
    assert.partialDeepStrictEqual(await ben.read(`${engine}/check-suites/${check_suite.id}`), {
      status: 'queued',
      conclusion: null,
    })
    await expect(201, await ben.post(`${engine}/check-suites/${check_suite.id}/rerequest`))
  })
  for (const { event, payload } of heard) checkPayload(event, payload)
  assert.deepEqual(linesOf(heard, 'event', 'payload.action'), [
    'check_run created',
    'check_run completed',
    'check_suite completed',
  ])
  assert.partialDeepStrictEqual(heard[2]?.payload, {
    check_suite: {
      head_sha: topic,
      conclusion: 'timed_out',
      head_commit: { id: topic, message: 'Add notes\n' },
      app: { slug: bot.app.slug },
    },
    sender: { login: bot.login },
  })
  assert.deepEqual(linesOf(heard[0]?.payload.check_run.pull_requests, 'number'), ['1'])
}))

test('a required check may be a run', inject(async ({ forge, ada, ben, propose, topic }) => {
  await propose()
  const bot = await openChecker(forge, ada)
  const required_status_checks = { strict: false, contexts: ['ci'] }
  const rules = { required_status_checks, enforce_admins: null, required_pull_request_reviews: null, restrictions: null }
  await expect(200, await ada.put(`${engine}/branches/main/protection`, rules))
  const report = async (conclusion: string) =>
    expect(201, await bot.post(`${engine}/check-runs`, { name: 'ci', head_sha: topic, conclusion }))
  const refusal = async () => (await expect(405, await ben.put(`${engine}/pulls/1/merge`))).message
  await report('cancelled')
  assert.equal(await refusal(), 'Required status check "ci" is failing.')
  await report('neutral')
  await expect(201, await ben.post(`${engine}/statuses/${topic}`, { state: 'pending', context: 'ci' }))
  assert.equal(await refusal(), 'Required status check "ci" is pending.')
  await expect(201, await ben.post(`${engine}/statuses/${topic}`, { state: 'success', context: 'ci' }))
  await expect(200, await ben.put(`${engine}/pulls/1/merge`))
}))

test('a wrong check is refused, and private ones are hidden', inject(async ({ forge, ada, nobody, topic }) => {
  const bot = await openChecker(forge, ada)
  const run = { name: 'ci', head_sha: topic }
  for (const wrong of [
    {},
    { name: '', head_sha: topic },
    { name: 'ci', head_sha: 'topic' },
    { name: 'ci', head_sha: 'f'.repeat(40) },
    { ...run, status: 'waiting' },
    { ...run, status: 'completed' },
    { ...run, conclusion: 'stale' },
    { ...run, details_url: 'javascript:x' },
    { ...run, started_at: 'soon' },
    { ...run, output: { title: 'T' } },
    { ...run, output: { summary: 'x'.repeat(65_536) } },
    { ...run, output: { summary: 'S', annotations: Array(51).fill(annotation) } },
    { ...run, output: { summary: 'S', annotations: [{ ...annotation, start_line: 3 }] } },
    { ...run, output: { summary: 'S', annotations: [{ ...annotation, annotation_level: 'bad' }] } },
  ]) {
    await expect(422, await bot.post(`${engine}/check-runs`, wrong))
  }
  await expect(422, await bot.post(`${engine}/check-suites`, { head_sha: 'main' }))
  await expect(401, await nobody.post(`${engine}/check-runs`, run))
  const { id, check_suite } = await expect(201, await bot.post(`${engine}/check-runs`, run))
  await ada.owns('other')
  for (const path of [`check-runs/${id}`, `check-suites/${check_suite.id}`, `check-runs/${id}/annotations`]) {
    await expect(404, await ada.get(`/repos/ada/other/${path}`))
    await expect(200, await nobody.get(`${engine}/${path}`))
  }
  await expect(404, await bot.patch(`/repos/ada/other/check-runs/${id}`, { conclusion: 'success' }))
  await expect(404, await ada.post(`/repos/ada/other/check-suites/${check_suite.id}/rerequest`))
  await expect(200, await ada.patch(engine, { private: true }))
  for (const path of [`check-runs/${id}`, `check-suites/${check_suite.id}`, `commits/${topic}/check-runs`]) {
    await expect(404, await forge.dan.get(`${engine}/${path}`))
  }
  assert.deepEqual(errorsOf(forge), [])
}))

test('checks name their app, and only that app changes them', inject(async ({ forge, ada, ben, nobody, topic }) => {
  const bot = await openChecker(forge, ada)
  const other = await openChecker(forge, ada)
  const run = await expect(201, await bot.post(`${engine}/check-runs`, { name: 'ci', head_sha: topic }))
  assert.deepEqual([run.app.id, run.app.slug], [bot.app.id, bot.app.slug])
  await expect(200, await bot.patch(`${engine}/check-runs/${run.id}`, { conclusion: 'failure' }))
  const second = await expect(
    201,
    await other.post(`${engine}/check-runs`, { name: 'ci', head_sha: topic, conclusion: 'success' }),
  )
  assert.notEqual(second.check_suite.id, run.check_suite.id)
  assert.equal((await nobody.read(`${engine}/check-suites/${second.check_suite.id}`)).conclusion, 'success')
  await expect(403, await bot.patch(`${engine}/check-runs/${second.id}`, { conclusion: 'failure' }))
  const listed = async (query: string) =>
    linesOf((await nobody.read(`${engine}/commits/topic/check-runs${query}`)).check_runs, 'app.slug', 'conclusion')
  assert.deepEqual(await listed(''), [`${other.app.slug} success`, `${bot.app.slug} failure`])
  assert.deepEqual(await listed(`?app_id=${bot.app.id}`), [`${bot.app.slug} failure`])
  const rules = { enforce_admins: true, required_pull_request_reviews: null, restrictions: null }
  const checks = [{ context: 'ci', app_id: bot.app.id }]
  await expect(200, await ada.put(`${engine}/branches/main/protection`, { ...rules, required_status_checks: { checks } }))
  const refused = await expect(422, await ben.patch(`${engine}/git/refs/heads/main`, { sha: topic }))
  assert.equal(refused.message, 'Required status check "ci" is failing.')
}))

test('only apps report checks, and users request them again', inject(async ({ forge, ada, ben, cy, nobody, topic }) => {
  const bot = await openChecker(forge, ada)
  const run = { name: 'ci', head_sha: topic, conclusion: 'success' }
  const { id, check_suite } = await expect(201, await bot.post(`${engine}/check-runs`, { ...run, conclusion: 'failure' }))
  const fine = await fineGrained(forge, 'ada', { metadata: 'read', checks: 'write' })
  for (const who of [ada, ada.versioned, ben, cy, fine, forge.admin])
    for (const refused of [
      await who.post(`${engine}/check-runs`, run),
      await who.patch(`${engine}/check-runs/${id}`, { conclusion: 'success' }),
      await who.post(`${engine}/check-suites`, { head_sha: topic }),
      await who.post('/repos/ada/nowhere/check-runs', run),
    ])
      assert.match((await expect(403, refused)).message, /^You must authenticate via an app\. /)
  await expect(401, await nobody.post(`${engine}/check-runs`, run))
  const unpermitted = await registerApp(ada, { default_permissions: { checks: 'read' } })
  const installation = await expect(201, await ada.post('/user/installations', { app_slug: unpermitted.slug }))
  await expect(403, await (await asInstallation(forge, unpermitted, installation)).post(`${engine}/check-runs`, run))
  assert.equal((await nobody.read(`${engine}/check-runs/${id}`)).conclusion, 'failure')
  await expect(403, await cy.post(`${engine}/check-runs/${id}/rerequest`))
  await expect(201, await ben.post(`${engine}/check-runs/${id}/rerequest`))
  await expect(201, await ben.post(`${engine}/check-suites/${check_suite.id}/rerequest`))
}))
