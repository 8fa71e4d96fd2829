import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { join as invite } from '#test/conversations.ts'
import { expect, injecting, linesOf, openForge, type Person } from '#test/forge.ts'
import { handOver } from '#test/transfers.ts'

const inject = injecting(openAcme)
const logins = (people: { login: string }[]) => people.map((person) => person.login)
const done = async (answer: Response) =>
  assert.ok(answer.status < 300, `${answer.url} gave ${answer.status}: ${await answer.text()}`)

/** Ada's organization acme with a private repository, which only she watches, and Ben and Cy outside. */
async function openAcme() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await forge.organization('acme', ada)
  await done(await ada.post('/orgs/acme/repos', { name: 'engine', private: true }))
  /** The watchers, as the rows and the count agree on. */
  const watchers = async (repo = 'acme/engine') => {
    const { id, subscribers_count } = await ada.read(`/repos/${repo}`)
    const rows = await forge.belfry.db.rows<{ login: string }>(sql`
      select login from subscriptions join accounts on id = user_id where repo_id = ${id} and not ignored order by login`)
    assert.equal(subscribers_count, rows.length)
    return logins(rows)
  }
  const accept = (who: Person, repo: string, permission: string) => invite(ada, who, permission, `/repos/${repo}`)
  const join = async (who: Person, role = 'member') => done(await ada.put(`/orgs/acme/memberships/${who.login}`, { role }))
  const everyones = async (permission: string) =>
    done(await ada.patch('/orgs/acme', { default_repository_permission: permission }))
  const team = async (permission: string, ...members: Person[]) => {
    await done(await ada.post('/orgs/acme/teams', { name: 'smiths' }))
    await done(await ada.put('/orgs/acme/teams/smiths/repos/acme/engine', { permission }))
    for (const { login } of members) await done(await ada.put(`/orgs/acme/teams/smiths/memberships/${login}`))
  }
  return Object.assign(forge, { ada, ben, cy, watchers, accept, join, everyones, team })
}

test('accepting an invitation with push access starts watching; with read access it does not', inject(async (forge) => {
  await forge.accept(forge.ben, 'acme/engine', 'push')
  await forge.accept(forge.cy, 'acme/engine', 'triage')
  assert.deepEqual(await forge.watchers(), ['ada', 'ben'])
  await done(await forge.ada.put('/repos/acme/engine/collaborators/cy', { permission: 'maintain' }))
  assert.deepEqual(await forge.watchers(), ['ada', 'ben', 'cy'], 'a raised level is a gain')
}))

test('a higher level than push does not start watching again', inject(async ({ accept, ben, ada, watchers }) => {
  await accept(ben, 'acme/engine', 'push')
  await done(await ben.delete('/repos/acme/engine/subscription'))
  await done(await ada.put('/repos/acme/engine/collaborators/ben', { permission: 'admin' }))
  assert.deepEqual(await watchers(), ['ada'])
}))

test('a user who ignores a repository keeps ignoring it after gaining push access', inject(async (forge) => {
  await forge.accept(forge.ben, 'acme/engine', 'pull')
  await expect(200, await forge.ben.put('/repos/acme/engine/subscription', { ignored: true }))
  await done(await forge.ada.put('/repos/acme/engine/collaborators/ben', { permission: 'push' }))
  assert.deepEqual(await forge.watchers(), ['ada'])
  assert.equal((await forge.ben.read('/repos/acme/engine/subscription')).ignored, true)
}))

test('a member who is added without an invitation watches', inject(async ({ join, ben, watchers, ada }) => {
  await join(ben)
  assert.deepEqual(await watchers(), ['ada'])
  await done(await ada.put('/repos/acme/engine/collaborators/ben', { permission: 'push' }))
  assert.deepEqual(await watchers(), ['ada', 'ben'])
}))

test('joining a team with push access starts watching; leaving it stops, unless other access remains', inject(async (forge) => {
  const { ada, ben, cy } = forge
  await forge.everyones('none')
  await forge.team('push', ben, cy)
  assert.deepEqual(await forge.watchers(), ['ada', 'ben', 'cy'])
  await done(await ada.put('/repos/acme/engine/collaborators/cy', { permission: 'pull' }))
  for (const { login } of [ben, cy]) await done(await ada.delete(`/orgs/acme/teams/smiths/memberships/${login}`))
  assert.deepEqual(await forge.watchers(), ['ada', 'cy'])
}))

