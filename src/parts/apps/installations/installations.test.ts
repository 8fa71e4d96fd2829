import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract } from '#test/activity/schemas.ts'
import { asApp, asInstallation, openInstalled, registerApp } from '#test/apps.ts'
import { expect, injecting, pick } from '#test/forge.ts'

const open = (more?: Record<string, unknown>, selected?: string[]) => injecting(() => openInstalled(more, selected))

test(
  'answers about installations match the public documentation',
  open({}, ['engine'])(async ({ forge, app, installation, repos, ...people }) => {
    const accept = { accept: 'application/vnd.github+json' }
    const [caller, ada] = [asApp(forge, app).with(accept), people.ada.with(accept)]
    const bot = (await asInstallation(forge, app, installation)).with(accept)
    const narrowed = { repositories: ['engine'], permissions: { issues: 'read' } }
    const token = await expect(201, await caller.post(`/app/installations/${installation.id}/access_tokens`, narrowed))
    for (const variant of ['self-hosted', 'versioned'] as const) {
      const contract = Contract.of(variant)
      const check = (operation: string, status: number, body: unknown) => {
        const faults = contract.check(operation, status, 'application/json', body)
        // In this list, the self-hosted documentation requires an account to be a user and an enterprise at the same time.
        const real = faults.filter(({ path }) => operation !== 'apps/list-installations' || !path.startsWith('/*/account'))
        assert.deepEqual(real, [], operation)
      }
      check('apps/create-installation-access-token', 201, token)
      check('apps/list-installations', 200, await caller.read('/app/installations'))
      check('apps/get-installation', 200, await caller.read(`/app/installations/${installation.id}`))
      check('apps/get-repo-installation', 200, await caller.read('/repos/acme/engine/installation'))
      check('apps/get-org-installation', 200, await caller.read('/orgs/acme/installation'))
      check('apps/get-user-installation', 200, await caller.read('/users/acme/installation'))
      check('apps/list-repos-accessible-to-installation', 200, await bot.read('/installation/repositories'))
      check('apps/list-installations-for-authenticated-user', 200, await ada.read('/user/installations'))
      const path = `/user/installations/${installation.id}/repositories`
      check('apps/list-installation-repos-for-authenticated-user', 200, await ada.read(path))
      check('orgs/list-app-installations', 200, await ada.read('/orgs/acme/installations'))
    }
    assert.equal((await caller.read(`/repositories/${repos.engine?.id}/installation`)).id, installation.id)
    for (const path of [
      '/repos/acme/secret/installation',
      '/repos/acme/nothing/installation',
      '/users/ada/installation',
      '/orgs/ada/installation',
    ])
      assert.equal((await caller.get(path)).status, 404, path)
    assert.deepEqual(
      [token.repository_selection, token.permissions, pick(token.repositories, 'name')],
      ['selected', { issues: 'read', metadata: 'read' }, ['engine']],
    )
  }),
)

