import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'

test('Markdown becomes HTML, from JSON and from text, without credentials too', async () => {
  await using forge = await openForge()
  for (const client of [forge.nobody, forge.nobodyVersioned]) {
    const text = 'Hello **world** <script>'
    const answers = [await client.post('/markdown', { text }), await client.post('/markdown/raw', text)]
    for (const answer of answers) {
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(await answer.text(), '<p>Hello <strong>world</strong> &lt;script&gt;</p>\n')
    }
    await expect(422, await client.post('/markdown', { mode: 'gfm' }))
    await expect(413, await client.post('/markdown/raw', 'x'.repeat(1024 * 1024 + 1)))
  }
})

test('in mode gfm, names refer to the repository of the context if the caller can see it', async (t) => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('secret', { private: true })
  await expect(201, await ada.post('/repos/ada/secret/issues', { title: 'One' }))
  const render = async (client: typeof ada, more: object) => (await client.post('/markdown', { text: '#1', ...more })).text()
  const context = { mode: 'gfm', context: 'ada/secret' }
  assert.match(await render(ada, context), /<a href="http:\/\/[^"]+\/ada\/secret\/issues\/1"/)
  for (const hidden of [
    await render(ben, context),
    await render(ada, { context: 'ada/secret' }),
    await render(ada, { mode: 'gfm' }),
  ])
    assert.equal(hidden, '<p>#1</p>\n')
  t.mock.method(forge.belfry.db, 'genericPlanRows', () => Promise.reject(new Error('a fault of ours')))
  assert.equal((await forge.nobody.post('/markdown', { text: '#1', ...context })).status, 500, 'not like a hidden one')
})
