import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { pushTasks } from '#hosting/pushes/jobs.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { Desk, eventsOf, lines } from '#test/git.ts'
import { signedIn } from '#test/guest.ts'
import { applyRunEvent, type Empty, leadTo, openEmpty, path, present, report, start } from '#test/imports/import-states.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'
import { takeCorrections } from './authors.ts'
import { completeCorrection, completeImport } from './complete-import.ts'
import { recordProgress } from './progress.ts'

/** Two commits without refs, and the original commits that they were made of. */
async function bring(forge: Empty) {
  const { storage } = forge.belfry
  const at = forge.clock.now()
  const commit = (name: string) =>
    storage.draft(forge.repo.id, undefined, [
      { author: { name, email: `${name}@example.com` }, at, message: name, files: { name } },
    ])
  const [one, two] = [await commit('one'), await commit('two')]
  await git(['-C', storage.pathOf(forge.repo.id), 'update-ref', 'refs/import/orig/heads/trunk', one])
  return { one, two }
}

async function openPushing() {
  const forge = await openEmpty()
  await start(forge.ada, { vcs: 'git', vcs_password: 'hunter2' })
  const commits = await bring(forge)
  const { one, two } = commits
  const refs: Record<string, string> = {
    'refs/heads/trunk': one,
    'refs/heads/side': two,
    'refs/tags/v1': one,
    'refs/tags/v2': two,
  }
  return Object.assign(forge, { ...commits, refs, desk: await Desk.open(forge) })
}

const finish = async (forge: Empty, refs: Record<string, string>, default_branch: string | null = 'trunk') =>
  completeImport(forge.belfry, await present(forge), { refs, default_branch })

/** Runs the pending jobs for the refs of a repository. */
async function runJobs({ belfry: { db, storage } }: Empty) {
  const jobs = await db.rows<{ id: number; task: string; payload: { repo_id: number } }>(sql`
    select j.id, j.task_identifier as task, p.payload from graphile_worker.jobs j
    join graphile_worker._private_jobs p on p.id = j.id where j.task_identifier in ('forget_originals', 'withdraw_refs')`)
  const tasks = pushTasks(db, storage) as Record<string, (payload: object) => Promise<void>>
  for (const { task, payload } of jobs) await tasks[task]?.(payload)
  await db.query(sql`select graphile_worker.complete_jobs(${jobs.map(({ id }) => id)}::bigint[])`)
  return jobs.map(({ task }) => task)
}

const refsOn = async ({ belfry: { storage }, repo }: Empty) => Object.fromEntries(await storage.refsOf(repo.id))
const known = async ({ belfry: { db }, repo }: Empty) =>
  Object.fromEntries(
    (await db.rows<{ name: string; sha: string }>(sql`select * from refs where repo_id = ${repo.id}`)).map(({ name, sha }) => [
      name,
      sha,
    ]),
  )

test('the duration is the time of work, without waiting for the user', async () => {
  await using forge = await openPushing()
  await using _ = forge.desk
  const { ada, refs, clock } = forge
  clock.advance(10_000)
  assert.partialDeepStrictEqual(await ada.read(path), { percent: 0, import_percent: 0 })
  await applyRunEvent(forge, 'needs_auth')
  clock.advance(3_600_000)
  await expect(200, await ada.patch(path, { vcs_password: 'hunter3' }))
  clock.advance(20_000)
  const large = { ref_name: 'refs/heads/trunk', path: 'a', oid: '1'.repeat(40), size: 200_000_000 }
  await applyRunEvent(forge, 'imported', { commit_count: 3, large_files: [large] })
  await applyRunEvent(forge, 'waits')
  clock.advance(3_600_000)
  await expect(200, await ada.patch(`${path}/lfs`, { use_lfs: 'opt_out' }))
  clock.advance(5_000)
  await applyRunEvent(forge, 'mapped', { report })
  await completeImport(forge.belfry, await present(forge), { refs, default_branch: 'trunk', commits: 2 })
  const { duration, commit_count, commits_count } = await ada.read(`${path}/report`)
  assert.deepEqual([duration, commit_count, commits_count], [35, 3, 2])
})

