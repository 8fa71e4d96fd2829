import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asInstallation, registerApp } from '#test/apps.ts'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting, linesOf } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)

const app = (name: string, checks: string) => ({
  name,
  hook_attributes: { url: 'belfry:listen' },
  default_permissions: { checks, contents: 'read' },
  default_events: ['check_suite', 'check_run'],
})

test('a push asks each app that writes checks to check it, once', inject(async ({ forge, ada, ben, work }) => {
  const runner = await registerApp(ada, app('Runner', 'write'))
  const reader = await registerApp(ada, app('Reader', 'read'))
  const installation = await expect(201, await ada.post('/user/installations', { app_slug: runner.slug }))
  await expect(201, await ada.post('/user/installations', { app_slug: reader.slug }))
  await hookOn(ada, 'repos/ada/engine', 'check_suite', 'check_run')
  await work.git('checkout', '--quiet', 'topic')
  const before = await work.head()
  const head = await work.commit('More', { 'more.txt': 'm\n' })
  const heard = await heardOf(forge, () => work.push('topic', 'topic:refs/heads/copy'))
  for (const { event, payload } of heard) checkPayload(event, payload)
  assert.deepEqual(linesOf(heard, 'event', 'payload.action', 'payload.check_suite.app.slug'), [
    `check_suite requested ${runner.slug}`,
  ])
  assert.partialDeepStrictEqual(heard[0]?.payload, {
    check_suite: { head_sha: head, before, after: head, status: 'queued', head_commit: { message: 'More\n' } },
    installation: { id: installation.id },
    sender: { login: 'ada' },
  })
  const bot = await asInstallation(forge, runner, installation)
  const completed = await heardOf(forge, async () => {
    const run = await expect(201, await bot.post(`${engine}/check-runs`, { name: 'ci', head_sha: head, conclusion: 'failure' }))
    assert.equal(run.check_suite.id, heard[0]?.payload.check_suite.id)
  })
  // The hook of the repository, and those of both apps.
  assert.equal(completed.filter(({ payload }) => payload.action === 'completed' && payload.check_suite).length, 3)
  const { check_runs } = await ben.read(`${engine}/commits/topic/check-runs`)
  const again = await heardOf(forge, async () => {
    await expect(201, await ben.post(`${engine}/check-runs/${check_runs[0].id}/rerequest`))
    await expect(201, await ben.post(`${engine}/check-suites/${check_runs[0].check_suite.id}/rerequest`))
  })
  assert.deepEqual(linesOf(again, 'event', 'payload.action', 'payload.installation.id'), [
    `check_run rerequested ${installation.id}`,
    `check_suite rerequested ${installation.id}`,
  ])
  assert.deepEqual(await heardOf(forge, () => work.push('topic:refs/heads/another')), [])
}))

test('an app that a repository has turned off is not asked', inject(async ({ forge, ada, ben, work }) => {
  const { id: app_id, slug } = await registerApp(ada, app('Runner', 'write'))
  await expect(201, await ada.post('/user/installations', { app_slug: slug }))
  const other = await registerApp(ben, app('Other', 'write'))
  const preferences = `${engine}/check-suites/preferences`
  const set = (setting: boolean, id = app_id) => ({ auto_trigger_checks: [{ app_id: id, setting }] })
  await checkContracts(ada, () => [['checks/set-suites-preferences', 'patch', preferences, set(false)]])
  await work.git('checkout', '--quiet', 'topic')
  await work.commit('More', { 'more.txt': 'm' })
  const asked = async () => linesOf(await heardOf(forge, () => work.push('topic')), 'event', 'payload.action')
  assert.deepEqual(await asked(), [])
  const { preferences: shown } = await expect(200, await ada.patch(preferences, set(true)))
  assert.deepEqual([shown, (await expect(200, await ada.patch(preferences, {}))).preferences], [set(true), set(true)])
  await work.commit('Even more', { 'more.txt': 'mm' })
  assert.deepEqual(await asked(), ['check_suite requested'])
  assert.equal((await ada.patch(preferences, set(false, other.id))).status, 422, 'it is not installed')
  assert.equal((await ben.patch(preferences, set(false))).status, 403)
}))
