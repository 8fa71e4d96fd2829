import assert from 'node:assert/strict'
import { test } from 'node:test'
import { split } from './run-git.ts'

test('other work goes on while a stream whose chunks are all there is split', async () => {
  async function* chunks() {
    for (let count = 0; count < 20; count++) yield Buffer.from('a\n'.repeat(1000))
  }
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  let pieces = 0
  for await (const lines of split(chunks(), 10, 100)) pieces += lines.length
  clearImmediate(next)
  assert.equal(pieces, 20_000)
  assert.ok(turns >= 19, `${turns} turns of the loop`)
})
