import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiGroups } from '#app.ts'
import { isScope } from '#identity/scopes.ts'
import { openForge } from '#test/forge.ts'
import { selfHosted } from '#variants.ts'
import type { Endpoint } from './endpoint.ts'

async function openEndpoints() {
  const forge = await openForge()
  return Object.assign(forge, { endpoints: apiGroups(forge.belfry).flatMap(({ endpoints }) => endpoints) })
}

/** What is wrong with a declaration, whatever its endpoint does. */
function faultsOf({ method, permission, scopes = [], viewer }: Partial<Declared>) {
  const writes = method !== 'GET'
  return [
    !permission && 'declares no permission',
    // Site admins, passwords and applications have their own ways of telling who may.
    writes && viewer === undefined && !scopes.length && 'writes for a viewer, and declares no scopes',
    writes && permission === 'any' && viewer === undefined && 'writes with any fine-grained token',
    !scopes.every(isScope) && 'declares a scope that is none',
    viewer === 'site_admin' && !scopes.includes('site_admin') && 'is for site admins, and takes a token without that scope',
  ].filter((fault) => fault !== false)
}

type Declared = Pick<Endpoint, 'method' | 'permission' | 'scopes' | 'viewer'>

test('every endpoint says what it asks of a token', async () => {
  await using forge = await openEndpoints()
  assert.ok(forge.endpoints.length > 80)
  const wrong = forge.endpoints.flatMap((endpoint) =>
    faultsOf(endpoint).map((fault) => `${endpoint.method} ${endpoint.path} ${fault}`),
  )
  assert.deepEqual(wrong, [])
})

test('an endpoint that says nothing is found', () => {
  assert.equal(faultsOf({ method: 'GET' }).length, 1)
  assert.equal(faultsOf({ method: 'PUT' }).length, 2)
  assert.equal(faultsOf({ method: 'PUT', permission: 'contents:write' }).length, 1)
  assert.equal(faultsOf({ method: 'DELETE', permission: 'any', scopes: ['repo'] }).length, 1)
  assert.equal(faultsOf({ method: 'POST', permission: 'classic', viewer: 'site_admin' }).length, 1)
  assert.equal(faultsOf({ method: 'POST', permission: 'classic', viewer: 'password' }).length, 0)
})

test('an endpoint is declared once', async () => {
  await using forge = await openEndpoints()
  const names = forge.endpoints.map(({ operation }) => operation)
  const routes = forge.endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  for (const list of [names, routes])
    assert.deepEqual(
      list.filter((each, index) => list.indexOf(each) !== index),
      [],
    )
})

test('answers name the scopes that their endpoint declares', async () => {
  await using forge = await openEndpoints()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await forge.organization('acme', ada)
  const known: Record<string, string> = { owner: 'ada', repo: 'engine', org: 'acme', username: 'ada' }
  for (const { method, path, viewer, scopes = [], optional_scopes = [], served } of forge.endpoints) {
    if (method !== 'GET' || viewer === 'client' || viewer === 'app' || (served && !served(selfHosted))) continue
    const answer = await ada.get(path.replaceAll(/\{(\w+)\}/g, (_, name) => known[name] ?? '1'))
    const declared = [...scopes, ...optional_scopes].sort().join(', ')
    assert.equal(answer.headers.get('x-accepted-oauth-scopes'), declared, path)
    await answer.body?.cancel()
  }
})
