import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { expect } from '#test/forge.ts'
import { applyRunEvent, openEmpty, path, present, report, start, vcs_url } from '#test/imports/import-states.ts'
import { Octokit } from '#test/octokit.ts'
import { recordProgress } from './progress.ts'

const author = { remote_id: 'svner@4f1c', remote_name: 'svner', name: 'svner', email: 'svner@4f1c' }
const large_files = [{ ref_name: 'refs/heads/main', path: 'film.mov', oid: 'a'.repeat(40), size: 104_857_601 }]

test('an unchanged client runs an import through all its states, by the documented routes', async () => {
  await using forge = await openEmpty({ BELFRY_IMPORTS: 'open' })
  const { ada } = forge
  for (const baseUrl of [ada.base, ada.versioned.base]) {
    const { request } = new Octokit({ baseUrl, auth: ada.token })
    const engine = { owner: 'ada', repo: 'engine' }
    const started = await request('PUT /repos/{owner}/{repo}/import', { ...engine, vcs_url, vcs: 'subversion' })
    assert.deepEqual([started.status, started.headers.location], [201, `${baseUrl}${path}`])
    await applyRunEvent(forge, 'auth_failed')
    const given = { ...engine, vcs_username: 'u', vcs_password: 'p' }
    assert.equal((await request('PATCH /repos/{owner}/{repo}/import', given)).data.status, 'importing')
    assert.equal((await request('PATCH /repos/{owner}/{repo}/import', engine)).data.status, 'importing')
    const { id, run } = await present(forge)
    await recordProgress(forge.belfry.db, id, run, { authors: [author] })
    const { data: authors } = await request('GET /repos/{owner}/{repo}/import/authors', { ...engine, since: 0 })
    const mapping = { ...engine, author_id: authors[0]?.id ?? 0, email: 'ada@example.com', name: 'Ada' }
    const { data: mapped } = await request('PATCH /repos/{owner}/{repo}/import/authors/{author_id}', mapping)
    assert.deepEqual([mapped.name, mapped.email], ['Ada', 'ada@example.com'])
    await applyRunEvent(forge, 'imported', { commit_count: 3, large_files })
    assert.deepEqual((await request('GET /repos/{owner}/{repo}/import/large_files', engine)).data, large_files)
    const preference = { ...engine, use_lfs: 'opt_in' as const }
    assert.equal((await request('PATCH /repos/{owner}/{repo}/import/lfs', preference)).data.use_lfs as unknown, 'opt_in')
    assert.equal((await request('GET /repos/{owner}/{repo}/import', engine)).data.status, 'mapping')
    assert.equal((await request('DELETE /repos/{owner}/{repo}/import', engine)).status, 204)
    await assert.rejects(request('GET /repos/{owner}/{repo}/import', engine), { status: 404 })
  }
})

test('every answer matches the public documentation, except use_lfs', async () => {
  await using forge = await openEmpty({ BELFRY_IMPORTS: 'open' })
  const { ada } = forge
  const contract = Contract.of('versioned')
  const faults: Fault[] = []
  const client = ada.versioned
  const visit = async (operation: string, answer: Promise<Response>) => {
    const { status } = await answer
    assert.ok(status < 300, `${operation}: ${status}`)
    const found = await expect(status, await answer)
    faults.push(...contract.check(`migrations/${operation}`, status, 'application/json', found))
    return found
  }
  const status = () => visit('get-import-status', client.get(path))
  await visit('start-import', client.put(`${path}?verify=full`, { vcs_url }))
  assert.equal((await present(forge)).verify_all, true)
  await applyRunEvent(forge, 'found_multiple', {
    project_choices: [{ vcs: 'tfvc', tfvc_project: 'Alpha', human_name: 'Alpha (tfs)' }],
  })
  await status()
  await visit('update-import', client.patch(path, { vcs: 'tfvc', tfvc_project: 'Alpha', human_name: 'Alpha (tfs)' }))
  const { id, run } = await present(forge)
  await recordProgress(forge.belfry.db, id, run, { percent: 3, commit_count: 4, authors: [author] })
  await status()
  const [{ url }] = await visit('get-commit-authors', client.get(`${path}/authors`))
  await visit('map-commit-author', client.patch(url, { name: 'Ada' }))
  await applyRunEvent(forge, 'imported', { commit_count: 3, large_files })
  await visit('get-large-files', client.get(`${path}/large_files`))
  await visit('set-lfs-preference', client.patch(`${path}/lfs`, { use_lfs: 'opt_out' }))
  await applyRunEvent(forge, 'mapped', { report })
  await status()
  await applyRunEvent(forge, 'failed', { message: 'no' })
  await status()
  const said = faults.map(({ path: at, message }) => `${at} ${message}`)
  // The spec has three values where the documentation's schema, unlike its samples, has a boolean.
  assert.deepEqual([...new Set(said)], ['/use_lfs must be boolean'])
  await expect(204, await client.delete(path))
  await expect(422, await client.put(path, {}))
  assert.equal((await start(ada)).vcs_url, vcs_url)
})

test('automation works as documented, for admins only', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const ben = await forge.person('ben')
  const switched = '/repos/ada/engine/actions/permissions'
  for (const [variant, client] of [
    ['self-hosted', ada],
    ['versioned', ada.versioned],
  ] as const) {
    const body = await client.read(switched)
    assert.deepEqual(
      Contract.of(variant).check('actions/get-github-actions-permissions-repository', 200, 'application/json', body),
      [],
    )
  }
  await expect(403, await ben.get(switched))
  await expect(403, await ben.put(switched, { enabled: true }))
  await expect(422, await ada.put(switched, {}))
  await expect(422, await ada.put(switched, { enabled: 'yes' }))
  assert.deepEqual(await ada.read(switched), { enabled: false })
})
