import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allScopes, expandScopes, isScope, normaliseScopes } from './scopes.ts'

test('a parent holds its children, and theirs', () => {
  const held = expandScopes(['admin:org', 'user:email'])
  assert.deepEqual([...held].sort(), ['admin:org', 'read:org', 'user:email', 'write:org'])
  assert.ok(expandScopes(['repo']).has('public_repo'))
  assert.ok(!expandScopes(['public_repo']).has('repo'))
})

test('scopes are kept sorted, each once, and none that another holds', () => {
  assert.deepEqual(normaliseScopes(['user:email', 'repo', 'public_repo', 'gist', 'repo', 'user']), ['gist', 'repo', 'user'])
  assert.deepEqual(normaliseScopes(['read:org', 'admin:org']), ['admin:org'])
  assert.deepEqual(normaliseScopes(['read:user', 'user:email']), ['read:user', 'user:email'])
  assert.deepEqual(normaliseScopes([]), [])
})

test('all scopes are named by the fewest that hold them', () => {
  assert.ok(allScopes.includes('repo') && allScopes.includes('site_admin'))
  assert.ok(!allScopes.includes('public_repo'))
  assert.deepEqual(normaliseScopes(allScopes), allScopes)
  for (const scope of expandScopes(allScopes)) assert.ok(isScope(scope), scope)
})

test('what is no scope is not taken for one', () => {
  for (const name of ['', 'repos', 'REPO', 'constructor', '__proto__', 'repo ']) assert.ok(!isScope(name), name)
})