test(
  'the bot comments in its repositories, and sees and writes nothing elsewhere',
  open({}, ['engine'])(async ({ forge, app, installation, ada, nobody }) => {
    const bot = await asInstallation(forge, app, installation)
    const comment = await expect(201, await bot.post('/repos/acme/engine/issues/1/comments', { body: 'Beep' }))
    assert.deepEqual([comment.user.login, comment.user.type], ['octo-helper[bot]', 'Bot'])
    await expect(200, await bot.patch('/repos/acme/engine/issues/1', { labels: ['hot'], state: 'closed' }))
    await expect(201, await bot.post('/repos/acme/engine/labels', { name: 'cold' }))
    const timeline = await ada.read('/repos/acme/engine/issues/1/timeline')
    assert.deepEqual(pick(timeline, 'event'), ['commented', 'labeled', 'closed'])
    assert.ok(timeline.every(({ actor }: { actor: { login: string } }) => actor.login === 'octo-helper[bot]'))
    assert.deepEqual(pick((await bot.read('/installation/repositories')).repositories, 'name'), ['engine'])

    for (const path of [
      '/repos/acme/secret',
      '/repos/acme/secret/issues',
      '/repos/acme/secret/issues/1',
      '/repos/acme/secret/installation',
    ])
      assert.equal((await bot.get(path)).status, path.endsWith('installation') ? 401 : 404, path)
    assert.equal((await bot.post('/repos/acme/secret/issues/1/comments', { body: 'Beep' })).status, 404)
    assert.deepEqual(pick(await bot.read('/orgs/acme/repos'), 'name').toSorted(), ['engine', 'site'])
    assert.equal((await bot.get('/repos/acme/site/issues/1')).status, 200, 'public for everyone')
    for (const [path, body] of [
      ['issues/1/comments', { body: 'Beep' }],
      ['issues', { title: 'Beep' }],
      ['labels', { name: 'beep' }],
    ] as const)
      assert.equal((await bot.post(`/repos/acme/site/${path}`, body)).status, 403, path)
    assert.equal((await bot.patch('/repos/acme/site/issues/1', { title: 'Beep' })).status, 403)

    const forbidden = [
      ['GET', '/repos/acme/engine/contents/README.md'],
      ['GET', '/repos/acme/engine/pulls'],
      ['PUT', '/repos/acme/engine/contents/a.txt'],
      ['POST', '/repos/acme/engine/git/refs'],
      ['PATCH', '/repos/acme/engine'],
      ['DELETE', '/repos/acme/engine'],
      ['GET', '/repos/acme/engine/hooks'],
      ['GET', '/repos/acme/engine/keys'],
      ['GET', '/user'],
      ['GET', '/user/repos'],
      ['POST', '/user/repos'],
      ['POST', '/orgs/acme/repos'],
      ['GET', '/user/installations'],
      ['GET', '/notifications'],
      ['PUT', '/user/starred/acme/engine'],
      ['GET', '/orgs/acme/hooks'],
      ['GET', '/orgs/acme/installations'],
      ['POST', '/user/apps'],
    ] as const
    const { base, headers } = bot
    for (const [method, path] of forbidden) {
      const body =
        method === 'GET'
          ? null
          : JSON.stringify({
              name: 'x',
              url: 'https://x.example',
              message: 'x',
              content: '',
              ref: 'refs/heads/x',
              sha: '0'.repeat(40),
            })
      const { message } = await expect(403, await fetch(`${base}${path}`, { method, headers, body }))
      assert.match(message, /not accessible by|scope/)
    }
    assert.equal((await nobody.get('/repos/acme/engine')).status, 404)
    assert.equal((await ada.read('/repos/acme/engine')).permissions.admin, true)
  }),
)

test(
  'a token is narrowed to repositories and permissions, lasts an hour and can be revoked',
  open({ default_permissions: { issues: 'write', contents: 'read' } })(async ({ forge, app, installation, clock }) => {
    const everything = await asInstallation(forge, app, installation)
    assert.equal((await everything.get('/repos/acme/secret/contents/README.md')).status, 200)
    assert.equal((await everything.put('/repos/acme/secret/contents/a.txt', { message: 'x', content: '' })).status, 403)
    const narrowed = await asInstallation(forge, app, installation, { repositories: ['engine'], permissions: { issues: 'read' } })
    assert.equal((await narrowed.get('/repos/acme/engine/issues/1')).status, 200)
    assert.equal((await narrowed.get('/repos/acme/engine/contents/README.md')).status, 403)
    assert.equal((await narrowed.post('/repos/acme/engine/issues/1/comments', { body: 'x' })).status, 403)
    assert.equal((await narrowed.get('/repos/acme/secret')).status, 404)
    assert.deepEqual(pick((await narrowed.read('/installation/repositories')).repositories, 'name'), ['engine'])

    const path = `/app/installations/${installation.id}/access_tokens`
    for (const [body, field] of [
      [{ permissions: { contents: 'write' } }, 'permissions'],
      [{ permissions: { pull_requests: 'read' } }, 'permissions'],
      [{ permissions: { issues: 'everything' } }, 'permissions'],
      [{ repositories: ['nothing'] }, 'repositories'],
      [{ repositories: [] }, 'repositories'],
      [{ repository_ids: [1, 999999] }, 'repositories'],
    ] as const) {
      const { errors } = await expect(422, await asApp(forge, app).post(path, body))
      assert.equal(errors[0].field, field)
    }
    assert.equal((await everything.delete('/installation/token')).status, 204)
    assert.equal((await everything.get('/repos/acme/engine')).status, 401)
    clock.advance(3600_001)
    assert.equal((await narrowed.get('/repos/acme/engine')).status, 401)
    assert.equal((await narrowed.get('/installation/repositories')).status, 401)
  }),
)

