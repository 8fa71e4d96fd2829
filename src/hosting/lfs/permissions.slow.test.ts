import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadUser } from '#identity/accounts.ts'
import { createFineGrainedToken } from '#parts/account/personal-tokens/personal-tokens.ts'
import { expect, type Person } from '#test/forge.ts'
import { batch, get, media, openPlaces, put, sha256 } from '#test/lfs.ts'

test('LFS objects have the access rules of git', async () => {
  await using forge = await openPlaces()
  const { ada, cy, eve } = forge
  const [oid, size] = [sha256('contents'), 8]
  for (const repo of ['ada/open', 'ada/closed']) assert.equal((await put(forge, ada.token, repo, 'contents')).status, 200)
  const expected: [who: Person | null, place: string, fetching: number, pushing: number][] = [
    [null, 'ada/open', 200, 401],
    [null, 'ada/closed', 401, 401],
    [null, 'ada/nothing', 401, 401],
    [ada, 'ada/closed', 200, 200],
    [ada, 'ADA/Closed', 200, 200],
    [cy, 'ada/closed', 200, 403],
    [eve, 'ada/open', 200, 403],
    [eve, 'ada/closed', 404, 404],
    [eve, 'ada/nothing', 404, 404],
    [eve, 'ada/%2e%2e', 404, 404],
  ]
  for (const [who, place, fetching, pushing] of expected) {
    const told = `${place} by ${who?.login}`
    const token = who?.token ?? null
    const downloads = await batch(forge, token, place, 'download', [{ oid, size }])
    assert.equal(downloads.status, fetching, `batch of ${told}: ${downloads.text}`)
    assert.equal((await get(forge, token, place, oid)).status, fetching, `fetch ${told}`)
    assert.equal((await batch(forge, token, place, 'upload', [{ oid, size }])).status, pushing, `batch to ${told}`)
    const refused = await put(forge, token, place, 'contents')
    assert.equal(refused.status, pushing, `push to ${told}`)
    if (pushing === 200) continue
    assert.equal(refused.headers.get('content-type'), `${media}; charset=utf-8`)
    assert.equal(typeof JSON.parse(refused.text).message, 'string')
    const asked = pushing === 401 ? 'Basic realm="Belfry", charset="UTF-8"' : null
    assert.equal(refused.headers.get('lfs-authenticate'), asked)
  }
  assert.equal((await get(forge, 'bfp_wrong', 'ada/open', oid)).status, 401)

  const scoped = await forge.tokenFor('ada', ['public_repo'])
  assert.equal((await put(forge, scoped.token, 'ada/open', 'contents')).status, 200)
  assert.equal((await put(forge, scoped.token, 'ada/closed', 'contents')).status, 404)
  const { db } = forge.belfry
  const user = await loadUser(db, 'ada')
  const permissions = { metadata: 'read', contents: 'read' } as const
  const fine = await db.transaction((transaction) =>
    createFineGrainedToken(transaction, user, { note: 'x', days: null, permissions, repositories: null }),
  )
  assert.equal((await get(forge, fine, 'ada/closed', oid)).status, 200)
  assert.equal((await put(forge, fine, 'ada/closed', 'contents')).status, 403)

  await expect(200, await ada.patch('/repos/ada/open', { archived: true }))
  assert.equal((await put(forge, ada.token, 'ada/open', 'contents')).status, 403)
  assert.equal((await batch(forge, ada.token, 'ada/open', 'upload', [{ oid, size }])).status, 403)
  assert.equal((await get(forge, null, 'ada/open', oid)).text, 'contents')

  await expect(200, await ada.patch('/repos/ada/closed', { name: 'renamed' }))
  assert.equal((await get(forge, ada.token, 'ada/closed', oid)).text, 'contents', 'under its former name')
})

test('objects of another repository are not revealed, and must be uploaded again', async () => {
  await using forge = await openPlaces()
  const { ada, eve } = forge
  await eve.owns('own', { auto_init: true })
  const [oid, size] = [sha256('secret'), 6]
  assert.equal((await put(forge, ada.token, 'ada/closed', 'secret')).status, 200)
  const objects = async (repo: string, person: Person, operation: string) =>
    JSON.parse((await batch(forge, person.token, repo, operation, [{ oid, size }])).text).objects
  const href = `${forge.web}/eve/own.git/info/lfs/objects/${oid}`
  assert.deepEqual(await objects('eve/own', eve, 'upload'), [{ oid, size, actions: { upload: { href } } }])
  assert.deepEqual(await objects('eve/own', eve, 'download'), [
    { oid, size, error: { code: 404, message: 'Object does not exist' } },
  ])
  assert.equal((await get(forge, eve.token, 'eve/own', oid)).status, 404)
  assert.equal((await put(forge, eve.token, 'eve/own', 'guess', oid)).status, 422)
  assert.equal((await get(forge, eve.token, 'eve/own', oid)).status, 404)
  assert.equal((await put(forge, eve.token, 'eve/own', 'secret')).status, 200)
  assert.deepEqual(await objects('eve/own', eve, 'upload'), [{ oid, size }])
  assert.deepEqual(await objects('eve/own', eve, 'download'), [{ oid, size, actions: { download: { href } } }])
})
