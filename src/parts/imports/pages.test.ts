import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, expect } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { openEmpty, page, people, present, path as route, start, vcs_url } from '#test/imports/import-states.ts'
import { listen } from '#test/streams.ts'
import { openCredentials } from './credentials.ts'
import { recordProgress } from './progress.ts'

/** Ben may push to Ada's repository; Cy may only read it. */
async function openShared(settings: Record<string, string> = {}) {
  const forge = await openEmpty(settings)
  const [ben, cy] = [await forge.person('ben'), await forge.person('cy')]
  for (const [person, permission] of [
    [ben, 'push'],
    [cy, 'triage'],
  ] as const) {
    const { id } = await expect(201, await forge.ada.put(`/repos/ada/engine/collaborators/${person.login}`, { permission }))
    await expect(204, await person.patch(`/user/repository_invitations/${id}`))
  }
  return Object.assign(forge, { ben, cy })
}

test('only viewers who may push see the page, and only its own forms are accepted', async () => {
  await using forge = await openShared()
  const [ada, ben, cy, nobody] = [
    await signedIn(forge, 'ada'),
    await signedIn(forge, 'ben'),
    await signedIn(forge, 'cy'),
    new Guest(forge),
  ]
  for (const guest of [ada, ben]) {
    assert.equal((await guest.get(page)).status, 200)
    assert.match((await guest.get('/ada/engine')).text, /This repository is empty[\s\S]*href="\/ada\/engine\/import"/)
  }
  assert.equal((await ada.get(`${page}/cancel`)).status, 404)
  for (const guest of [cy, nobody]) assert.equal((await guest.get('/ada/engine')).text.includes('/ada/engine/import'), false)
  await start(forge.ada, { vcs: 'subversion' })
  const { id, run } = await present(forge)
  await recordProgress(forge.belfry.db, id, run, { authors: people })
  const [author] = await forge.ada.read(`${route}/authors`)
  for (const shown of [page, `${page}/cancel`]) {
    const answer = await cy.get(shown)
    assert.equal(answer.status, 404)
    assert.match(answer.text, /There is no such page/)
    assert.equal((await nobody.get(shown)).location, `/login?return_to=${encodeURIComponent(shown)}`)
  }
  for (const guest of [cy, nobody]) assert.equal((await guest.get(`${page}/stream`)).status, 404)
  const fields = { vcs_url, vcs_username: 'u', use_lfs: 'opt_in', name: 'Bob', email: 'bob@example.com', human_name: 'x' }
  for (const end of ['', '/automation', '/credentials', '/project', '/restart', '/lfs', `/authors/${author.id}`, '/cancel']) {
    assert.equal((await cy.post(page + end, fields)).status, 404, end)
    assert.equal((await ada.post(page + end, { ...fields, csrf: 'x' })).status, 403, end)
    assert.match((await nobody.fill('/login', fields, page + end)).text, /<h1>Sign in to Belfry<\/h1>/)
  }
  assert.equal((await ben.post(`${page}/automation`, {})).status, 403)
  assert.deepEqual((await forge.ada.read(`${route}/authors`))[0], author)
  assert.partialDeepStrictEqual(await present(forge), { id, run, use_lfs: 'undecided' })
  for (const wrong of ['0', 'x', '1e3', '9'.repeat(30), '%00', `${author.id + 100}`]) {
    assert.ok([400, 404].includes((await ada.post(`${page}/authors/${wrong}`, fields)).status), wrong)
  }
  assert.match((await ben.get('/ada/engine')).text, /An import into this repository is in progress/)
  await expect(200, await forge.ada.patch('/repos/ada/engine', { name: 'motor' }))
  assert.equal((await ada.get(page)).location, '/ada/motor/import')
  for (const end of ['', '/restart', '/cancel']) {
    const moved = await ada.post(page + end, { vcs_url })
    assert.equal(moved.status, 409, end)
    assert.match(moved.text, /is called ada\/motor now/)
  }
  assert.equal((await ada.post('/ada/engine/issues/new', { title: 'As on every page' })).status, 409)
})

