import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commitFolder, openEngine } from '#test/git.ts'

test('a trees response stays below 7 MB', async () => {
  await using engine = await openEngine()
  await commitFolder(engine.work, 30_000)
  await engine.work.push('HEAD')
  const answer = await engine.ada.get('/repos/ada/engine/git/trees/main?recursive=1')
  const text = await answer.text()
  assert.ok(text.length < 7 << 20, `${text.length}`)
  const { truncated, tree } = JSON.parse(text)
  assert.equal(truncated, true)
  assert.ok(tree.length > 20_000)
})
