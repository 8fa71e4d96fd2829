import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDocumented } from '#test/documented.ts'
import { expect, injecting, openForge, pick } from '#test/forge.ts'
import { operatorOf } from '#test/operator.ts'

const inject = injecting(openForge)
const log = '/enterprises/belfry/audit-log'

test('site admins read the audit log by the documented address, with acts of the command line', inject(async (forge) => {
  const { admin } = forge
  await forge.person('ada')
  const { id } = await admin.read('/user')
  await expect(204, await admin.put('/users/ada/suspended'))
  forge.clock.advance(2 * 86_400_000)
  await operatorOf(forge).text('users', 'unsuspend', 'ada')
  const [latest, first] = await admin.read(log)
  assert.partialDeepStrictEqual(latest, { action: 'user.unsuspend', user: 'ada', data: { subject: 'ada', via: 'command line' } })
  assert.equal('actor_id' in latest, false)
  assert.partialDeepStrictEqual(first, { action: 'user.suspend', actor: 'admin', actor_id: id, user: 'ada' })
  await assertDocumented(admin, 'self-hosted', [['enterprise-admin/get-audit-log', 'get', log]])
  const found = async (phrase: string) => pick(await admin.read(`${log}?phrase=${encodeURIComponent(phrase)}`), 'action')
  assert.deepEqual(await found('actor:ADMIN'), ['user.suspend'])
  assert.deepEqual(await found('action:user ada'), ['user.unsuspend', 'user.suspend'])
  assert.deepEqual(await found('action:user.s'), [])
  const day = forge.clock.now().toISOString().slice(0, 10)
  assert.deepEqual(await found(`created:>=${day}`), ['user.unsuspend'])
  assert.deepEqual(await found(`created:<${day}`), ['user.suspend'])
  assert.deepEqual(await found(`created:${day}`), ['user.unsuspend'])
  assert.deepEqual(await found(`created:2020-01-01..${day}`), ['user.suspend'])
  await expect(422, await admin.get(`${log}?phrase=created:soon`))
  assert.deepEqual(pick(await admin.read(`${log}?order=asc&per_page=1`), 'action'), ['user.suspend'])
  assert.deepEqual(await admin.read(`${log}?include=git`), [])
  await expect(404, await admin.get('/enterprises/other/audit-log'))
}))

test('the audit log exists for site admins only, and has what they do to organizations, tokens and jobs', inject(async (forge) => {
  const ada = await forge.person('ada')
  assert.equal((await ada.get(log)).status, 404)
  await forge.organization('acme', ada)
  await expect(202, await forge.admin.patch('/admin/organizations/acme', { login: 'apex' }))
  await forge.tokenFor('ada', ['repo'])
  await expect(204, await forge.admin.delete('/admin/users/ada/authorizations'))
  const entries = await forge.admin.read(log)
  assert.deepEqual(pick(entries, 'action'), ['user.end_impersonation', 'user.impersonate', 'org.rename', 'org.create'])
}))