test('a team that gains push access makes its members watch', inject(async ({ team, ben, cy, watchers, ada }) => {
  await team('pull', ben, cy)
  assert.deepEqual(await watchers(), ['ada'])
  await done(await ada.put('/orgs/acme/teams/smiths/repos/acme/engine', { permission: 'push' }))
  assert.deepEqual(await watchers(), ['ada', 'ben', 'cy'])
}))

test('members stop watching when their team loses access or is deleted', inject(async ({ forge, ada, ben, cy }) => {
  await forge.everyones('none')
  for (const end of ['/orgs/acme/teams/smiths/repos/acme/engine', '/orgs/acme/teams/smiths']) {
    if (!(await ada.read('/orgs/acme/teams')).length) await forge.team('push', ben, cy)
    else await done(await ada.put('/orgs/acme/teams/smiths/repos/acme/engine', { permission: 'push' }))
    assert.deepEqual(await forge.watchers(), ['ada', 'ben', 'cy'])
    await done(await ada.delete(end))
    assert.deepEqual(await forge.watchers(), ['ada'], end)
  }
}))

test('joining an organization whose members may push starts watching its repositories', inject(async (forge) => {
  await done(await forge.ada.post('/orgs/acme/repos', { name: 'clock' }))
  await forge.everyones('write')
  await forge.join(forge.ben)
  assert.deepEqual(await forge.watchers(), ['ada', 'ben'])
  assert.deepEqual(await forge.watchers('acme/clock'), ['ada', 'ben'])
}))

test('a new owner watches; a former owner without access stops', inject(async ({ everyones, join, ben, watchers }) => {
  await everyones('none')
  await join(ben)
  assert.deepEqual(await watchers(), ['ada'])
  await join(ben, 'admin')
  assert.deepEqual(await watchers(), ['ada', 'ben'])
  await join(ben, 'member')
  assert.deepEqual(await watchers(), ['ada'])
}))

test('the access of all members decides who watches', inject(async ({ join, ben, everyones, watchers }) => {
  await join(ben)
  await everyones('write')
  assert.deepEqual(await watchers(), ['ada', 'ben'])
  await done(await ben.delete('/repos/acme/engine/subscription'))
  await everyones('admin')
  assert.deepEqual(await watchers(), ['ada'])
  await expect(200, await ben.put('/repos/acme/engine/subscription', {}))
  await everyones('read')
  assert.deepEqual(await watchers(), ['ada', 'ben'], 'who still sees it goes on')
  await everyones('none')
  assert.deepEqual(await watchers(), ['ada'])
}))

test('a former member stops watching private repositories', inject(async ({ ada, ben, cy, everyones, join, watchers }) => {
  await done(await ada.post('/orgs/acme/repos', { name: 'clock' }))
  await everyones('write')
  for (const who of [ben, cy]) await join(who)
  await done(await ben.delete('/orgs/acme/memberships/ben'))
  await done(await ada.delete('/orgs/acme/members/cy'))
  assert.deepEqual(await watchers(), ['ada'])
  assert.deepEqual(await watchers('acme/clock'), ['ada', 'ben', 'cy'], 'what everyone sees is watched on')
  assert.deepEqual(linesOf(await ben.read('/user/subscriptions'), 'full_name'), ['acme/clock'])
}))

test('a removed collaborator stops watching', inject(async ({ ben, cy, accept, ada, watchers }) => {
  for (const who of [ben, cy]) await accept(who, 'acme/engine', 'push')
  await done(await ada.delete('/repos/acme/engine/collaborators/ben'))
  await done(await cy.delete('/repos/acme/engine/collaborators/cy'))
  assert.deepEqual(await watchers(), ['ada'])
}))

test('users without access stop watching a repository that becomes private', inject(async ({ forge, ada, ben, cy }) => {
  await ada.owns('mill')
  await forge.accept(cy, 'ada/mill', 'pull')
  for (const who of [ben, cy]) await expect(200, await who.put('/repos/ada/mill/subscription', {}))
  await expect(200, await ada.patch('/repos/ada/mill', { description: 'Grinds' }))
  assert.deepEqual(await forge.watchers('ada/mill'), ['ada', 'ben', 'cy'])
  await expect(200, await ada.patch('/repos/ada/mill', { visibility: 'private' }))
  assert.deepEqual(await forge.watchers('ada/mill'), ['ada', 'cy'])
  await expect(200, await ada.patch('/repos/ada/mill', { private: false }))
  assert.deepEqual(await forge.watchers('ada/mill'), ['ada', 'cy'])
}))

