import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { type Guest, signedIn } from '#test/guest.ts'
import { applyRunEvent, openEmpty, page, people, present, report, path as route, start } from '#test/imports/import-states.ts'
import { openCredentials } from './credentials.ts'
import { recordProgress } from './progress.ts'

const large = { ref_name: 'refs/import/orig/heads/trunk', path: 'disk <b>.iso', oid: 'd'.repeat(40), size: 157_286_400 }

/** Submits a form of the current page. */
async function act(guest: Guest, end: string, fields: Record<string, string> = {}) {
  const { text } = await guest.get(page)
  const seen = /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? ''
  return guest.post(page + end, { seen, ...fields })
}

test('the page shows progress and remaining time, and asks for confirmation before it cancels', async () => {
  await using forge = await openEmpty()
  const { clock, belfry } = forge
  const ada = await signedIn(forge, 'ada')
  await start(forge.ada)
  const shown = async () => (await ada.get(page)).text
  assert.match(
    await shown(),
    /aria-current="step">Detect <span class="how">under way[\s\S]*<progress aria-labelledby[\s\S]*not known yet/,
  )
  assert.match(await shown(), /<noscript><p><a href="\/ada\/engine\/import">Refresh/)
  await applyRunEvent(forge, 'found', { vcs: 'subversion', svn_root: 'libs/a' })
  const { id, run } = await present(forge)
  await recordProgress(belfry.db, id, run, { percent: 1, commit_count: 1234, authors: people })
  assert.match(
    await shown(),
    /aria-current="step">Import[\s\S]*value="1"[\s\S]*Subversion[\s\S]*libs\/a[\s\S]*1,234[\s\S]*<dd>2<\/dd>/,
  )
  clock.advance(10 * 60_000)
  assert.equal((await shown()).includes(' left'), false)
  for (const [percent, left] of [
    [40, 'about 15 minutes left'],
    [80, 'about 3 minutes left'],
    [99, 'less than a minute left'],
  ] as const) {
    await recordProgress(belfry.db, id, run, { percent })
    assert.match(await shown(), new RegExp(`${percent} %.*${left}`))
  }
  clock.advance(60_000)
  await applyRunEvent(forge, 'imported', { commit_count: 2000 })
  assert.match(await shown(), /aria-current="step">Map[\s\S]*<progress aria-labelledby/)
  await applyRunEvent(forge, 'mapped', { report })
  await recordProgress(belfry.db, id, run, { push_percent: 50 })
  assert.match(await shown(), /aria-current="step">Publish[\s\S]*value="50"/)
  assert.equal((await shown()).includes(' left'), false)
  const left_out = [{ path: 'branches/<x>', revisions: [3, 9] as [number, number], count: 12, reason: 'deleted' as const }]
  await recordProgress(belfry.db, id, run, { left_out })
  await recordProgress(belfry.db, id, run, { push_percent: 60 })
  assert.match(await shown(), /branches\/&lt;x&gt;<\/td><td>3 to 9<\/td><td>12<\/td><td>Deleted later/)
  assert.match((await ada.get(`${page}/cancel`)).text, /Cancel this import\?[\s\S]*Keep importing/)
  assert.equal((await present(forge)).status, 'pushing')
  assert.equal((await ada.post(`${page}/cancel`, {})).location, `${page}?done=cancelled`)
  assert.match((await ada.get(`${page}?done=cancelled`)).text, /The import is deleted[\s\S]*name="vcs_url"/)
  assert.equal((await ada.post(`${page}/cancel`, {})).status, 404)
})

