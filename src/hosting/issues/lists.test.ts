import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, fineGrained, join, openWithEngine } from '#test/conversations.ts'
import { expect, injecting, linesOf, openForge } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)

/** Four issues, a minute apart, each different. */
async function openWithFour() {
  const forge = await openWithEngine()
  const { ada, ben, dan, open, clock } = forge
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  await open({ title: 'a', labels: ['bug', 'Hot'] }, ada)
  clock.advance(60_000)
  await open({ title: 'b', assignees: ['ben', 'ada'], labels: ['bug'] }, ben)
  clock.advance(60_000)
  await open({ title: 'c' }, dan)
  clock.advance(60_000)
  await open({ title: 'd', milestone: 1, assignee: 'cy' }, ada)
  clock.advance(60_000)
  await expect(201, await dan.post(`${engine}/issues/1/comments`, { body: 'Hm' }))
  await expect(200, await ada.patch(`${engine}/issues/3`, { state: 'closed' }))
  const titles = async (query: string, who = forge.nobody) =>
    (await who.read(`${engine}/issues${query}`)).map(({ title }: { title: string }) => title).join('')
  return Object.assign(forge, { titles })
}

test('issues of a repository can be filtered and sorted in every documented way', async () => {
  await using forge = await openWithFour()
  const cases: [query: string, titles: string][] = [
    ['', 'dba'],
    ['?state=closed', 'c'],
    ['?state=all', 'dcba'],
    ['?state=nonsense', 'dba'],
    ['?state=all&direction=asc', 'abcd'],
    ['?sort=updated', 'adb'],
    ['?state=all&sort=updated&direction=asc', 'bdac'],
    ['?sort=comments', 'adb'],
    ['?sort=comments&direction=asc', 'bda'],
    ['?labels=bug', 'ba'],
    ['?labels=BUG,hot', 'a'],
    ['?labels=bug,cold', ''],
    ['?labels=,', 'dba'],
    ['?creator=DAN&state=all', 'c'],
    ['?creator=nobody', ''],
    ['?assignee=ben', 'b'],
    ['?assignee=none', 'a'],
    ['?assignee=*', 'db'],
    ['?milestone=1', 'd'],
    ['?milestone=2', ''],
    ['?milestone=none', 'ba'],
    ['?milestone=*', 'd'],
    ['?since=2026-02-03T04:08:00Z&direction=asc', 'ad'],
    ['?since=2026-02-03T05:00:00Z', ''],
    ['?since=yesterday', 'dba'],
    ['?since=2026-99-99', 'dba'],
    ['?per_page=2&page=2', 'a'],
    ['?labels=bug&assignee=ada&creator=ben', 'b'],
  ]
  for (const [query, titles] of cases) assert.equal(await forge.titles(query), titles, query)
  assert.equal((await forge.nobody.get(`${engine}/issues?milestone=one`)).status, 422)
  assert.match((await forge.nobody.get(`${engine}/issues?per_page=2`)).headers.get('link') ?? '', /page=2>; rel="last"/)
})

test('the caller’s issues are found in all visible repositories', async () => {
  await using forge = await openWithFour()
  const { ada, ben } = forge
  const titles = async (query = '', who = ben) =>
    (await who.read(`/issues${query}`)).map(({ title }: { title: string }) => title).join('')
  await ben.owns('own', { private: true })
  await expect(201, await ben.post('/repos/ben/own/issues', { title: 'z', labels: ['bug'] }))
  assert.equal(await titles(), 'b')
  assert.equal(await titles('?filter=created'), 'zb')
  assert.equal(await titles('?filter=all&direction=asc'), 'bz')
  assert.equal(await titles('?filter=all&labels=bug'), 'zb')
  assert.equal(await titles('?filter=created', await forge.tokenFor('ben', ['public_repo'])), 'b')
  assert.equal((await ben.read('/issues?filter=created'))[0].repository.full_name, 'ben/own')
  const places = async (flags: string) => {
    const issues: { repository: { full_name: string } }[] = await ben.read(`/issues?filter=all&state=all&${flags}`)
    return [...new Set(issues.map(({ repository }) => repository.full_name))].sort().join()
  }
  assert.equal(await places('owned=true'), 'ben/own')
  assert.equal(await places('collab=true'), 'ada/engine')
  assert.equal(await places('owned=true&collab=true&orgs=true'), 'ada/engine,ben/own')
  assert.equal(await places('orgs=true'), '')
  assert.equal(await places('pulls=true'), '')
  assert.equal((await forge.nobody.get('/issues')).status, 401)
  await expect(200, await ada.patch(engine, { private: true }))
  assert.equal(await titles(), 'b')
  await expect(204, await ada.delete(`${engine}/collaborators/ben`))
  assert.equal(await titles(), '')
})

