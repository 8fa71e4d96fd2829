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

test('the audit log is paged by cursors, in both directions and orders', inject(async (forge) => {
  const { admin } = forge
  const logins = ['ada', 'ben', 'cleo', 'dan', 'eve']
  for (const login of logins) {
    await forge.person(login)
    await expect(204, await admin.put(`/users/${login}/suspended`))
  }
  const linkOf = (answer: Response, rel: string) =>
    new RegExp(`<([^>]+)>; rel="${rel}"`).exec(answer.headers.get('link') ?? '')?.[1]?.replace(/^.*(?=\/enterprises)/, '')
  const read = async (path: string) => {
    const answer = await admin.get(path)
    const users = pick((await expect(200, answer)) as never, 'user')
    return { users, next: linkOf(answer, 'next'), prev: linkOf(answer, 'prev') }
  }
  for (const [order, wanted] of [
    ['desc', logins.toReversed()],
    ['asc', logins],
  ] as const) {
    const first = await read(`${log}?phrase=action:user.suspend&per_page=2&order=${order}`)
    assert.deepEqual([first.users, first.prev], [wanted.slice(0, 2), undefined])
    const second = await read(first.next ?? '')
    const third = await read(second.next ?? '')
    assert.deepEqual([...second.users, ...third.users], wanted.slice(2))
    assert.equal(third.next, undefined)
    const back = await read(third.prev ?? '')
    assert.deepEqual(back.users, second.users)
    const start = await read(back.prev ?? '')
    assert.deepEqual([start.users, start.prev, start.next], [first.users, undefined, first.next])
  }
  for (const query of ['after=soon', 'before=1e9', 'after=1&before=2', 'after=9999999999999999'])
    await expect(400, await admin.get(`${log}?${query}`))
  assert.deepEqual((await read(`${log}?after=1`)).users, [])
  assert.match(await (await fetch(`${forge.web}/docs/audit-log`)).text(), /actor:LOGIN/)
}))