test('a waiting import shows what it needs, and resumes with it', async () => {
  await using forge = await openEmpty()
  const ada = await signedIn(forge, 'ada')
  const shown = async () => (await ada.get(page)).text
  await start(forge.ada, { svn_ignore: true, gitattributes: true })
  await applyRunEvent(forge, 'needs_auth')
  assert.match(await shown(), /The source asks for credentials[\s\S]*name="vcs_password"/)
  const nothing = await act(ada, '/credentials', { vcs_username: ' ', vcs_password: '' })
  assert.equal(nothing.status, 422)
  assert.match(nothing.text, /id="vcs_username-error">Enter a user name, a password, or both\./)
  assert.equal((await act(ada, '/credentials', { vcs_username: 'u', vcs_password: 'a\nb' })).status, 422)
  assert.equal((await present(forge)).status, 'detection_needs_auth')
  assert.equal((await act(ada, '/credentials', { vcs_username: 'u', vcs_password: 'hush' })).location, `${page}?done=resumed`)
  const row = await present(forge)
  assert.equal(row.status, 'detecting')
  assert.deepEqual(openCredentials(forge.belfry.vault, row), { username: 'u', password: 'hush' })
  // Two clicks resume it once.
  const stale = { seen: `${row.id}-${row.run - 1}`, vcs_username: 'v', human_name: 'x' }
  for (const end of ['/credentials', '/restart', '/project']) {
    assert.equal((await ada.post(page + end, stale)).location, `${page}?done=meanwhile`)
  }
  assert.equal((await present(forge)).run, row.run)
  await applyRunEvent(forge, 'auth_failed')
  assert.match(await shown(), /Other credentials are needed[\s\S]*The source does not accept the user name and password/)
  await act(ada, '/credentials', { vcs_password: 'a token' })

  const choices = [
    { vcs: 'subversion' as const, svn_root: 'libs/a', human_name: 'a & b' },
    { vcs: 'tfvc' as const, tfvc_project: 'Mill', human_name: 'Mill' },
  ]
  await applyRunEvent(forge, 'found_multiple', { project_choices: choices })
  assert.match(await shown(), /Which project do you want to import\?[\s\S]*value="libs\/a"[\s\S]*a &amp; b[\s\S]*Mill/)
  for (const wrong of [{}, { human_name: 'c' }, { human_name: 'Mill', vcs: 'git' }]) {
    const { status, text } = await act(ada, '/project', wrong)
    assert.equal(status, 422)
    assert.match(text, /role="alert"/)
  }
  assert.equal((await present(forge)).status, 'detection_found_multiple')
  assert.equal((await act(ada, '/project', choices[0] ?? {})).location, `${page}?done=resumed`)
  assert.partialDeepStrictEqual(await present(forge), { status: 'importing', vcs: 'subversion', svn_root: 'libs/a' })

  await applyRunEvent(forge, 'failed', { message: 'The server of <b>the source</b> hung up.' })
  assert.match(await shown(), /The import failed at “Import”[\s\S]*of &lt;b&gt;the source[\s\S]*Restart[\s\S]*Start over/)
  for (const name of ['svn_ignore', 'gitattributes'])
    assert.match(await shown(), new RegExp(`name="${name}" value="true" checked`))
  assert.match((await ada.get('/ada/engine')).text, /needs your input/)
  assert.equal((await act(ada, '/restart')).location, `${page}?done=restarted`)
  assert.equal((await present(forge)).status, 'importing')

  await expect(204, await forge.ada.delete(route))
  await start(forge.ada)
  await applyRunEvent(forge, 'found_nothing')
  assert.match(await shown(), /No repository was found[\s\S]*Try again[\s\S]*value="https:\/\/source\.example\/engine"/)
  assert.equal((await act(ada, '/restart')).location, `${page}?done=restarted`)
  await applyRunEvent(forge, 'found_nothing')
  const wrong = await ada.post(page, { vcs_url: 'nowhere' })
  assert.match(wrong.text, /No repository was found[\s\S]*id="vcs_url-error"/)
  assert.equal((await ada.post(page, { vcs_url: 'https://source.example/right' })).location, `${page}?done=started`)
  assert.partialDeepStrictEqual(await present(forge), { status: 'detecting', vcs_url: 'https://source.example/right', vcs: null })
})

