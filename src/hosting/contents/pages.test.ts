import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { Guest } from '#test/guest.ts'

/** The text of the numbered lines of a page. */
const contentsIn = (page: string) =>
  [...page.matchAll(/<span class="line" id="L\d+"><a [^>]*>\d+<\/a>([^\n]*\n)<\/span>/g)]
    .map(([, line = '']) => line.replaceAll(/<[^>]*>/g, ''))
    .join('')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

test('files and folders have pages, also in a branch with slashes, and never run what they contain', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  const script = '<script>alert(1)</script>\nsecond\n'
  const files = { 'src/a b.html': script, 'blob.bin': Buffer.from([0, 1, 2]), 'src/<b>.txt': 'x' }
  await work.commit('Add files', files)
  await work.push('HEAD', 'HEAD:refs/heads/feature/x')
  const guest = new Guest(forge)
  for (const ref of ['main', 'feature/x', await work.head()]) {
    const page = await guest.get(`/ada/engine/blob/${ref}/src/a%20b.html`)
    assert.equal(page.status, 200)
    assert.doesNotMatch(page.text, /<script>/)
    assert.equal(contentsIn(page.text), script)
    const folder = await guest.get(`/ada/engine/tree/${ref}/src`)
    assert.match(folder.text, /\/src\/%3Cb%3E\.txt">&lt;b&gt;\.txt<\/a>/)
    const raw = await guest.get(`/ada/engine/raw/${ref}/src/a%20b.html`)
    assert.equal(raw.text, script)
    assert.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(raw.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(raw.headers.get('content-security-policy'), 'sandbox')
  }
  assert.match((await guest.get('/ada/engine/tree/main')).text, /blob\/main\/blob\.bin/)
  assert.match((await guest.get('/ada/engine/blob/main/blob.bin')).text, /This file is binary/)
  assert.equal((await guest.get('/ada/engine/raw/main/blob.bin')).headers.get('content-type'), 'application/octet-stream')
  for (const path of ['blob/main/gone', 'raw/main/src', 'blob/gone/src', 'tree/', 'raw/main/../../x', 'blob/main/%00'])
    assert.equal((await guest.get(`/ada/engine/${path}`)).status, 404, path)
  assert.equal((await guest.get('/ada/engine.git')).location, '/ada/engine')
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  for (const kind of ['tree', 'blob', 'raw']) assert.equal((await guest.get(`/ada/engine/${kind}/main/blob.bin`)).status, 404)
})

test('comparisons and pull requests are pages, diffs and patches', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  await work.commit('First')
  await work.push()
  await work.git('checkout', '--quiet', '-b', 'topic')
  await work.commit('Add <b>', { 'new.txt': '<i>\n' })
  await work.push('topic')
  await expect(201, await ada.post('/repos/ada/engine/pulls', { title: 'Topic', head: 'topic', base: 'main' }))
  const guest = new Guest(forge)
  for (const path of ['compare/main...topic', 'pull/1']) {
    const diff = await guest.get(`/ada/engine/${path}.diff`)
    assert.match(diff.text, /^diff --git a\/new\.txt b\/new\.txt[\s\S]*\+<i>\n$/)
    assert.equal(diff.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.match((await guest.get(`/ada/engine/${path}.patch`)).text, /^From [0-9a-f]{40} [\s\S]*Subject: \[PATCH\] Add <b>/)
  }
  const page = await guest.get('/ada/engine/compare/main...topic')
  assert.match(page.text, /1 commit[\s\S]*Add &lt;b&gt;[\s\S]*&lt;i&gt;/)
  for (const path of ['compare/main...gone', 'compare/main...eve:topic', 'pull/2.diff', 'pull/x.diff'])
    assert.equal((await guest.get(`/ada/engine/${path}`)).status, 404, path)
})
