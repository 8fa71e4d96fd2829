import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asInstallation, openInstalled } from '#test/apps.ts'
import { expect, injecting, pick } from '#test/forge.ts'
import { Desk } from '#test/git.ts'

const open = (more?: Record<string, unknown>, selected?: string[]) => injecting(() => openInstalled(more, selected))

test(
  'git clones and pushes with a token of an installation, as far as it may',
  open({ default_permissions: { contents: 'write' } }, ['engine'])(async ({ forge, app, installation, ada }) => {
    await using desk = await Desk.open(forge)
    const access = async (narrowed?: Record<string, unknown>) => {
      const { token } = await asInstallation(forge, app, installation, narrowed)
      return { login: 'x-access-token', token }
    }
    const work = await desk.clone(await access(), 'acme/engine')
    await work.commit('Beep', { 'beep.txt': 'beep\n' })
    await work.push('main')
    const events = await ada.read('/repos/acme/engine/events')
    assert.deepEqual([events[0].type, events[0].actor.login], ['PushEvent', 'octo-helper[bot]'])
    const reading = await desk.clone(await access({ permissions: { contents: 'read' } }), 'acme/engine')
    await reading.commit('Boop', { 'boop.txt': 'boop\n' })
    await assert.rejects(reading.push('main'), /403/)
    await assert.rejects(
      access({ permissions: {} }).then((caller) => desk.clone(caller, 'acme/engine')),
      /403/,
    )
    await assert.rejects(
      access().then((caller) => desk.clone(caller, 'acme/secret')),
      /not found/,
    )
    const open = await desk.clone(await access(), 'acme/site')
    await open.commit('Beep', { 'beep.txt': 'beep\n' })
    await assert.rejects(open.push('main'), /403/)
  }),
)

test(
  'an app proposes a change and merges it, and is the author of each step',
  open({ default_permissions: { contents: 'write', pull_requests: 'write', issues: 'read' } }, ['engine'])(
    async ({ forge, app, installation, ada }) => {
      const bot = await asInstallation(forge, app, installation)
      const repo = '/repos/acme/engine'
      const { object } = await bot.read(`${repo}/git/ref/heads/main`)
      await expect(201, await bot.post(`${repo}/git/refs`, { ref: 'refs/heads/bump', sha: object.sha }))
      const file = { message: 'Bump', content: 'YQ==', branch: 'bump' }
      const { commit } = await expect(201, await bot.put(`${repo}/contents/a.txt`, file))
      assert.equal(commit.author.name, 'octo-helper[bot]')
      const { number, user } = await expect(201, await bot.post(`${repo}/pulls`, { title: 'Bump', head: 'bump', base: 'main' }))
      assert.equal(user.login, 'octo-helper[bot]')
      await expect(200, await bot.post(`${repo}/pulls/${number}/reviews`, { event: 'COMMENT', body: 'Hm' }))
      await expect(200, await bot.put(`${repo}/pulls/${number}/merge`))
      const pull = await ada.read(`${repo}/pulls/${number}`)
      assert.deepEqual([pull.merged, pull.merged_by.login], [true, 'octo-helper[bot]'])
      const narrowed = await asInstallation(forge, app, installation, { permissions: { pull_requests: 'write' } })
      assert.equal((await narrowed.put(`${repo}/pulls/${number}/merge`)).status, 403, 'merging writes contents')
      assert.equal((await narrowed.get(`${repo}/collaborators/ada/permission`)).status, 200)
    },
  ),
)

test(
  'in an organization, an app reads what its permission says, and changes nothing',
  open({ default_permissions: { members: 'write' } }, ['engine'])(async ({ forge, app, installation, ada, ben }) => {
    await expect(201, await ada.post('/orgs/acme/teams', { name: 'crew', privacy: 'closed' }))
    await expect(201, await ada.post('/orgs/acme/teams', { name: 'hidden', privacy: 'secret' }))
    const members = await asInstallation(forge, app, installation)
    assert.deepEqual(pick(await members.read('/orgs/acme/members'), 'login'), ['ada'])
    assert.deepEqual(pick(await members.read('/orgs/acme/teams'), 'slug'), ['crew'])
    assert.equal((await members.post('/orgs/acme/teams', { name: 'ours' })).status, 404)
    assert.equal((await members.put('/orgs/acme/memberships/ben', { role: 'admin' })).status, 404)
    const none = await asInstallation(forge, app, installation, { permissions: {} })
    assert.deepEqual(await none.read('/orgs/acme/members'), [], 'ada is no public member')
    assert.equal((await none.get('/orgs/acme/teams')).status, 403)
    await forge.organization('globe', ben)
    assert.deepEqual(await members.read('/orgs/globe/members'), [])
    assert.equal((await members.get('/orgs/globe/teams')).status, 403)
  }),
)