test('large files wait for a choice, authors are corrected by row, and the end shows a report', async () => {
  await using forge = await openEmpty()
  const { db } = forge.belfry
  const ada = await signedIn(forge, 'ada')
  const shown = async () => (await ada.get(page)).text
  await start(forge.ada, { vcs: 'subversion' })
  const { id, run } = await present(forge)
  const many = Array.from({ length: 58 }, (_, index) => ({ ...people[1], remote_id: `x${index}`, remote_name: '<i>' }))
  await recordProgress(db, id, run, { authors: [...people, ...(many as typeof people)] })
  const [bob] = await forge.ada.read(`${route}/authors`)
  const rowOf = async (path = page) =>
    new RegExp(`<tr id="author-${bob.id}">[\\s\\S]*?</tr>`).exec((await ada.get(path)).text)?.[0] ?? ''
  assert.match(await rowOf(), /aria-label="Name of bob"[\s\S]*aria-label="Email of bob"[\s\S]*aria-label="Save bob"/)
  const second = await ada.get(`${page}?page=2`)
  assert.match(second.text, /Page 2 of 2/)
  assert.equal(second.text.match(/<tr id="author-/g)?.length, 10)
  const correct = (fields: Record<string, string>) => ada.post(`${page}/authors/${bob.id}`, fields)
  for (const [fields, field] of [
    [{ name: 'Bob <b>', email: 'bob@example.com' }, 'name'],
    [{ name: 'Bob', email: 'bob' }, 'email'],
  ] as const) {
    const { status, text } = await correct(fields)
    assert.equal(status, 422)
    const error = `id="${field}-${bob.id}" name="${field}" value="${fields[field].replace('<b>', '&lt;b&gt;')}"[^>]*aria-invalid="true"[\\s\\S]*?id="${field}-${bob.id}-error"`
    assert.match(text, new RegExp(error))
  }
  const fixed = await correct({ name: 'Bob Baker', email: 'bob@example.com', page: '1' })
  assert.equal(fixed.location, `${page}?done=corrected&page=1#author-${bob.id}`)
  assert.match(await rowOf(), /corrected[\s\S]*value="Bob Baker"[\s\S]*value="bob@example\.com"/)

  await applyRunEvent(forge, 'imported', { commit_count: 3, large_files: [large] })
  await applyRunEvent(forge, 'waits', { large_files: [large] })
  assert.match(
    await shown(),
    /aria-current="step">Map <span class="how">waits for you[\s\S]*The import waits for your choice[\s\S]*Store them with Git LFS[\s\S]*Leave them out[\s\S]*disk &lt;b&gt;\.iso[\s\S]*trunk[\s\S]*150 MB/,
  )
  assert.equal((await ada.post(`${page}/lfs`, { use_lfs: 'undecided' })).status, 422)
  assert.equal((await ada.post(`${page}/lfs`, { use_lfs: 'opt_in' })).location, `${page}?done=chosen`)
  assert.match(await shown(), /They are stored with Git LFS/)
  await applyRunEvent(forge, 'mapped', { report })
  const late = await ada.post(`${page}/lfs`, { use_lfs: 'opt_out' })
  assert.equal(late.status, 422)
  assert.match(late.text, /role="alert">It is too late to choose/)

  forge.clock.advance(90_000)
  const mismatches = [{ where: 'r7', path: 'a <b>', what: 'is missing' }]
  const remarks = [
    { what: 'external definition' as const, path: '', text: 'ext http://x.example/<a>', revision: 7 },
    { what: 'other line ends' as const, path: 'mixed.txt', text: 'svn:eol-style native' },
  ]
  const told = { ...report, remarks, branches_count: 4, verification: { ...report.verification, mismatches } }
  await applyRunEvent(forge, 'pushed', { published: { 'refs/heads/trunk': 'a'.repeat(40) }, report: told })
  const complete = await shown()
  assert.match(complete, /Go to the repository[\s\S]*Branches<\/dt><dd>4[\s\S]*2 minutes[\s\S]*1 difference found/)
  assert.match(
    complete,
    /1 branch, 1 tag, a sample of revisions \(3\), 7 files in all[\s\S]*r7[\s\S]*a &lt;b&gt;[\s\S]*is missing/,
  )
  assert.match(
    complete,
    /External definition<\/td><td class="address">\/<\/td><td class="address">ext http:\/\/x\.example\/&lt;a&gt;<\/td><td>7</,
  )
  assert.match(complete, /Other line ends<\/td><td class="address">mixed\.txt<\/td><td class="address">svn:eol-style native</)
  assert.match(complete, /has the bytes that Subversion stores/)
  assert.deepEqual((await forge.ada.read(`${route}/report`)).remarks, remarks)
  assert.match(complete, /2 empty folders[\s\S]*bob<\/span> is <strong>Bob Baker/)
  assert.match((await ada.get('/ada/engine')).text, /Imported from https:\/\/source\.example\/engine/)
  assert.match((await correct({ name: 'Bob', email: 'bob@example.com' })).location ?? '', /done=corrected/)
  assert.match(await shown(), /The commits are being rewritten/)

  const content = Buffer.from('It turns.').toString('base64')
  await expect(201, await forge.ada.put('/repos/ada/engine/contents/README.md', { message: 'Go on', content }))
  const ended = await shown()
  assert.match(ended, /There was a push to the repository after the import/)
  assert.equal(/aria-label="Save|Import again/.test(ended), false)
  const refused = await correct({ name: 'Robert', email: 'bob@example.com' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /role="alert">There was a push/)
  const last = await present(forge)
  const again = await ada.post(`${page}/restart`, { seen: `${last.id}-${last.run}` })
  assert.equal(again.status, 422)
  assert.match(again.text, /role="alert">There was a push/)
  assert.match((await ada.get(`${page}/cancel`)).text, /Forget this import\?/)
  await ada.post(`${page}/cancel`, {})
  assert.match(await shown(), /is not empty/)
})