test('the stream of a page reports changes, and ends when access is revoked', async () => {
  await using forge = await openShared()
  const ben = await signedIn(forge, 'ben')
  const cookie = [...ben.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  await using stream = await listen(new Client(forge.web, { cookie }), `${page}/stream`)
  assert.equal(stream.answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  await start(forge.ada)
  assert.deepEqual(await stream.until(1), [{}])
  const { id, run } = await present(forge)
  await recordProgress(forge.belfry.db, id, run, { authors: people })
  assert.deepEqual(await stream.until(2), [{}, {}])
  await expect(204, await forge.ada.delete('/repos/ada/engine/collaborators/ben'))
  await stream.ended
})

test('closed imports are shown as such to those who may import, and are 404 for others', async () => {
  for (const [settings, status, text] of [
    [{ BELFRY_IMPORTS: 'maintenance' }, 503, /under maintenance/],
    [{ BELFRY_IMPORTS_CLOSE_AT: '2025-01-01T00:00:00Z' }, 410, /closed since 2025-01-01T00:00:00Z/],
  ] as const) {
    await using forge = await openShared(settings)
    const [ada, cy] = [await signedIn(forge, 'ada'), await signedIn(forge, 'cy')]
    for (const answer of [await ada.get(page), await ada.post(page, { vcs_url }), await ada.post(`${page}/cancel`, {})]) {
      assert.equal(answer.status, status)
      assert.match(answer.text, text)
    }
    assert.equal((await cy.get(page)).status, 404)
    const { text: shown } = await ada.get('/ada/engine')
    assert.match(shown, /This repository is empty/)
    assert.equal(shown.includes('/ada/engine/import'), false)
  }
})

test('errors are next to their fields, input is kept, and a password is never shown', async () => {
  await using forge = await openEmpty()
  const ada = await signedIn(forge, 'ada')
  const filled = {
    vcs_url,
    vcs: 'tfvc',
    vcs_username: 'svn "user"',
    vcs_password: ' hush hush ',
    tfvc_project: 'Mill',
    svn_ignore: 'true',
    gitattributes: 'true',
    svn_trunk: 'main',
    svn_branches: 'users/*/*, old',
    svn_tags: '',
    keep_deleted: 'true',
    verify: 'full',
  }
  await ada.get(page)
  for (const [change, field, text] of [
    [{ vcs_url: '' }, 'vcs_url', /This cannot be blank\./],
    [{ vcs_url: 'file:///etc' }, 'vcs_url', /It does not begin with http:/],
    [{ vcs_url: 'svn://source.example/a' }, 'vcs_url', /./],
    [{ vcs_url: 'http://169.254.169.254/' }, 'vcs_url', /./],
    [{ vcs_url: `https://source.example/${'a'.repeat(2048)}` }, 'vcs_url', /longer than 2048/],
    [{ tfvc_project: 'a/b' }, 'tfvc_project', /This must be the name of a project\./],
    [{ tfvc_project: 'a'.repeat(256) }, 'tfvc_project', /longer than 255/],
    [{ vcs_username: 'a\u0007b' }, 'vcs_username', /This must not hold control characters/],
    [{ vcs_username: 'a'.repeat(1025) }, 'vcs_username', /longer than 1024/],
    [{ vcs_password: 'a\nb' }, 'vcs_password', /control characters/],
    [{ vcs: 'cvs' }, '', /Choose one of these\./],
    [{ svn_trunk: '' }, 'svn_trunk', /Enter the folder that becomes the default branch/],
    [{ svn_tags: 'a'.repeat(2049) }, 'svn_tags', /longer than 2048/],
  ] as const) {
    const { status, text: shown } = await ada.post(page, { ...filled, ...change })
    assert.equal(status, 422, field)
    assert.match(shown, /role="alert">One field is not valid/)
    assert.match(field ? (new RegExp(`id="${field}-error">([^<]*)`).exec(shown)?.[1] ?? '') : shown, text)
    assert.equal(/hush|a\nb/.test(shown), false)
    assert.match(shown, /Type it again: forms do not keep passwords/)
    if (field !== 'vcs_username') assert.match(shown, /value="svn &quot;user&quot;"/)
    assert.match(shown, /value="full" checked/)
    for (const name of ['svn_ignore', 'gitattributes', 'keep_deleted'])
      assert.match(shown, new RegExp(`name="${name}" value="true" checked`))
  }
  await expect(404, await forge.ada.get(route))
  const started = await ada.post(page, filled)
  assert.equal(started.location, `${page}?done=started`)
  const row = await present(forge)
  const svn_layout = { trunk: 'main', branches: ['users/*/*', 'old'], tags: [] }
  assert.partialDeepStrictEqual(row, { svn_layout, keep_deleted: true, gitattributes: true })
  assert.partialDeepStrictEqual(row, { vcs: 'tfvc', vcs_url, tfvc_project: 'Mill', svn_ignore: true, verify_all: true })
  assert.equal(row.status, 'importing')
  assert.deepEqual(openCredentials(forge.belfry.vault, row), { username: 'svn "user"', password: ' hush hush ' })
  const shown = await ada.get(`${page}?done=started`)
  assert.match(shown.text, /role="status">.*The import has started/)
  assert.match(shown.text, /Team Foundation \(TFVC\)[\s\S]*Mill/)
  assert.equal(/hush|svn &quot;/.test(shown.text), false)
  // A form of another window does not replace a running import.
  const second = await ada.post(page, { vcs_url: 'https://other.example/' })
  assert.equal(second.status, 422)
  assert.match(second.text, /role="alert">An import into this repository is in progress/)
  assert.equal((await present(forge)).id, row.id)
  assert.equal((await ada.get(`${page}?done=constructor`)).text.includes('class="banner success"'), false)
})

test('a repository that cannot take an import shows the reason and what to do', async () => {
  await using forge = await openShared()
  const [ada, ben] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ben')]
  const refused = async (text: RegExp, status = 422) => {
    const shown = await ada.get(page)
    assert.equal(shown.status, 200)
    assert.match(shown.text, text)
    assert.equal(shown.text.includes('name="vcs_url"'), false)
    assert.equal((await ada.post(page, { vcs_url })).status, status)
    await expect(404, await forge.ada.get(route))
  }
  await expect(204, await forge.ada.put('/repos/ada/engine/actions/permissions', { enabled: true }))
  await refused(/has automation enabled[\s\S]*Disable automation/)
  assert.match((await ben.get(page)).text, /Ask an administrator of the repository/)
  assert.equal((await ada.post(`${page}/automation`, {})).location, `${page}?done=disabled`)
  assert.match((await ada.get(page)).text, /name="vcs_url"/)
  await expect(200, await forge.ada.patch('/repos/ada/engine', { archived: true }))
  await refused(/is archived/, 403)
  await expect(200, await forge.ada.patch('/repos/ada/engine', { archived: false }))
  const content = Buffer.from('It turns.').toString('base64')
  await expect(201, await forge.ada.put('/repos/ada/engine/contents/README.md', { message: 'Begin', content }))
  await refused(/is not empty[\s\S]*Create a new repository/)
  assert.equal((await ada.get('/ada/engine')).text.includes('This repository is empty'), false)
})
