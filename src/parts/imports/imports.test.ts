import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { join } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { applyRunEvent, leadTo, openEmpty, path, present, report, start, vcs_url } from '#test/imports/import-states.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'
import { eraseOldCredentials, openCredentials } from './credentials.ts'
import { applyEvent, recordProgress } from './progress.ts'

const told = ['commit_count', 'percent', 'push_percent', 'failed_step', 'message', 'project_choices']
/** The fields that only some states have. */
const carried = (body: object) => Object.keys(body).filter((key) => told.includes(key))

test('an import shows the fields of each state, and numbers never decrease', async () => {
  await using forge = await openEmpty()
  const { ada, web } = forge
  const { db } = forge.belfry
  await expect(404, await ada.get(path))
  const answer = await ada.put(path, { vcs_url })
  const started = await expect(201, answer)
  assert.equal(answer.headers.get('location'), `${ada.base}${path}`)
  assert.deepEqual(started, {
    vcs: '',
    vcs_url,
    use_lfs: 'undecided',
    status: 'detecting',
    status_text: 'Looking for a repository at this address...',
    has_large_files: false,
    large_files_size: 0,
    large_files_count: 0,
    authors_count: 0,
    url: `${ada.base}${path}`,
    html_url: `${web}/ada/engine/import`,
    authors_url: `${ada.base}${path}/authors`,
    repository_url: `${ada.base}/repos/ada/engine`,
  })
  const refused = await expect(422, await ada.put(path, { vcs_url }))
  assert.match(refused.errors[0].message, /in progress/)

  await applyRunEvent(forge, 'found', { vcs: 'subversion', vcs_url: 'https://u:p@source.example/moved', svn_root: 'libs/a' })
  const found = await ada.read(path)
  assert.partialDeepStrictEqual(found, { vcs: 'subversion', vcs_url: 'https://source.example/moved', svn_root: 'libs/a' })
  assert.partialDeepStrictEqual(found, { status: 'importing', status_text: 'Importing...', commit_count: 0, percent: 0 })
  assert.deepEqual(carried(found), ['commit_count', 'percent'])
  const { id, run } = await present(forge)
  assert.equal(await recordProgress(db, id, run, { percent: 40.7, commit_count: 12 }), true)
  assert.equal(await recordProgress(db, id, run, { percent: 30, commit_count: 9 }), true)
  assert.equal(await recordProgress(db, id, run, { percent: Number.NaN }), true)
  assert.equal(await recordProgress(db, id, run + 1, { percent: 90 }), false)
  assert.partialDeepStrictEqual(await ada.read(path), { percent: 40, commit_count: 12 })
  const large = { ref_name: 'refs/heads/trunk', path: 'a "b"\n.bin', oid: 'd'.repeat(40), size: 3_000_000_000 }
  await applyRunEvent(forge, 'imported', { commit_count: 20, large_files: [large, { ...large, path: 'c' }] })
  const mapping = await ada.read(path)
  assert.partialDeepStrictEqual(mapping, { status: 'mapping', has_large_files: true, large_files_count: 2 })
  assert.equal(mapping.large_files_size, 6_000_000_000)
  assert.deepEqual(carried(mapping), [])
  assert.deepEqual((await ada.read(`${path}/large_files`))[0], large)
  await expect(404, await ada.get(`${path}/report`))

  forge.clock.advance(5000)
  await applyRunEvent(forge, 'mapped', { report })
  assert.deepEqual(carried(await ada.read(path)), ['push_percent'])
  await recordProgress(db, id, run, { push_percent: 400 })
  assert.equal((await ada.read(path)).push_percent, 100)
  const reported = await ada.read(`${path}/report`)
  assert.partialDeepStrictEqual(reported, { commit_count: 20, notes: { 'empty folders': 2 }, mismatches: [], duration: null })
  assert.deepEqual(reported.verified, { branches: 1, tags: 1, revisions: 3, files: 7, all: false })

  await applyRunEvent(forge, 'failed', { message: 'The disk is full.\0 Make room.' })
  const failed = await ada.read(path)
  assert.partialDeepStrictEqual(failed, { status: 'error', failed_step: 'pushing', message: 'The disk is full. Make room.' })
  assert.deepEqual(carried(failed), ['failed_step', 'message'])
  assert.equal((await ada.read(`${path}/report`)).duration, 5)
})

test('impossible events are refused, and a former run is ignored', async () => {
  await using forge = await openEmpty()
  await start(forge.ada, { vcs: 'git' })
  await assert.rejects(applyRunEvent(forge, 'mapped', { report }), /cannot apply mapped to an import in state importing/)
  const { id, run } = await present(forge)
  await expect(200, await forge.ada.patch(path))
  const { db } = forge.belfry
  assert.equal(await db.transaction((transaction) => applyEvent(transaction, id, run, 'failed', { message: 'late' })), undefined)
  assert.partialDeepStrictEqual(await present(forge), { status: 'importing', run: run + 1, active: true })
  await expect(204, await forge.ada.delete(path))
  assert.equal(await db.transaction((transaction) => applyEvent(transaction, id, run + 1, 'imported')), undefined)
  assert.equal(await recordProgress(db, id, run + 1, { percent: 1 }), false)
  await expect(404, await forge.ada.get(path))
})