test('a complete import is a normal repository, published once, with hidden original refs', async () => {
  await using forge = await openPushing()
  await using desk = forge.desk
  const { ada, refs, one, two } = forge
  await hookOn(ada, 'repos/ada/engine', '*')
  const ben = await forge.person('ben')
  await expect(200, await ben.put('/repos/ada/engine/subscription', { subscribed: true }))
  await leadTo(forge, 'pushing')
  forge.clock.advance(60_000)
  const heard = await heardOf(forge, () => finish(forge, refs))
  for (const { event, payload } of heard) if (event !== 'RepositoryImportEvent') checkPayload(event, payload)
  assert.deepEqual(
    heard.map(({ event, payload }) => [event, payload.ref ?? payload.status, payload.repository.default_branch]),
    [
      ['RepositoryImportEvent', 'complete', 'trunk'],
      ['create', 'trunk', 'trunk'],
      ['repository_import', 'success', 'trunk'],
    ],
  )
  assert.equal(await finish(forge, refs), undefined, 'it is done')
  assert.deepEqual(lines(await eventsOf(ada, 'ada/engine')), ['ada CreateEvent trunk'])
  const [told] = await ben.read('/users/ben/received_events')
  assert.deepEqual([told.type, told.payload.ref, told.repo.name], ['CreateEvent', 'trunk', 'ada/engine'], 'a watcher sees it')
  const done = await ada.read(path)
  assert.partialDeepStrictEqual(done, { status: 'complete', status_text: 'Done' })
  assert.equal('push_percent' in done, false)
  assert.partialDeepStrictEqual(await ada.read(`${path}/report`), { branches_count: 2, tags_count: 2, duration: 60 })
  const repo = await ada.read('/repos/ada/engine')
  assert.deepEqual([repo.default_branch, repo.pushed_at, repo.size > 0], ['trunk', '2026-02-03T04:06:06Z', true])
  assert.deepEqual(await known(forge), refs)
  assert.partialDeepStrictEqual(await present(forge), { credentials: null, active: false, published: refs, moving: null })
  await expect(422, await ada.put(path, { vcs_url: 'https://source.example/x' }))

  const clone = await desk.clone(ada, 'ada/engine')
  assert.equal(await clone.git('rev-parse', 'HEAD'), one)
  assert.doesNotMatch(await clone.git('ls-remote', 'origin'), /refs\/import/)
  const shown: { ref: string }[] = await ada.read('/repos/ada/engine/git/refs')
  assert.deepEqual(shown.map(({ ref }) => ref).sort(), Object.keys(refs).sort())
  for (const name of ['import/orig/heads/trunk', 'refs/import/orig/heads/trunk']) {
    assert.equal((await ada.get(`/repos/ada/engine/git/ref/${name}`)).status, 404)
    assert.equal((await ada.get(`/repos/ada/engine/commits/${name}`)).status, 422)
  }
  const { storage } = forge.belfry
  await storage.copy(forge.repo.id, 4711, 'trunk', null)
  assert.deepEqual(Object.fromEntries(await storage.refsOf(4711)), refs, 'a fork has what is shown')
  const denied = await clone.attempt('push', 'origin', `${two}:refs/import/orig/heads/trunk`, `${one}:refs/import/orig/heads/new`)
  assert.match(denied.stderr, /deny updating a hidden ref/)
  assert.equal((await refsOn(forge))['refs/import/orig/heads/trunk'], one)
  assert.deepEqual(await known(forge), refs)
  assert.deepEqual((await present(forge)).published, refs, 'nobody has pushed')
})

test('a run killed between moving refs and recording them repeats both, and one event is published', async () => {
  await using forge = await openPushing()
  await using _ = forge.desk
  const { ada, refs } = forge
  const { db } = forge.belfry
  await leadTo(forge, 'pushing')
  await db.pool.query(`alter table refs add constraint out_of_order check (repo_id <> ${forge.repo.id})`)
  await assert.rejects(finish(forge, refs), /out_of_order/)
  await db.pool.query('alter table refs drop constraint out_of_order')
  assert.partialDeepStrictEqual(await refsOn(forge), refs)
  assert.equal((await ada.read(path)).status, 'pushing')
  // It was restarted meanwhile, with another result.
  await expect(200, await ada.patch(path))
  await leadTo(forge, 'pushing')
  const { 'refs/heads/side': side, ...fewer } = refs
  const others = { ...fewer, 'refs/heads/trunk': side ?? '' }
  assert.equal((await finish(forge, others))?.status, 'complete')
  assert.partialDeepStrictEqual(await refsOn(forge), others)
  assert.equal((await refsOn(forge))['refs/heads/side'], undefined)
  assert.deepEqual(lines(await eventsOf(ada, 'ada/engine')), ['ada CreateEvent trunk'])
  assert.deepEqual(await known(forge), others)
})