test('the receiver of a transfer watches; the former owner keeps watching with push access', inject(async (forge) => {
  for (const [name, keep_former_owner, watchers] of [
    ['mill', true, ['ada', 'ben']],
    ['barn', false, ['ben']],
  ] as const) {
    await forge.ada.owns(name, { private: true })
    await handOver(forge.ada, `/repos/ada/${name}`, forge.ben, { keep_former_owner })
    const subscribers: { login: string }[] = await forge.ben.read(`/repos/ben/${name}/subscribers`)
    assert.deepEqual(subscribers.map(({ login }) => login).toSorted(), watchers)
  }
}))

test('a repository that leaves its organization loses the watchers that had access through it', inject(async (forge) => {
  const { ada, ben, cy } = forge
  await forge.everyones('none')
  await forge.team('push', ben)
  await forge.accept(cy, 'acme/engine', 'push')
  assert.deepEqual(await forge.watchers(), ['ada', 'ben', 'cy'])
  await expect(202, await ada.post('/repos/acme/engine/transfer', { new_owner: 'ada' }))
  assert.deepEqual(await forge.watchers('ada/engine'), ['ada', 'cy'])
}))

test('removing two sources of access concurrently ends watching', inject(async ({ ada, ben, everyones, team, watchers }) => {
  await everyones('none')
  await team('push', ben)
  for (let round = 0; round < 5; round++) {
    await done(await ada.put('/orgs/acme/teams/smiths/memberships/ben'))
    await done(await ada.put('/repos/acme/engine/collaborators/ben', { permission: 'push' }))
    assert.deepEqual(await watchers(), ['ada', 'ben'])
    const ends = ['/orgs/acme/teams/smiths/memberships/ben', '/repos/acme/engine/collaborators/ben']
    for (const answer of await Promise.all(ends.map((path) => ada.delete(path)))) await done(answer)
    assert.deepEqual(await watchers(), ['ada'])
  }
}))

test('a user who is removed concurrently does not start watching', inject(async ({ ada, ben, cy, watchers }) => {
  await ada.owns('mill')
  for (let round = 0; round < 5; round++) {
    const wishes = [ben, cy].flatMap((who) => [0, 1, 2].map(() => who.put('/repos/ada/mill/subscription', {})))
    const [hidden, ...answers] = await Promise.all([ada.patch('/repos/ada/mill', { private: true }), ...wishes])
    await done(hidden)
    for (const { status } of answers) assert.ok(status === 200 || status === 404, String(status))
    assert.deepEqual(await watchers('ada/mill'), ['ada'])
    await done(await ada.patch('/repos/ada/mill', { private: false }))
  }
}))

test('access and watching agree after many concurrent changes of an organization', inject(async ({ forge, ada, ben, cy }) => {
  await forge.team('push', ben)
  const acts: (() => Promise<Response>)[] = [ben, cy].flatMap(({ login }) => [
    () => ada.put(`/orgs/acme/memberships/${login}`, { role: 'member' }),
    () => ada.delete(`/orgs/acme/members/${login}`),
    () => ada.put(`/orgs/acme/teams/smiths/memberships/${login}`),
    () => ada.delete(`/orgs/acme/teams/smiths/memberships/${login}`),
    () => ada.put(`/repos/acme/engine/collaborators/${login}`, { permission: 'push' }),
    () => ada.delete(`/repos/acme/engine/collaborators/${login}`),
  ])
  acts.push(
    () => ada.patch('/orgs/acme', { default_repository_permission: 'none' }),
    () => ada.patch('/orgs/acme', { default_repository_permission: 'write' }),
    () => ben.put('/repos/acme/engine/subscription', {}),
  )
  for (let round = 0; round < 4; round++) {
    for (const { status } of await Promise.all(acts.map((act) => act()))) assert.ok(status < 500, String(status))
    const watching = await forge.watchers()
    for (const { login } of [ben, cy]) {
      const { permission } = await ada.read(`/repos/acme/engine/collaborators/${login}/permission`)
      if (permission === 'none') assert.ok(!watching.includes(login), `${login} watches what they cannot see`)
      if (permission === 'write') assert.ok(watching.includes(login), `${login} pushes and does not watch`)
    }
  }
}))
