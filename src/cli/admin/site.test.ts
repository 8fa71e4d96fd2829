import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, injecting, openForge, pick } from '#test/forge.ts'
import { applyRunEvent, openEmpty, start } from '#test/imports/import-states.ts'
import { operatorOf } from '#test/operator.ts'

const inject = injecting(openForge)

test('an operator creates an organization, and gives it another owner', inject(async (forge) => {
  const operator = operatorOf(forge)
  await forge.person('ada')
  const ben = await forge.person('ben')
  await operator.text('orgs', 'create', 'acme', '--owner', 'ada', '--name', 'Acme Inc.')
  assert.equal(await operator.text('orgs', 'add-owner', 'ACME', 'ben'), 'ben is an owner of acme.')
  forge.clock.advance(1000)
  assert.equal((await ben.read('/user/memberships/orgs/acme')).role, 'admin')
  assert.partialDeepStrictEqual(await operator.data('orgs', 'list'), [{ login: 'acme', name: 'Acme Inc.', members: 2 }])
  assert.match((await operator.run('orgs', 'create', 'other')).stderr, /^--owner is missing/)
  assert.equal((await operator.run('orgs', 'add-owner', 'ada', 'ben')).stderr, 'There is no organization "ada".')
  const audit = pick(await operator.data('audit', '--action', 'org'), 'action', 'subject')
  assert.deepEqual(audit, [
    ['org.add_owner', 'acme: ben'],
    ['org.create', 'acme'],
  ])
}))

test('an operator manages members and teams', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  const ben = await forge.person('ben')
  await forge.organization('acme', ada)
  assert.equal(await operator.text('orgs', 'add-member', 'acme', 'ben'), 'ben is a member of acme.')
  const made = 'Created acme/core, maintained by ben.'
  assert.equal(await operator.text('teams', 'create', 'acme', 'Core', '--maintainer', 'ben'), made)
  assert.match((await operator.run('teams', 'create', 'acme', 'Other')).stderr, /^--maintainer is missing/)
  await forge.person('cleo')
  assert.equal(await operator.text('teams', 'add-member', 'ACME', 'core', 'cleo'), 'cleo is a member of acme/core.')
  assert.deepEqual(pick(await operator.data('teams', 'members', 'acme', 'core'), 'login', 'role'), [
    ['ben', 'maintainer'],
    ['cleo', 'member'],
  ])
  forge.clock.advance(1000)
  assert.deepEqual(pick(await ben.read('/orgs/acme/teams/core/members'), 'login'), ['ben', 'cleo'])
  assert.deepEqual(pick(await operator.data('teams', 'list', 'acme'), 'slug', 'privacy', 'members_count'), [
    ['core', 'closed', 2],
  ])
  await operator.text('teams', 'remove-member', 'acme', 'core', 'cleo')
  assert.match((await operator.run('teams', 'members', 'acme', 'nothing')).stderr, /^There is no team "nothing" in acme\./)
  assert.equal(await operator.text('orgs', 'remove-member', 'acme', 'cleo'), 'cleo has left acme.')
  assert.equal((await operator.run('orgs', 'remove-member', 'acme', 'cleo')).stderr, 'cleo is not a member of acme.')
  assert.match((await operator.run('orgs', 'remove-member', 'acme', 'ada')).stderr, /^ada is the last owner of acme/)
  assert.deepEqual(pick(await operator.data('orgs', 'members', 'acme'), 'login'), ['ada', 'ben'])
}))

test('an operator lists members, suspends an organization, and deletes it', inject(async (forge) => {
  const operator = operatorOf(forge)
  const ada = await forge.person('ada')
  await forge.person('ben')
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine' }))
  assert.deepEqual(pick(await operator.data('orgs', 'members', 'ACME'), 'login', 'role'), [
    ['ada', 'owner'],
    ['ben', 'member'],
  ])
  assert.match(await operator.text('orgs', 'members', 'acme', '--role', 'owner'), /^LOGIN +NAME +ROLE +SHOWN\nada [^\n]*$/)
  assert.match((await operator.run('orgs', 'members', 'acme', '--role', 'guest')).stderr, /^There is no role "guest"/)
  assert.equal(await operator.text('orgs', 'suspend', 'acme'), 'acme is suspended.')
  forge.clock.advance(1000)
  assert.equal((await ada.post('/repos/acme/engine/issues', { title: 'Meanwhile' })).status, 403)
  assert.deepEqual(pick(await operator.data('orgs', 'list', '--filter', 'suspended'), 'login'), ['acme'])
  assert.deepEqual((await operator.data('orgs', 'unsuspend', 'acme')).suspended_at, null)
  forge.clock.advance(1000)
  await expect(201, await ada.post('/repos/acme/engine/issues', { title: 'After' }))
  assert.match(
    (await operator.run('orgs', 'delete', 'acme')).stderr,
    /^This deletes the organization acme .* Add --yes to do it\.$/,
  )
  assert.equal(await operator.text('orgs', 'delete', 'acme', '--yes'), 'acme is deleted.')
  forge.clock.advance(1000)
  assert.equal((await ada.get('/orgs/acme')).status, 404)
  assert.equal((await operator.run('orgs', 'delete', 'acme', '--yes')).stderr, 'There is no organization "acme".')
  const audit = pick(await operator.data('audit'), 'action', 'subject', 'via').slice(0, 4)
  assert.deepEqual(audit, [
    ['org.delete', 'acme', 'command line'],
    ['repo.deleted', 'acme/engine', 'command line'],
    ['org.suspend', 'acme', 'command line'],
    ['org.unsuspend', 'acme', 'command line'],
  ])
}))

