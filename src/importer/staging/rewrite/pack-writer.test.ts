import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBare } from '#test/bare.ts'
import { openPackWriter } from './pack-writer.ts'

/** Copies the base, which is shorter than 128 bytes, and appends one letter. */
const appending = (base: Buffer, letter: string) =>
  Buffer.from([base.length, base.length + 1, 0b10010000, base.length, 1, ...Buffer.from(letter)])

test('a reader applies fifty deltas at most', async () => {
  await using bare = await openBare()
  const packs = openPackWriter(bare.path, new AbortController().signal)
  let data = Buffer.from('The engine weaves numbers')
  let base = packs.add('blob', data)
  for (let count = 0; count < 60; count++) {
    const delta = { base, bytes: appending(data, 'x') }
    data = Buffer.concat([data, Buffer.from('x')])
    base = packs.add('blob', data, delta)
  }
  await packs.end()
  assert.equal(await bare.bare('cat-file', 'blob', base), String(data))
  const folder = join(bare.path, 'objects/pack')
  const indexes = (await readdir(folder)).filter((name) => name.endsWith('.idx'))
  const lengths = await bare.bare('verify-pack', '--stat-only', ...indexes.map((name) => join(folder, name)))
  assert.deepEqual(lengths.match(/(?<=chain length = )(49|5\d)/g), ['49', '50'])
})