test('a running import blocks another; a failed one is replaced', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const both = await Promise.all([ada.put(path, { vcs_url }), ada.put(path, { vcs_url })])
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422])
  const race = [
    ...Array.from({ length: 6 }, () => ada.patch(path)),
    ada.delete(path),
    ada.delete(path),
    ada.put(path, { vcs_url }),
  ]
  const statuses = (await Promise.all(race)).map(({ status }) => status)
  assert.ok(
    statuses.every((status) => [200, 201, 204, 404, 422].includes(status)),
    `they take turns: ${statuses}`,
  )
  if ((await ada.get(path)).status === 404) await start(ada)
  await applyRunEvent(forge, 'found_nothing')
  const { id } = await present(forge)
  const again = await start(ada, { vcs: 'tfvc', tfvc_project: 'Alpha' })
  assert.partialDeepStrictEqual(again, { status: 'importing', tfvc_project: 'Alpha', commit_count: 0, percent: 0 })
  assert.notEqual((await present(forge)).id, id)
  await expect(201, await ada.post('/user/repos', { name: 'full', auto_init: true }))
  const full = await expect(422, await ada.put('/repos/ada/full/import', { vcs_url }))
  assert.match(full.errors[0].message, /not empty/)
  await ada.owns('robot')
  const switched = '/repos/ada/robot/actions/permissions'
  assert.deepEqual(await ada.read(switched), { enabled: false })
  await expect(204, await ada.put(switched, { enabled: true, allowed_actions: 'all' }))
  assert.deepEqual(await ada.read(switched), { enabled: true })
  const automated = await expect(422, await ada.put('/repos/ada/robot/import', { vcs_url }))
  assert.match(automated.errors[0].message, /automation/)
  await expect(204, await ada.put(switched, { enabled: false }))
  await expect(200, await ada.patch('/repos/ada/robot', { archived: true }))
  await expect(403, await ada.put('/repos/ada/robot/import', { vcs_url }))
})

test('credentials are sealed, are deleted with the import, and are never shown', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const { vault, db } = forge.belfry
  const stored = async () => openCredentials(vault, await present(forge))
  const started = await start(ada, { vcs_url: 'https://al%40ice:hunter%202@source.example/x', vcs_password: 'hunter3' })
  assert.equal(started.vcs_url, 'https://source.example/x')
  assert.deepEqual(await stored(), { username: 'al@ice', password: 'hunter3' })
  await assert.rejects(async () => openCredentials(vault, { ...(await present(forge)), id: 0 }))

  await applyRunEvent(forge, 'needs_auth')
  assert.partialDeepStrictEqual(await ada.read(path), { status: 'detection_needs_auth' })
  assert.deepEqual(await stored(), { username: null, password: null })
  const given = await expect(200, await ada.patch(path, { vcs_username: 'bob', vcs_password: 'hunter4' }))
  assert.equal(given.status, 'detecting')
  assert.deepEqual(await stored(), { username: 'bob', password: 'hunter4' })
  await applyRunEvent(forge, 'found', { vcs: 'git' })
  await applyRunEvent(forge, 'auth_failed')
  assert.match((await ada.read(path)).status_text, /user name and password/)
  assert.equal((await expect(200, await ada.patch(path, { vcs_password: 'hunter5' }))).status, 'importing')
  assert.deepEqual(await stored(), { username: null, password: 'hunter5' })
  assert.equal((await expect(200, await ada.patch(path, { vcs_username: 'carol' }))).status, 'importing')
  assert.deepEqual(await stored(), { username: 'carol', password: 'hunter5' })
  const rows = JSON.stringify(await db.rows(sql`select i::text as row, encode(credentials, 'escape') as sealed from imports i`))
  assert.doesNotMatch(rows + forge.logged.join(''), /hunter/)
  await applyRunEvent(forge, 'failed', { message: 'no' })
  assert.equal((await present(forge)).credentials, null)

  // Credentials of an import that waits for a day are erased.
  await expect(200, await ada.patch(path, { vcs_password: 'hunter6' }))
  await applyRunEvent(forge, 'found_multiple', { project_choices: [{ vcs: 'subversion', human_name: 'a', svn_root: 'a' }] })
  forge.clock.advance(86_400_000)
  await eraseOldCredentials(db)
  assert.deepEqual(await stored(), { username: null, password: 'hunter6' })
  forge.clock.advance(1)
  await eraseOldCredentials(db)
  assert.equal((await present(forge)).credentials, null)
})

