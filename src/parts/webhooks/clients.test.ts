import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { type Client, expect } from '#test/forge.ts'
import { openWithEngine, url } from '#test/hooks.ts'
import { Octokit } from '#test/octokit.ts'

async function openWithPlaces() {
  const forge = await openWithEngine()
  await forge.organization('acme', forge.ada)
  return forge
}

test('an unchanged client creates, updates, tests and deletes a hook', async () => {
  await using forge = await openWithPlaces()
  const { ada } = forge
  for (const baseUrl of [ada.base, ada.versioned.base]) {
    const { rest } = new Octokit({ baseUrl, auth: ada.token })
    const engine = { owner: 'ada', repo: 'engine' }
    const config = { url, content_type: 'json', secret: 'hidden', insecure_ssl: '0' }
    const { data: made } = await rest.repos.createWebhook({ ...engine, config, events: ['push', 'issues'] })
    assert.deepEqual(made.config, { url, content_type: 'json', insecure_ssl: '0' })
    const hook = { ...engine, hook_id: made.id }
    assert.deepEqual((await rest.repos.listWebhooks(engine)).data, [made])
    assert.deepEqual((await rest.repos.getWebhook(hook)).data, made)
    const { data: changed } = await rest.repos.updateWebhook({ ...hook, active: false, add_events: ['star'] })
    assert.deepEqual([changed.active, changed.events], [false, ['push', 'issues', 'star']])
    await rest.repos.updateWebhookConfigForRepo({ ...hook, insecure_ssl: 1 })
    const { data: shown } = await rest.repos.getWebhookConfigForRepo(hook)
    assert.deepEqual(shown, { content_type: 'json', insecure_ssl: '1', secret: '********', url })
    assert.equal((await rest.repos.pingWebhook(hook)).status, 204)
    assert.equal((await rest.repos.deleteWebhook(hook)).status, 204)
    await assert.rejects(rest.repos.getWebhook(hook), { status: 404 })
    const { data: of } = await rest.orgs.createWebhook({ org: 'acme', name: 'web', config: { url }, events: ['*'] })
    const { data: listed } = await rest.orgs.listWebhooks({ org: 'acme' })
    assert.deepEqual(listed, [of])
    await rest.orgs.updateWebhookConfigForOrg({ org: 'acme', hook_id: of.id, secret: 'hidden' })
    assert.equal((await rest.orgs.pingWebhook({ org: 'acme', hook_id: of.id })).status, 204)
    assert.equal((await rest.orgs.deleteWebhook({ org: 'acme', hook_id: of.id })).status, 204)
  }
})

/** `{id}` is the hook that the first request created. */
const visits: [operation: string, method: 'get' | 'post' | 'patch', path: string, body?: Record<string, unknown>][] = [
  ['create-webhook', 'post', '', { name: 'web', config: { url, secret: 'hidden' } }],
  ['list-webhooks', 'get', ''],
  ['get-webhook', 'get', '/{id}'],
  ['update-webhook', 'patch', '/{id}', { events: ['*'] }],
  ['get-webhook-config-for-{place}', 'get', '/{id}/config'],
  ['update-webhook-config-for-{place}', 'patch', '/{id}/config', { insecure_ssl: 1 }],
]

test('every response about hooks matches the public documentation on both variants', async () => {
  await using forge = await openWithPlaces()
  const { ada } = forge
  const faults: Fault[] = []
  for (const [variant, client] of [
    ['self-hosted', ada as Client],
    ['versioned', ada.versioned],
  ] as const) {
    const contract = Contract.of(variant)
    for (const [family, place, hooks] of [
      ['repos', 'repo', '/repos/ada/engine/hooks'],
      ['orgs', 'org', '/orgs/acme/hooks'],
    ] as const) {
      let id = 0
      for (const [name, method, path, body] of visits) {
        const operation = `${family}/${name.replace('{place}', place)}`
        const answer = await client[method](`${hooks}${path.replace('{id}', String(id))}`, body)
        assert.ok(answer.ok, `${operation}: ${answer.status}`)
        const found = await expect(answer.status, answer)
        if (method === 'post') id = found.id
        faults.push(...contract.check(operation, answer.status, 'application/json', found))
      }
      await expect(204, await client.delete(`${hooks}/${id}`))
    }
  }
  assert.deepEqual([...new Set(faults.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
})

test('the OpenAPI documents describe the hooks of both targets by their public operation names', async () => {
  await using forge = await openWithPlaces()
  const { paths, components } = await forge.nobody.read('/openapi.json')
  const hook = components.schemas.Webhook
  for (const field of ['last_response', 'test_url', 'deliveries_url']) assert.ok(hook.required.includes(field), field)
  assert.ok(!('test_url' in components.schemas.OrganizationWebhook.properties))
  for (const [family, place, prefix] of [
    ['repos', 'repo', '/repos/{owner}/{repo}'],
    ['orgs', 'org', '/orgs/{org}'],
  ] as const) {
    const named = (path: string, method: string) => paths[`${prefix}/hooks${path}`][method].operationId
    assert.equal(named('', 'post'), `${family}/create-webhook`)
    assert.equal(named('/{hook_id}', 'delete'), `${family}/delete-webhook`)
    assert.equal(named('/{hook_id}/config', 'patch'), `${family}/update-webhook-config-for-${place}`)
    assert.equal(named('/{hook_id}/pings', 'post'), `${family}/ping-webhook`)
  }
})
