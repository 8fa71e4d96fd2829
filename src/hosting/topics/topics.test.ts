import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { assertDocumented } from '#test/documented.ts'
import { expect, injecting } from '#test/forge.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithEngine)

test('topics are replaced, shown with the repository and delivered to webhooks', inject(async ({ forge, ada, ben, nobody }) => {
  await hookOn(ada, 'repos/ada/engine', 'repository')
  const put = (names: string[]) => heardOf(forge, async () => expect(200, await ada.put(`${engine}/topics`, { names })))
  assert.deepEqual(await nobody.read(`${engine}/topics`), { names: [] })
  await put(['Steam', 'brass-works', 'steam'])
  assert.deepEqual(await nobody.read(`${engine}/topics`), { names: ['steam', 'brass-works'] })
  assert.deepEqual((await nobody.read(engine)).topics, ['steam', 'brass-works'])
  const [heard] = await put(['mill'])
  assert.ok(heard)
  checkPayload(heard.event, heard.payload)
  assert.partialDeepStrictEqual(heard.payload, {
    action: 'edited',
    changes: { topics: { from: ['steam', 'brass-works'] } },
    repository: { topics: ['mill'] },
  })
  assert.deepEqual(await put(['mill']), [], 'nothing changed')
  assert.equal((await ben.put(`${engine}/topics`, { names: [] })).status, 403)
  for (const names of [
    ['two words'],
    ['-x'],
    ['ü'],
    [''],
    ['x'.repeat(51)],
    Array.from({ length: 21 }, (_, index) => `t${index}`),
  ]) {
    const { errors } = await expect(422, await ada.put(`${engine}/topics`, { names }))
    assert.partialDeepStrictEqual(errors, [{ resource: 'Repository', field: 'names', code: 'invalid' }])
  }
  await put([])
  assert.deepEqual(await nobody.read(`${engine}/topics`), { names: [] })
}))

test('responses about topics match the public documentation', inject(async ({ ada }) => {
  for (const variant of ['self-hosted', 'versioned'] as const) {
    await assertDocumented(ada, variant, [
      ['repos/replace-all-topics', 'put', `${engine}/topics`, { names: ['mill'] }],
      ['repos/get-all-topics', 'get', `${engine}/topics`],
    ])
  }
}))