test('one of several projects is chosen by its keys', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const project_choices = [
    { vcs: 'subversion' as const, human_name: 'Core', svn_root: 'core' },
    { vcs: 'subversion' as const, human_name: 'Libs', svn_root: 'libs/b' },
    { vcs: 'tfvc' as const, human_name: 'Alpha (tfs)', tfvc_project: 'Alpha' },
  ]
  for (const choice of project_choices) {
    await start(ada)
    await applyRunEvent(forge, 'found_multiple', { project_choices })
    const asked = await ada.read(path)
    assert.equal(asked.status, 'detection_found_multiple')
    assert.deepEqual(asked.project_choices, project_choices)
    for (const wrong of [
      { human_name: 'Nothing' },
      { ...choice, vcs: 'git' },
      { tfvc_project: 'alpha' },
      { svn_root: '../etc' },
      { vcs: 'subversion' },
    ]) {
      await expect(422, await ada.patch(path, wrong))
    }
    const chosen = await expect(200, await ada.patch(path, choice))
    const { human_name, ...own } = choice
    assert.partialDeepStrictEqual(chosen, { status: 'importing', ...own })
    assert.deepEqual(carried(chosen), ['commit_count', 'percent'])
    await expect(204, await ada.delete(path))
  }
  await start(ada)
  await applyRunEvent(forge, 'found_multiple', { project_choices })
  assert.equal((await expect(200, await ada.patch(path))).status, 'detecting')
})

test('an import in any state restarts with an empty body', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  await start(ada)
  const states: [kind: string, lead: () => Promise<unknown>][] = [
    ['detecting', async () => {}],
    ['detecting', () => applyRunEvent(forge, 'found_nothing')],
    ['detecting', () => applyRunEvent(forge, 'needs_auth')],
    ['detecting', () => applyRunEvent(forge, 'failed', { message: 'no' })],
    ['importing', () => applyRunEvent(forge, 'found', { vcs: 'git' })],
    ['importing', () => applyRunEvent(forge, 'auth_failed')],
    ['importing', () => leadTo(forge, 'mapping')],
    ['importing', () => leadTo(forge, 'pushing')],
  ]
  for (const [status, lead] of states) {
    await lead()
    const before = await present(forge)
    const again = await expect(200, await ada.patch(path))
    assert.equal(again.status, status, before.status)
    const { run, active, percent, report: kept } = await present(forge)
    assert.deepEqual([run, active, percent, kept], [before.run + 1, true, null, null], before.status)
  }
  assert.equal((await expect(200, await ada.patch(path, { vcs: 'mercurial' }))).vcs, 'mercurial')
  assert.equal((await expect(200, await ada.patch(path, {}))).vcs, 'mercurial')
})

test('webhooks report the end of an import once', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const ben = await forge.person('ben')
  await hookOn(ada, 'repos/ada/engine', 'repository_import')
  const ends = async (act: () => Promise<unknown>) => {
    const all = await heardOf(forge, act)
    for (const { event, payload } of all) checkPayload(event, payload)
    return all.map(({ payload }) => `${payload.status} ${payload.sender.login}`)
  }
  const cancel = async () => expect(204, await ada.delete(path))
  assert.deepEqual(await ends(async () => start(ada)), [])
  assert.deepEqual(await ends(cancel), ['cancelled ada'])
  await expect(404, await ada.delete(path))
  await start(ada)
  assert.deepEqual(await ends(() => applyRunEvent(forge, 'needs_auth')), [])
  assert.deepEqual(await ends(cancel), ['cancelled ada'])
  await start(ada, { vcs: 'git' })
  assert.deepEqual(await ends(() => applyRunEvent(forge, 'failed', { message: 'no' })), ['failure ada'])
  assert.deepEqual(await ends(cancel), [])
  await start(ada)
  assert.deepEqual(await ends(() => applyRunEvent(forge, 'found_nothing')), ['failure ada'])
  assert.deepEqual(await ends(cancel), [])
  await expect(403, await ben.delete(path))
})

test('RepositoryImportEvent is delivered for every change of status, with the import at that time', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  const ben = await forge.person('ben')
  await join(ada, ben, 'push')
  await hookOn(ada, 'repos/ada/engine', 'RepositoryImportEvent')
  const changes = async (act: () => Promise<unknown>) => {
    const all = await heardOf(forge, act)
    return all.map(({ event, payload }) => {
      assert.equal(event, 'RepositoryImportEvent')
      assert.equal(payload.repository.full_name, 'ada/engine')
      assert.equal(payload.import.url, `${ada.base}${path}`)
      return `${payload.previous_status} → ${payload.status}, ${payload.import.status}, by ${payload.sender.login}`
    })
  }
  assert.deepEqual(await changes(() => start(ada)), ['null → detecting, detecting, by ada'])
  assert.deepEqual(await changes(() => applyRunEvent(forge, 'found', { vcs: 'git' })), [
    'detecting → importing, importing, by ada',
  ])
  assert.deepEqual(await changes(() => leadTo(forge, 'pushing')), [
    'importing → mapping, mapping, by ada',
    'mapping → pushing, pushing, by ada',
  ])
  const failing = () => applyRunEvent(forge, 'failed', { message: 'The disk is full.' })
  assert.deepEqual(await changes(failing), ['pushing → error, error, by ada'])
  assert.deepEqual(await changes(() => ben.patch(path)), ['error → importing, importing, by ben'])
  // The status does not change, so there is nothing to report.
  assert.deepEqual(await changes(() => ben.patch(path)), [])
  assert.deepEqual(await changes(() => ada.delete(path)), ['importing → cancelled, importing, by ada'])
})
