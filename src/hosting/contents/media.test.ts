import assert from 'node:assert/strict'
import { test } from 'node:test'
import { licenses, readLicenseTemplate } from '#hosting/templates/licenses.ts'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, linesOf } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { detectLicense } from './licenses.ts'

test('a file is sent as bytes of any size and as a page, a folder as an object', async () => {
  await using opened = await openEngine()
  const { ada, work, forge } = opened
  const large = Buffer.alloc((1 << 20) + 7, 'x')
  await work.commit('Begin', { 'a <b>.txt': '1 < 2\n', 'docs/notes.md': '# Notes\n\n<script>x</script>', 'large.bin': large })
  await work.push('HEAD', 'HEAD:refs/heads/feature/x')
  const as = (medium: string, path: string, headers = {}) =>
    forge.nobody.with({ accept: `application/vnd.github.v3.${medium}`, ...headers }).get(`${engine}/contents/${path}`)
  const raw = await as('raw', 'a%20%3Cb%3E.txt?ref=feature/x')
  assert.equal(raw.headers.get('content-type'), 'application/vnd.github.v3.raw; charset=utf-8')
  assert.equal(await raw.text(), '1 < 2\n')
  assert.equal((await as('raw', 'a%20%3Cb%3E.txt', { 'if-none-match': raw.headers.get('etag') })).status, 304)
  assert.ok(Buffer.from(await (await as('raw', 'large.bin')).arrayBuffer()).equals(large))
  assert.equal((await ada.with({ accept: 'application/vnd.github.raw+json' }).head(`${engine}/contents/large.bin`)).status, 200)
  assert.match(await (await as('html', 'a%20%3Cb%3E.txt')).text(), /data-path="a &lt;b&gt;.txt"><pre>1 &lt; 2\n<\/pre>/)
  const page = await (await as('html', 'docs/notes.md')).text()
  assert.match(page, /<article[^>]*><h1>Notes<\/h1>/)
  assert.doesNotMatch(page, /<script>/)
  assert.equal((await as('html', 'large.bin')).status, 403)
  assert.deepEqual(linesOf(await expect(200, await as('raw', 'docs')), 'name'), ['notes.md'])
  const folder = await expect(200, await as('object', 'docs'))
  assert.deepEqual([folder.type, folder.path, linesOf(folder.entries, 'path')], ['dir', 'docs', ['docs/notes.md']])
  assert.equal(folder.sha, await work.git('rev-parse', 'HEAD:docs'))
  assert.equal((await expect(200, await as('object', ''))).entries.length, 3)
  assert.equal((await expect(200, await as('object', 'docs/notes.md'))).encoding, 'base64')
})

test('the README and the license are found by their names', async () => {
  await using opened = await openEngine()
  const { ada, work, forge } = opened
  await expect(404, await ada.get(`${engine}/readme`))
  const mit = `MIT License\n\nPermission is hereby granted, free of charge, to any\nperson … The above copyright notice and this\npermission notice shall be included`
  await work.commit('Begin', {
    'README.txt': 'plain\n',
    'docs/readme.md': '*docs*\n',
    'src/README': 'src\n',
    'LICENSE.md': mit,
    'README/x': 'a folder',
  })
  await work.push('HEAD', 'HEAD:refs/heads/old')
  const readme = async (path: string) => (await ada.read(`${engine}/readme${path}`)).path
  assert.deepEqual(
    [await readme(''), await readme('/docs'), await readme('/src/')],
    ['README.txt', 'docs/readme.md', 'src/README'],
  )
  await expect(404, await ada.get(`${engine}/readme/README`))
  await expect(404, await ada.get(`${engine}/readme/../x`))
  await work.commit('Better', { 'readme.md': '# Engine\n', 'LICENSE.md': 'All rights reserved' })
  await work.push()
  assert.deepEqual([await readme(''), await readme('?ref=old')], ['readme.md', 'README.txt'])
  const page = await forge.nobody.with({ accept: 'application/vnd.github.html' }).get(`${engine}/readme`)
  assert.match(await page.text(), /<h1>Engine<\/h1>/)
  assert.equal((await ada.read(`${engine}/license?ref=old`)).license.spdx_id, 'MIT')
  assert.equal((await ada.read(`${engine}/license`)).license.spdx_id, 'NOASSERTION')
  await expect(404, await ada.get(`${engine}/license?ref=gone`))
  await expect(200, await ada.get((await ada.read(`${engine}/license?ref=old`)).license.url))
  await checkContracts(ada, () => [
    ['repos/get-readme', 'get', `${engine}/readme`],
    ['repos/get-readme-in-directory', 'get', `${engine}/readme/docs`],
    ['licenses/get-for-repo', 'get', `${engine}/license?ref=old`],
    ['repos/get-content', 'get', `${engine}/contents/readme.md`],
  ])
})

test('every license that Belfry offers is recognized by its text', async () => {
  for (const { key, spdx_id } of licenses) {
    assert.equal(detectLicense((await readLicenseTemplate(key)).body).spdx_id, spdx_id)
  }
})