test(
  'an operator lists imports without credentials, restarts and cancels them',
  injecting(() => openEmpty())(async ({ forge }) => {
    const operator = operatorOf(forge)
    await start(forge.ada, { vcs: 'git', vcs_username: 'ada', vcs_password: 'hidden word' })
    await applyRunEvent(forge, 'failed', { message: 'It broke.' })
    const [shown] = await operator.data('imports', 'list')
    assert.partialDeepStrictEqual(shown, { repository: 'ada/engine', requester: 'ada', status: 'error', message: 'It broke.' })
    assert.ok(!JSON.stringify(shown).includes('hidden'))
    assert.deepEqual(await operator.data('imports', 'list', '--active'), [])
    assert.deepEqual(await operator.data('imports', 'restart', 'Ada/Engine'), { repository: 'Ada/Engine', status: 'importing' })
    const asked = await operator.run('imports', 'cancel', 'ada/engine')
    assert.match(asked.stderr, /^This cancels the import of ada\/engine .* Add --yes to do it\.$/)
    await operator.text('imports', 'cancel', 'ada/engine', '--yes')
    forge.clock.advance(1000)
    assert.equal((await forge.ada.get('/repos/ada/engine/import')).status, 404)
    assert.equal((await operator.run('imports', 'restart', 'ada/engine')).stderr, 'There is no import of "ada/engine".')
  }),
)

test('an operator finds failing hooks, and has events sent to them again', inject(async (forge) => {
  const operator = operatorOf(forge)
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const config = { url: 'https://hooks.example.com/secret-path', secret: 'hidden' }
  const { id } = await expect(201, await ada.post('/repos/ada/engine/hooks', { config, events: ['issues'] }))
  assert.deepEqual(await operator.data('hooks', 'failing'), [])
  await db.query(sql`update hooks set last_code = 502, last_status = 'timed out', failures = 3 where id = ${id}`)
  const [hook] = await operator.data('hooks', 'failing')
  assert.partialDeepStrictEqual(hook, {
    id,
    target: 'ada/engine',
    host: 'hooks.example.com',
    last_code: 502,
    failures: 3,
    waiting: 1,
  })
  assert.equal(hook.next_attempt_at, forge.clock.now().toISOString())
  assert.doesNotMatch(await operator.text('hooks', 'list'), /secret-path|hidden/)
  const since = new Date(forge.clock.now().getTime() - 3_600_000).toISOString()
  assert.deepEqual((await operator.data('hooks', 'replay', `${id}`, '--since', since)).events, ['issues'])
  assert.match((await operator.run('hooks', 'replay', `${id}`, '--since', since)).stderr, /^A replay of this hook is running/)
  assert.match((await operator.run('hooks', 'replay', `${id}`)).stderr, /^--since is missing/)
  assert.equal((await operator.run('hooks', 'replay', '1', '--since', since)).stderr, 'There is no hook 1.')
  const replays = await ada.read(`/repos/ada/engine/hooks/${id}/replays`)
  assert.equal(replays.length, 1)
}))

test('an operator retries and discards failed jobs', inject(async (forge) => {
  const operator = operatorOf(forge)
  const { db } = forge.belfry
  const add = async () =>
    (
      await db.load<{ id: number }>(
        sql`select id::bigint from graphile_worker.add_job('erase_repository', '{}', max_attempts := 1)`,
      )
    ).id
  const ids = [await add(), await add(), await add()]
  await db.query(sql`update graphile_worker._private_jobs set attempts = 1, last_error = 'no such thing' where id = any(${ids})`)
  const listed = await operator.data('jobs', 'list')
  assert.deepEqual([listed.failed, listed.failed_jobs.length], [3, 3])
  assert.match(
    await operator.text('jobs', 'list'),
    /^0 waiting, 0 running, 3 failed\.\nID .*\n\d+ +erase_repository +1 .*no such thing/,
  )
  assert.deepEqual(await operator.data('jobs', 'retry', `${ids[0]}`), { ids: [ids[0]] })
  assert.equal((await operator.run('jobs', 'retry', `${ids[0]}`)).stderr, `There is no failed job ${ids[0]}.`)
  assert.equal((await operator.data('jobs', 'discard', '--all')).ids.length, 2)
  assert.partialDeepStrictEqual(await operator.data('jobs', 'list'), { waiting: 1, failed: 0 })
  assert.deepEqual(pick(await operator.data('audit', '--action', 'job'), 'action'), ['job.discard', 'job.discard', 'job.retry'])
}))
