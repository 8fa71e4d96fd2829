import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fineGrained } from '#test/conversations.ts'
import { type Client, expect } from '#test/forge.ts'
import { applyRunEvent, openEmpty, path, start, vcs_url } from '#test/imports/import-states.ts'
import { ask, consent, register, signIn } from '#test/oauth.ts'

const all: [method: 'get' | 'put' | 'patch' | 'delete', path: string, body?: Record<string, unknown>][] = [
  ['get', path],
  ['put', path, { vcs_url }],
  ['patch', path, {}],
  ['delete', path],
  ['get', `${path}/authors`],
  ['patch', `${path}/authors/1`, { name: 'x' }],
  ['get', `${path}/authors.csv`],
  ['get', `${path}/large_files`],
  ['patch', `${path}/lfs`, { use_lfs: 'opt_in' }],
  ['get', `${path}/report`],
]

/** The statuses of the endpoints, and their bodies. */
async function visit(client: Client, calls = all) {
  const answers = await Promise.all(calls.map(([method, at, body]) => client[method](at, body)))
  return {
    statuses: new Set(answers.map(({ status }) => status)),
    said: (await Promise.all(answers.map((each) => each.text()))).join('\n'),
  }
}

test('only a classic personal token is accepted, and others get the reason', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  await start(ada)
  const { client_id, client_secret } = await register(forge)
  const code = await consent(await signIn(forge, 'ada'), { client_id, scope: 'repo' })
  const { access_token } = await ask(forge, { client_id, client_secret, code })
  const others = {
    fine: await fineGrained(forge, 'ada', { contents: 'write', administration: 'write', metadata: 'read' }),
    application: forge.nobody.with({ authorization: `Bearer ${access_token}` }),
    password: forge.nobody.with({ authorization: `Basic ${btoa("ada:ada's password")}` }),
  }
  for (const [who, client] of Object.entries(others)) {
    const { statuses, said } = await visit(client)
    assert.deepEqual([...statuses], [403], who)
    assert.match(said, /personal access token \(classic\)/, who)
  }
  assert.deepEqual([...(await visit(forge.nobody)).statuses], [401])
  const unscoped = await visit(await forge.tokenFor('ada', ['user', 'notifications']))
  assert.deepEqual([...unscoped.statuses], [403])
  assert.match(unscoped.said, /Missing the 'public_repo' or 'repo' scope/)
  await expect(200, await (await forge.tokenFor('ada', ['public_repo'])).patch(path))
  const basic = forge.nobody.with({ authorization: `Basic ${btoa(`ada:${ada.token}`)}` })
  assert.equal((await basic.read(path)).status, 'detecting')
})

test('imports of hidden repositories are 404, and those of readable ones cannot be changed without push access', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const [ben, cy] = [await forge.person('ben'), await forge.person('cy')]
  await start(ada, { vcs_username: 'alice', vcs_password: 'hunter2' })
  await applyRunEvent(forge, 'failed', { message: 'Something only Ada should know' })
  const [reads, writes] = [all.filter(([method]) => method === 'get'), all.filter(([method]) => method !== 'get')]
  assert.deepEqual([...(await visit(ben, writes)).statuses], [403])
  assert.equal((await ben.read(path)).status, 'error')
  const { id } = await expect(201, await ada.put('/repos/ada/engine/collaborators/cy', { permission: 'push' }))
  await expect(204, await cy.patch(`/user/repository_invitations/${id}`))
  await expect(200, await cy.patch(path))

  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  const missing = await (await ben.get('/repos/ada/none/import')).text()
  for (const [method, at, body] of all) {
    const answer = await ben[method](at, body)
    assert.deepEqual([answer.status, await answer.text()], [404, missing], `${method} ${at}`)
  }
  assert.deepEqual([...(await visit(await forge.tokenFor('ada', ['public_repo']))).statuses], [404])
  assert.equal((await cy.read(path)).status, 'detecting')
  assert.doesNotMatch((await visit(ada, reads)).said, /alice|hunter2|credentials/)
})

test('imports close by variant and by setting', async () => {
  const cases: [settings: Record<string, string>, web: number, versioned: number, says: RegExp][] = [
    [{}, 404, 410, /closed since 2024-04-12T00:00:00Z/],
    [{ BELFRY_IMPORTS: 'closed' }, 410, 410, /closed/],
    [{ BELFRY_IMPORTS: 'maintenance' }, 503, 503, /under maintenance/],
    [{ BELFRY_IMPORTS_CLOSE_AT: '2026-01-01T00:00:00Z', BELFRY_IMPORTS: 'open' }, 410, 410, /since 2026-01-01/],
  ]
  for (const [settings, web, versioned, says] of cases) {
    await using forge = await openEmpty(settings)
    const { ada } = forge
    const named = JSON.stringify(settings)
    assert.equal((await ada.get(path)).status, web, named)
    const answer = await ada.versioned.get(path)
    const { message, status } = await expect(versioned, answer)
    assert.match(message, says, named)
    assert.equal(status, String(versioned))
    if (web === 404) continue
    // For every caller and every body.
    for (const client of [ada, ada.versioned, forge.nobody]) assert.deepEqual([...(await visit(client)).statuses], [web], named)
    assert.equal((await ada.put(path, { vcs_url: 7 })).status, web)
    assert.equal((await ada.get('/repos/ada/none/import')).status, web)
    assert.equal((await ada.get('/repos/ada/engine')).status, 200)
  }
})

test('imports close at the configured time', async () => {
  await using forge = await openEmpty({ BELFRY_IMPORTS_CLOSE_AT: '2026-02-03T04:05:10Z' })
  await start(forge.ada)
  assert.equal((await forge.ada.versioned.read(path)).status, 'detecting')
  forge.clock.advance(4000)
  const { message } = await expect(410, await forge.ada.get(path))
  assert.equal(message, 'Source imports are closed since 2026-02-03T04:05:10Z.')
})