test('an import that is cancelled while its refs move leaves none', async () => {
  await using forge = await openPushing()
  await using _ = forge.desk
  const { ada, refs } = forge
  const { db, storage } = forge.belfry
  await leadTo(forge, 'pushing')
  const imported = await present(forge)
  const sizeOf = async () => expect(204, await ada.delete(path))
  const late = new Proxy(storage, {
    get: (target, name) => (name === 'sizeOf' ? sizeOf : Reflect.get(target, name).bind(target)),
  })
  assert.equal(await completeImport({ db, storage: late }, imported, { refs, default_branch: 'trunk' }), undefined)
  assert.deepEqual(Object.keys(await refsOn(forge)), ['refs/import/orig/heads/trunk'])
  // The same if the process is killed before it notices.
  await storage.moveRefs(
    forge.repo.id,
    Object.entries(refs).map(([ref, after]) => ({ ref, before: '0'.repeat(40), after })),
  )
  assert.deepEqual((await runJobs(forge)).sort(), ['forget_originals', 'withdraw_refs'])
  assert.deepEqual(await refsOn(forge), {})
  await expect(201, await ada.put(path, { vcs_url: 'https://source.example/x' }))
})

test('a push during the import is not overwritten', async () => {
  await using forge = await openPushing()
  await using desk = forge.desk
  const { ada, refs, two } = forge
  await leadTo(forge, 'pushing')
  const work = await desk.begin(ada, 'ada/engine')
  const pushed = await work.commit('Mine')
  await work.push('HEAD:trunk')
  await assert.rejects(finish(forge, refs), { name: 'Error', kind: 'error', message: /push of refs\/heads\/trunk/ })
  assert.equal((await refsOn(forge))['refs/heads/trunk'], pushed)
  assert.equal((await refsOn(forge))['refs/heads/side'], undefined)
  assert.notEqual(pushed, two)
})

/** With a pending author correction. */
async function finishWithAuthor(forge: Awaited<ReturnType<typeof openPushing>>) {
  const { id, run } = await present(forge)
  const author = { remote_id: 'ada', remote_name: 'ada', name: 'ada', email: 'ada@4f1c' }
  await recordProgress(forge.belfry.db, id, run, { authors: [author] })
  await leadTo(forge, 'pushing')
  await finish(forge, forge.refs)
  const [{ url }] = await forge.ada.read(`${path}/authors`)
  return { id, run, url }
}

test('authors can be corrected and the import repeated until the first push', async () => {
  await using forge = await openPushing()
  await using desk = forge.desk
  const { ada, refs, one, two } = forge
  const { url } = await finishWithAuthor(forge)
  await expect(200, await ada.patch(url, { name: 'Ada' }))
  assert.partialDeepStrictEqual(await present(forge), { status: 'complete', correcting: true, active: true })
  const rewritten = { ...refs, 'refs/heads/trunk': two, 'refs/tags/v1': two }
  assert.equal((await completeCorrection(forge.belfry, await present(forge), rewritten))?.status, 'complete')
  assert.deepEqual(await known(forge), rewritten)
  assert.partialDeepStrictEqual(await refsOn(forge), { ...rewritten, 'refs/import/orig/heads/trunk': one })
  assert.deepEqual((await present(forge)).published, rewritten)
  assert.deepEqual(lines(await eventsOf(ada, 'ada/engine')), ['ada CreateEvent trunk'])

  // A second import, in which the source has lost a branch.
  assert.equal((await expect(200, await ada.patch(path))).status, 'importing')
  await leadTo(forge, 'pushing')
  // A branch replaces another one with a conflicting name.
  const { 'refs/heads/side': _, ...others } = refs
  const fewer = { ...others, 'refs/heads/side/deep': two }
  await hookOn(ada, 'repos/ada/engine', 'repository_import')
  const [repeated] = await heardOf(forge, () => finish(forge, fewer))
  assert.equal(repeated?.payload.status, 'success')
  assert.deepEqual(await known(forge), fewer)
  assert.deepEqual(lines(await eventsOf(ada, 'ada/engine')), ['ada CreateEvent trunk'])

  const clone = await desk.clone(ada, 'ada/engine')
  await clone.commit('Go on')
  await clone.push()
  assert.partialDeepStrictEqual(await present(forge), { published: null, correcting: false, active: false })
  assert.deepEqual(await runJobs(forge), ['forget_originals'])
  assert.equal((await refsOn(forge))['refs/import/orig/heads/trunk'], undefined)
  assert.match((await expect(422, await ada.patch(url, { name: 'Late' }))).errors[0].message, /There was a push/)
  await expect(422, await ada.patch(path))
  assert.equal(await completeCorrection(forge.belfry, await present(forge), refs), undefined)
  assert.equal((await ada.read(`${path}/authors`))[0].name, 'Ada')
  await expect(204, await ada.delete(path))
  assert.deepEqual(Object.keys(await refsOn(forge)).sort(), Object.keys(fewer).sort())
})

