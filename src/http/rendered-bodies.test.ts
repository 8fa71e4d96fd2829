import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge, type Person } from '#test/forge.ts'

const accepting = (person: Person, form: string) => person.with({ accept: `application/vnd.github.v3.${form}+json` })

test('a text comes as it was written, as HTML, as plain text, or in all forms', async () => {
  await using forge = await openForge()
  const [ada] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  const body = '**Smoke** & fire, @ben'
  const made = await expect(201, await accepting(ada, 'full').post('/repos/ada/engine/issues', { title: 'Smoke', body }))
  const body_html = `<p><strong>Smoke</strong> &amp; fire, <a href="${forge.web}/ben">@ben</a></p>\n`
  const body_text = 'Smoke & fire, @ben'
  assert.partialDeepStrictEqual(made, { body, body_html, body_text })
  const one = async (form: string) => {
    const found = await accepting(ada, form).read('/repos/ada/engine/issues/1')
    return Object.fromEntries(Object.entries(found).filter(([name]) => name.startsWith('body')))
  }
  assert.deepEqual(await one('html'), { body_html })
  assert.deepEqual(await one('text'), { body_text })
  assert.deepEqual(await one('raw'), { body })
  const [listed] = await accepting(ada, 'full').read('/repos/ada/engine/issues')
  assert.partialDeepStrictEqual(listed, { body, body_html, body_text })
})

test('comments, releases and pull requests have the same forms, and a record without a text has empty ones', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const full = accepting(ada, 'full')
  const empty = await expect(201, await full.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  assert.partialDeepStrictEqual(empty, { body: null, body_html: '', body_text: '' })
  for (const [path, more] of [
    ['/repos/ada/engine/issues/1/comments', {}],
    ['/repos/ada/engine/releases', { tag_name: 'v1' }],
    ['/repos/ada/engine/commits/main/comments', {}],
  ] as const) {
    const made = await expect(201, await full.post(path, { body: '# See #1', ...more }))
    const link = `<a href="${forge.web}/ada/engine/issues/1">#1</a>`
    assert.partialDeepStrictEqual(made, { body: '# See #1', body_html: `<h1>See ${link}</h1>\n`, body_text: 'See #1' })
  }
})
