import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { asApp, asInstallation, openInstalled } from '#test/apps.ts'
import { fineGrained } from '#test/conversations.ts'
import { type Client, expect, type Forge, openForge, type Person } from '#test/forge.ts'

/** The response is kept before access ends, also by its ETag. Afterwards it must be gone at once. */
async function losesAccess(what: string, client: Client, paths: string[], end: () => Promise<unknown>) {
  const etags = new Map<string, string>()
  for (const path of paths) {
    for (const _ of [1, 2]) {
      const answer = await client.get(path)
      assert.match(await answer.text(), /"acme\/secret"/, `${what}: ${path} shows the repository before`)
      etags.set(path, answer.headers.get('etag') ?? '')
    }
  }
  await end()
  for (const path of paths) {
    for (const headers of [{}, { 'if-none-match': etags.get(path) ?? '' }]) {
      const answer = await client.with(headers as Record<string, string>).get(path)
      assert.notEqual(answer.status, 304, `${what}: ${path} is not what it was`)
      assert.doesNotMatch(await answer.text(), /acme\/secret/, `${what}: ${path} shows nothing of the repository`)
    }
  }
}

const secret = '/repos/acme/secret'

async function openAcme() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'secret', private: true }))
  return Object.assign(forge, { ada, ben })
}

const timelinesOf = ({ login }: Person) => [`${secret}/events`, `/users/${login}/received_events`]

const ways: Record<string, (forge: Forge & { ada: Person; ben: Person }) => Promise<() => Promise<unknown>>> = {
  'a collaborator is removed': async ({ ada, ben }) => {
    await expect(201, await ada.put(`${secret}/collaborators/ben`, { permission: 'pull' }))
    const [invitation] = await ben.read('/user/repository_invitations')
    await expect(204, await ben.patch(`/user/repository_invitations/${invitation.id}`))
    return async () => expect(204, await ada.delete(`${secret}/collaborators/ben`))
  },
  'a member leaves the team': async ({ ada, ben }) => {
    await joinTeam(ada, ben)
    return async () => expect(204, await ada.delete('/orgs/acme/teams/crew/memberships/ben'))
  },
  'the team loses the repository': async ({ ada, ben }) => {
    await joinTeam(ada, ben)
    return async () => expect(204, await ada.delete('/orgs/acme/teams/crew/repos/acme/secret'))
  },
  'the team is deleted': async ({ ada, ben }) => {
    await joinTeam(ada, ben)
    return async () => expect(204, await ada.delete('/orgs/acme/teams/crew'))
  },
  'members get no permission any more': async ({ ada, ben }) => {
    await invite(ada, ben)
    return async () => expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  },
  'a member leaves the organization': async ({ ada, ben }) => {
    await invite(ada, ben)
    return async () => expect(204, await ada.delete('/orgs/acme/members/ben'))
  },
  'a public repository becomes private': async ({ ada }) => {
    await expect(200, await ada.patch(secret, { private: false }))
    return async () => expect(200, await ada.patch(secret, { private: true }))
  },
}

async function invite(ada: Person, ben: Person) {
  await expect(200, await ada.put(`/orgs/acme/memberships/${ben.login}`, {}))
}

/** The team is the only way to the repository. */
async function joinTeam(ada: Person, ben: Person) {
  await invite(ada, ben)
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'crew', privacy: 'closed' }))
  await expect(204, await ada.put('/orgs/acme/teams/crew/repos/acme/secret', { permission: 'pull' }))
  await expect(200, await ada.put('/orgs/acme/teams/crew/memberships/ben', {}))
}

for (const [what, prepare] of Object.entries(ways)) {
  test(`a kept timeline is not shown any more when ${what}`, async () => {
    await using forge = await openAcme()
    const end = await prepare(forge)
    await expect(200, await forge.ben.put(`${secret}/subscription`, { subscribed: true }))
    await expect(201, await forge.ada.post(`${secret}/issues`, { title: 'Smoke' }))
    await losesAccess(what, forge.ben, timelinesOf(forge.ben), end)
  })
}

test('a kept timeline is not shown any more to an installation that lost the repository', async () => {
  const permissions = { default_permissions: { metadata: 'read', contents: 'read' } }
  for (const what of ['removed', 'suspended', 'uninstalled'] as const) {
    await using forge = await openInstalled(permissions, ['secret', 'engine'])
    const { ada, app, installation, repos } = forge
    const client = await asInstallation(forge, app, installation)
    await losesAccess(what, client, [`${secret}/events`], async () => {
      const path = `/user/installations/${installation.id}`
      if (what === 'removed') await expect(204, await ada.delete(`${path}/repositories/${repos.secret?.id}`))
      if (what === 'suspended') await expect(204, await asApp(forge, app).put(`/app/installations/${installation.id}/suspended`))
      if (what === 'uninstalled') await expect(204, await asApp(forge, app).delete(`/app/installations/${installation.id}`))
    })
  }
})

test('a kept timeline is not shown any more to a fine-grained token that lost a permission', async () => {
  await using forge = await openAcme()
  const { db } = forge.belfry
  for (const [permissions, end] of [
    [{ metadata: 'read' }, sql`permissions = '{}'`],
    [{ metadata: 'read', contents: 'read' }, sql`all_repositories = false`],
  ] as const) {
    const client = await fineGrained(forge, 'ada', permissions, 'acme')
    await losesAccess('fine-grained', client, [`${secret}/events`], () =>
      db.transaction((transaction) => transaction.query(sql`update tokens set ${end} where kind = 'fine_grained'`)),
    )
  }
})

test('a timeline that is made while a token loses a scope is not kept', async () => {
  await using forge = await openAcme()
  const { db } = forge.belfry
  const client = await forge.tokenFor('ada', ['repo'])
  await expect(200, await client.get('/user'))
  // Not reported to this process, as a commit of another node whose notification is late.
  await db.query(sql`update tokens set scopes = '{}' where scopes = '{repo}'`)
  await client.get(`${secret}/events`)
  await client.get('/users/ada/events')
  db.notifyTransactionEnd('committed elsewhere')
  for (const path of [`${secret}/events`, '/users/ada/events'])
    assert.doesNotMatch(await (await client.get(path)).text(), /acme\/secret/)
})