test('a failed correction after the end is reported, and sending it again retries it', async () => {
  await using forge = await openPushing()
  await using desk = forge.desk
  const { ada, refs } = forge
  const { db } = forge.belfry
  const guest = await signedIn(forge, 'ada')
  const shown = async () => (await guest.get('/ada/engine/import')).text
  const { id, run, url } = await finishWithAuthor(forge)
  const errorOf = async () => (await ada.read(`${path}/report`)).correction_error
  /** A run that takes the corrections and fails. */
  const fail = async () => {
    await db.transaction((transaction) => takeCorrections(transaction, { id, run }))
    await applyRunEvent(forge, 'failed', { message: 'The disk <b> is full.' })
  }
  await expect(200, await ada.patch(url, { name: 'Ada' }))
  await fail()
  assert.partialDeepStrictEqual(await present(forge), { status: 'complete', correcting: false, active: false })
  assert.match((await ada.read(path)).status_text, /not in the commits.*correction_error/)
  assert.equal(await errorOf(), 'The disk <b> is full.')
  assert.match(await shown(), /not in the commits\. The disk &lt;b&gt; is full\. Save an author again/)

  await expect(200, await ada.patch(url, { name: 'Ada' }))
  assert.partialDeepStrictEqual(await present(forge), { correcting: true, active: true })
  assert.deepEqual([await errorOf(), (await ada.read(path)).status_text], [null, 'Done'])
  await db.transaction((transaction) => takeCorrections(transaction, { id, run }))
  // Another correction during the failure is still pending.
  await expect(200, await ada.patch(url, { name: 'Ada L' }))
  await applyRunEvent(forge, 'failed', { message: 'The disk is full.' })
  assert.partialDeepStrictEqual(await present(forge), { correcting: true, active: true, message: null })
  await fail()
  await expect(200, await ada.patch(url, {}))
  assert.equal((await completeCorrection(forge.belfry, await present(forge), refs))?.message, null)
  assert.equal(await errorOf(), null)

  // A push before the rewrite keeps the commits.
  await expect(200, await ada.patch(url, { name: 'Ada Byron' }))
  const clone = await desk.clone(ada, 'ada/engine')
  await clone.commit('Go on')
  await clone.push()
  assert.match(await errorOf(), /A push arrived before/)
  const page = await shown()
  assert.match(page, /not in the commits\. A push arrived before/)
  assert.doesNotMatch(page, /Save an author again/)
})

test('an empty source, or one with a missing default branch, is imported', async () => {
  await using forge = await openPushing()
  await using _ = forge.desk
  const { ada, one } = forge
  await leadTo(forge, 'pushing')
  assert.equal((await finish(forge, {}, null))?.status, 'complete')
  assert.deepEqual(await eventsOf(ada, 'ada/engine'), [])
  assert.equal((await ada.read('/repos/ada/engine')).default_branch, 'main')
  await expect(200, await ada.patch(path))
  await leadTo(forge, 'pushing')
  await finish(forge, { 'refs/heads/zeta': one, 'refs/heads/beta': one }, 'gone')
  assert.equal((await ada.read('/repos/ada/engine')).default_branch, 'beta')
  assert.deepEqual(lines(await eventsOf(ada, 'ada/engine')), ['ada CreateEvent beta'])
})
