import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectLicense } from '#hosting/contents/licenses.ts'
import { assertDocumented } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf, withPeople } from '#test/forge.ts'
import { licenses } from './licenses.ts'

const inject = injecting(withPeople('ada'))

test('every license that is listed has its text', inject(async ({ nobody }) => {
  assert.deepEqual(linesOf(await nobody.read('/licenses?featured=true'), 'key'), ['apache-2.0', 'gpl-3.0', 'mit'])
  assert.equal((await nobody.read('/licenses?per_page=2&page=2'))[1].key, licenses[3]?.key)
  for (const { key, spdx_id } of licenses) {
    const { body, url } = await nobody.read(`/licenses/${spdx_id}`)
    assert.match(url, new RegExp(`/licenses/${key}$`))
    assert.equal(detectLicense(body).key, key)
  }
  for (const key of ['nothing', '..%2flicenses', '%00']) assert.equal((await nobody.get(`/licenses/${key}`)).status, 404)
}))

test('templates and emoji are listed, and each of them answers', inject(async ({ nobody }) => {
  const names: string[] = await nobody.read('/gitignore/templates')
  assert.ok(names.includes('Node') && names.includes('C++'))
  for (const name of names) assert.ok((await nobody.read(`/gitignore/templates/${encodeURIComponent(name)}`)).source)
  assert.equal((await nobody.get('/gitignore/templates/constructor')).status, 404)
  const emojis: Record<string, string> = await nobody.read('/emojis')
  assert.ok(Object.keys(emojis).length > 150)
  const image = await fetch(emojis.rocket ?? '')
  assert.equal(image.headers.get('content-type'), 'image/svg+xml')
  assert.match(await image.text(), /🚀/)
  assert.equal((await fetch((emojis.rocket ?? '').replace('1f680', 'zz'))).status, 404)
}))

test('Markdown is rendered, with links for those who may see them', inject(async ({ forge, ada, nobody }) => {
  await ada.owns('engine', { private: true })
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  const plain = await nobody.post('/markdown', { text: '**Hello** <script>x</script> #1' })
  assert.equal(plain.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(await plain.text(), /^<p><strong>Hello<\/strong> (?!<script)/)
  const body = { text: 'See #1', mode: 'gfm', context: 'ada/engine' }
  assert.match(await (await ada.post('/markdown', body)).text(), new RegExp(`<a href="${forge.web}/ada/engine/issues/1"`))
  assert.doesNotMatch(await (await nobody.post('/markdown', body)).text(), /href/)
  assert.equal((await nobody.post('/markdown', {})).status, 422)
  const raw = nobody.with({ 'content-type': 'text/plain', accept: 'text/html' })
  assert.equal(await (await raw.post('/markdown/raw', '*Hi*')).text(), '<p><em>Hi</em></p>\n')
  assert.equal((await raw.post('/markdown/raw', 'x'.repeat(400_001))).status, 413)
  assert.deepEqual(errorsOf(forge), [])
}))

test('facts about the server are served', inject(async ({ forge, nobody, nobodyVersioned }) => {
  assert.partialDeepStrictEqual(await nobody.read('/meta'), {
    verifiable_password_authentication: true,
    installed_version: '3.19.0',
  })
  assert.equal('installed_version' in (await nobodyVersioned.read('/meta')), false)
  const zen = await nobody.get('/zen')
  assert.equal(zen.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(await zen.text(), /^[A-Z].+\.$/)
  assert.match(await (await nobody.get('/octocat?s=Ding')).text(), /Ding/)
  assert.deepEqual(errorsOf(forge), [])
}))

test('responses match the public documentation', inject(async ({ ada }) => {
  for (const variant of ['self-hosted', 'versioned'] as const) {
    await assertDocumented(ada, variant, [
      ['meta/get', 'get', '/meta'],
      ['emojis/get', 'get', '/emojis'],
      ['licenses/get-all-commonly-used', 'get', '/licenses'],
      ['licenses/get', 'get', '/licenses/mit'],
      ['gitignore/get-all-templates', 'get', '/gitignore/templates'],
      ['gitignore/get-template', 'get', '/gitignore/templates/Go'],
    ])
  }
}))
