import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { injecting } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'

const inject = injecting(openEngine)

test('a large push and its clone use little memory', inject(async ({ ada, desk, work }) => {
  // Random bytes do not get smaller, so git need not try.
  await work.git('config', 'core.compression', '0')
  await work.commit('Large', { 'large.bin': randomBytes(32 << 20) })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  collect()
  const start = process.memoryUsage().arrayBuffers
  // Half: how much is under way at a moment depends on how busy the machine is.
  const bound = 16 << 20
  const used = () => process.memoryUsage().arrayBuffers - start
  let most = 0
  const watch = setInterval(() => {
    // What only waits to be collected does not count. A collection takes half a second among other tests, so it is made only if it
    // matters; and again, because buffers are freed in the background and are gone for sure when the next one begins.
    for (let tries = 0; tries < 3 && used() >= bound; tries++) collect()
    most = Math.max(most, used())
  }, 50)
  await work.push()
  const clone = await desk.clone(null, 'ada/engine')
  clearInterval(watch)
  assert.equal(await clone.head(), await work.head())
  assert.ok(most < bound, `${most >> 20} MB`)
  assert.ok((await ada.read('/repos/ada/engine')).size > 32_000)
}))