test(
  'tokens end with their installation: removed repositories, suspension, uninstalling, a transfer',
  open({}, ['engine', 'secret'])(async ({ forge, app, installation, ada, ben, repos }) => {
    const caller = asApp(forge, app)
    const bot = await asInstallation(forge, app, installation)
    const reads = async (path = '/repos/acme/engine') => (await bot.get(path)).status
    const included = `/user/installations/${installation.id}/repositories/${repos.engine?.id}`
    assert.equal(await reads(), 200)
    assert.equal((await ben.delete(included)).status, 404)
    await expect(204, await ada.delete(included))
    assert.equal(await reads(), 404)
    await expect(204, await ada.put(included))
    assert.equal(await reads(), 200)

    const suspended = `/app/installations/${installation.id}/suspended`
    await expect(204, await caller.put(suspended))
    assert.equal(await reads(), 401)
    assert.equal((await caller.post(`/app/installations/${installation.id}/access_tokens`)).status, 403)
    const shown = await caller.read(`/app/installations/${installation.id}`)
    assert.deepEqual([shown.suspended_by.login, typeof shown.suspended_at], ['octo-helper[bot]', 'string'])
    await expect(204, await caller.delete(suspended))
    assert.equal(await reads(), 200)

    await expect(202, await ada.post('/repos/acme/engine/transfer', { new_owner: 'ada' }))
    assert.equal(await reads('/repos/ada/engine'), 404)
    assert.equal(await reads('/repos/acme/secret'), 200)

    await expect(204, await forge.admin.put('/users/ada/suspended'))
    assert.equal(await reads('/repos/acme/secret'), 401, 'the owner of the app is suspended')
    assert.equal((await caller.get('/app')).status, 401)
    await expect(204, await forge.admin.delete('/users/ada/suspended'))
    assert.equal(await reads('/repos/acme/secret'), 200)

    const other = await registerApp(ben, { name: 'Other' })
    for (const path of [`/app/installations/${installation.id}`, '/orgs/acme/installation'])
      assert.equal((await asApp(forge, other).get(path)).status, 404)
    assert.equal((await asApp(forge, other).post(`/app/installations/${installation.id}/access_tokens`)).status, 404)
    assert.equal((await asApp(forge, other).delete(`/app/installations/${installation.id}`)).status, 404)
    await expect(204, await caller.delete(`/app/installations/${installation.id}`))
    assert.equal(await reads('/repos/acme/secret'), 401)
    assert.deepEqual(await caller.read('/app/installations'), [])
  }),
)

test(
  'who administers an account installs on it, a private app by its owner only',
  open()(async ({ forge, app, ada, ben }) => {
    await expect(201, await ben.post('/user/installations', { app_slug: app.slug }))
    const twice = await ben.post('/user/installations', { app_slug: app.slug })
    assert.equal((await expect(422, twice)).errors[0].code, 'already_exists')
    assert.equal((await ben.post('/orgs/acme/installations', { app_slug: app.slug })).status, 404)
    const hidden = await registerApp(ada, { name: 'Hidden' })
    assert.equal((await ben.post('/user/installations', { app_slug: hidden.slug })).status, 404)
    assert.equal((await ada.post('/orgs/acme/installations', { app_slug: hidden.slug })).status, 422)
    await expect(201, await ada.post('/user/installations', { app_slug: hidden.slug, repository_ids: [] }))
    assert.equal((await (await forge.tokenFor('ben', [])).get('/user/installations')).status, 403)
    const { installations } = await ben.read('/user/installations')
    assert.deepEqual(pick(installations, 'target_id').length, 1)
    const [{ id }] = installations
    assert.equal((await ada.delete(`/user/installations/${id}`)).status, 404)
    await expect(204, await ben.delete(`/user/installations/${id}`))
  }),
)
