import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { type Document, operationsOf } from '#test/openapi.ts'

test('a request whose endpoint has no body ignores what is sent', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const body of ['', '{}', 'null', '[1]', '"text"', '{']) {
    await expect(204, await ada.put('/user/starred/ada/engine', body))
    await expect(204, await ada.delete('/user/starred/ada/engine', body))
  }
})

test('null is no body', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  await expect(204, await ada.put('/repos/ada/engine/issues/1/lock', 'null'))
  await expect(202, await ben.post('/repos/ada/engine/forks', 'null'))
  assert.match((await expect(422, await ada.post('/user/repos', 'null'))).message, /"name" wasn't supplied/)
})

test('labels are an array, or in an object', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  const labels = '/repos/ada/engine/issues/1/labels'
  const names = async (answer: Response) => (await expect(200, answer)).map(({ name }: { name: string }) => name)
  assert.deepEqual(await names(await ada.post(labels, '["bug"]')), ['bug'])
  assert.deepEqual(await names(await ada.post(labels, { labels: ['hot'] })), ['bug', 'hot'])
  assert.deepEqual(await names(await ada.put(labels, '["cold", {"name": "wet"}]')), ['cold', 'wet'])
  assert.deepEqual(await names(await ada.put(labels, '[]')), [])
  assert.match((await expect(422, await ada.post(labels, '[1]'))).message, /is not a string or an object/)
})

test('nothing, an empty text, null and an empty object are never a malformed body', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const document: Document = await ada.read('/openapi.json')
  const writes = operationsOf(document).filter(({ method }) => method !== 'GET')
  assert.ok(writes.length > 100)
  const refused: string[] = []
  for (const { method, path } of writes) {
    const url = `${forge.web}/api/v3${path.replaceAll(/\{\w+\}/g, '999')}`
    for (const body of [null, '', 'null', '{}']) {
      const { status } = await fetch(url, { method, headers: ada.headers, body })
      if (status === 400 || status >= 500) refused.push(`${method} ${path} with ${body}: ${status}`)
    }
  }
  assert.deepEqual(refused, [])
})
