import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ConcurrencyLimiter } from './concurrency.ts'
import { inTotal, perHook, perHost } from './limits.ts'

/** A limiter whose items end when the test calls `end`. */
function openLimiter() {
  const going = new Map<string, () => void>()
  const limiter = new ConcurrencyLimiter<string>((item) => new Promise<void>((resolve) => going.set(item, resolve)))
  return {
    limiter,
    going,
    async end(item: string) {
      going.get(item)?.()
      going.delete(item)
      await turn()
    },
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

test('items are limited per hook, per host and in total, and the hook that waits longest comes first', async () => {
  const { limiter, going, end } = openLimiter()
  const add = (hook: number, host: string, count: number) => {
    for (const number of numbers(count)) limiter.add(hook, host, perHook, `${hook}.${number}`)
  }
  const full = perHost / perHook
  add(0, 'a', perHook + 2)
  assert.deepEqual([limiter.active, limiter.waiting], [perHook, 2])
  for (const hook of numbers(full).slice(1)) add(hook, 'a', perHook)
  for (const hook of [full, full + 1]) add(hook, 'a', 1)
  assert.deepEqual([limiter.active, limiter.waiting], [perHost, 4])
  // Other hosts are limited separately, until the total limit is reached.
  const others = (inTotal - perHost) / perHook
  for (const hook of numbers(others + 2)) add(100 + hook, `b${hook}`, perHook)
  assert.deepEqual([limiter.active, limiter.waiting], [inTotal, 4 + 2 * perHook])
  const next = `${100 + others}.0`
  await end('1.0')
  assert.ok(going.has(`${full}.0`) && !going.has(`0.${perHook}`) && !going.has(next))
  await end('100.0')
  assert.ok(going.has(next) && !going.has(`${101 + others}.0`))
  assert.equal(limiter.active, inTotal)
})

test('a blocked hook without waiting items is skipped', async () => {
  const { limiter, going, end } = openLimiter()
  for (const hook of numbers(5)) for (const number of numbers(10)) limiter.add(hook, 'a', 10, `${hook}.${number}`)
  for (const hook of [5, 6, 7]) limiter.add(hook, 'a', 10, `${hook}.0`)
  assert.deepEqual([...limiter.removeWaiting(5), ...limiter.removeWaiting(6)], ['5.0', '6.0'])
  await end('0.0')
  assert.ok(going.has('7.0'))
  for (const item of [...going.keys()]) await end(item)
  assert.deepEqual([limiter.active, limiter.waiting, limiter.fullHooks(0)], [0, 0, []])
})

test('a hook of width one runs one item at a time until its width is raised', async () => {
  const { limiter, going, end } = openLimiter()
  for (const number of numbers(5)) limiter.add(1, 'a', 1, `1.${number}`)
  assert.deepEqual([...going.keys()], ['1.0'])
  await end('1.0')
  assert.deepEqual([...going.keys()], ['1.1'])
  limiter.setWidth(1, 10)
  assert.equal(going.size, 4)
  limiter.setWidth(2, 10)
})