test('issues with a mention or subscription are found too, also limited to some repositories', async () => {
  await using forge = await openForge({ worker: true })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans' }))
  await ada.owns('engine')
  await ben.owns('own')
  const titles = async (path: string) => (await ben.read(path)).map(({ title }: { title: string }) => title).join('')
  for (const [repo, fields] of [
    ['acme/plans', { title: 'a', body: '@ben' }],
    ['ada/engine', { title: 'b', body: 'Nobody' }],
    ['ben/own', { title: 'c', body: 'So, @ben' }],
  ] as const) {
    await expect(201, await ada.post(`/repos/${repo}/issues`, fields))
  }
  await expect(201, await ben.post('/repos/ada/engine/issues/1/comments', { body: 'I do' }))
  await told(forge)
  assert.equal(await titles('/issues?filter=mentioned&direction=asc'), 'ac')
  assert.equal(await titles('/issues?filter=subscribed&direction=asc'), 'abc')
  assert.equal(await titles('/user/issues?filter=all'), 'c')
  assert.equal(await titles('/orgs/acme/issues?filter=all'), 'a')
  assert.equal(await titles('/orgs/acme/issues'), '')
  assert.equal((await ben.get('/orgs/nobody/issues')).status, 404)
  const { rest } = new Octokit({ auth: ben.token, baseUrl: `${forge.web}/api/v3` })
  assert.equal((await rest.issues.listForOrg({ org: 'acme', filter: 'mentioned' })).data[0]?.repository?.full_name, 'acme/plans')
  assert.equal((await rest.issues.listForAuthenticatedUser({ filter: 'mentioned' })).data.length, 1)
})

test('assignable users are listed for users who may assign', inject(async ({ ada, cy, dan, nobody, open, organization }) => {
  const logins = async (who = nobody) => (await who.read(`${engine}/assignees`)).map(({ login }: { login: string }) => login)
  assert.deepEqual(await logins(cy), ['ada', 'ben', 'cy'])
  assert.deepEqual(await logins(), ['ada'])
  for (const [who, login, status] of [
    [ada, 'BEN', 204],
    [ada, 'dan', 404],
    [ada, 'nobody', 404],
    [dan, 'ben', 404],
    [nobody, 'ada', 204],
  ] as const) {
    assert.equal((await who.get(`${engine}/assignees/${login}`)).status, status, login)
  }
  await open()
  for (const [path, status] of Object.entries({ '1/assignees/ben': 204, '1/assignees/dan': 404, '2/assignees/ben': 404 })) {
    assert.equal((await ada.get(`${engine}/issues/${path}`)).status, status, path)
  }
  await organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/dan'))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans' }))
  assert.deepEqual(await nobody.read('/repos/acme/plans/assignees'), [], 'nobody says in public that they are a member')
  assert.equal((await ada.get('/repos/acme/plans/assignees/dan')).status, 204)
  assert.equal((await ada.get('/repos/acme/plans/assignees/acme')).status, 404)
}))

test('assignees are added and removed, ten at most, and each change is published once', inject(async ({ forge, ada, ben }) => {
  await forge.open()
  const path = `${engine}/issues/1/assignees`
  const both = await expect(201, await ada.post(path, { assignees: ['Ben', 'ben', 'dan', 'cy'] }))
  assert.deepEqual(both.assignees.map(({ login }: { login: string }) => login).sort(), ['ben', 'cy'])
  await Promise.all(Array.from({ length: 6 }, () => ben.post(path, { assignees: ['ada'] })))
  const left = await expect(200, await ada.delete(path, { assignees: ['CY', 'dan'] }))
  assert.equal(left.assignees.length, 2)
  const { assignees } = await ada.read(`${engine}/issues/1`)
  assert.equal(assignees.length, 2)
  const { rows } = await forge.belfry.db.pool.query(`
    select a.login, payload->>'action' as action, p.login as who from events e join accounts a on a.id = actor_id
      join accounts p on p.id = (payload->>'assignee_id')::bigint order by e.id`)
  assert.deepEqual(linesOf(rows, 'login', 'action', 'who'), [
    'ada assigned ben',
    'ada assigned cy',
    'ben assigned ada',
    'ada unassigned cy',
  ])
  for (let n = 0; n < 9; n++) {
    const person = await forge.person(`p${n}`)
    await join(ada, person, 'push')
  }
  const nine = Array.from({ length: 9 }, (_, n) => `p${n}`)
  assert.equal((await ada.post(path, { assignees: nine })).status, 422)
  await expect(201, await ada.post(path, { assignees: nine.slice(1) }))
  for (const body of [{}, { assignees: 'ada' }, { assignees: [7] }]) assert.equal((await ada.post(path, body)).status, 422)
}))

test('a fine-grained token comments only in its repositories and with its permissions', inject(async (forge) => {
  await forge.open()
  const [all, reads, other] = [
    await fineGrained(forge, 'ada', { issues: 'write' }),
    await fineGrained(forge, 'ada', { issues: 'read', metadata: 'read' }),
    await fineGrained(forge, 'dan', { issues: 'write' }),
  ]
  await expect(201, await all.post(`${engine}/issues`, { title: 'x', labels: ['bug'] }))
  for (const who of [reads, other]) {
    assert.equal((await who.post(`${engine}/issues`, { title: 'x' })).status, 403)
    assert.equal((await who.post(`${engine}/issues/1/comments`, { body: 'x' })).status, 403)
    assert.equal((await who.patch(`${engine}/issues/1`, { title: 'x' })).status, 403)
    await who.read(`${engine}/issues/1`)
  }
  await expect(200, await forge.ada.patch(engine, { private: true }))
  await reads.read(`${engine}/issues/1`)
  assert.equal((await (await fineGrained(forge, 'ada', { metadata: 'read' })).get(`${engine}/issues/1`)).status, 403)
  assert.equal((await other.get(`${engine}/issues/1`)).status, 404)
}))
