import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ConcurrencyLimiter, inTotal, perHook, perHost } from './concurrency.ts'

/** ConcurrencyLimiter whose items end when they are told to. */
function openLanes() {
  const going = new Map<string, () => void>()
  const lanes = new ConcurrencyLimiter<string>((item) => new Promise<void>((resolve) => going.set(item, resolve)))
  return {
    lanes,
    going,
    async end(item: string) {
      going.get(item)?.()
      going.delete(item)
      await turn()
    },
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

test('a hook, a host and all of them have so many places, and whoever waits longest comes first', async () => {
  const { lanes, going, end } = openLanes()
  const add = (hook: number, host: string, count: number) => {
    for (const number of numbers(count)) lanes.add(hook, host, perHook, `${hook}.${number}`)
  }
  const full = perHost / perHook
  add(0, 'a', perHook + 2)
  assert.deepEqual([lanes.active, lanes.waiting], [perHook, 2])
  for (const hook of numbers(full).slice(1)) add(hook, 'a', perHook)
  for (const hook of [full, full + 1]) add(hook, 'a', 1)
  assert.deepEqual([lanes.active, lanes.waiting], [perHost, 4])
  // Other hosts have places of their own, until there are none for anybody.
  const others = (inTotal - perHost) / perHook
  for (const hook of numbers(others + 2)) add(100 + hook, `b${hook}`, perHook)
  assert.deepEqual([lanes.active, lanes.waiting], [inTotal, 4 + 2 * perHook])
  const next = `${100 + others}.0`
  await end('1.0')
  assert.ok(going.has(`${full}.0`) && !going.has(`0.${perHook}`) && !going.has(next))
  await end('100.0')
  assert.ok(going.has(next) && !going.has(`${101 + others}.0`))
  assert.equal(lanes.active, inTotal)
})

test('a hook that waits for a place and has nothing to send any more leaves it to the next', async () => {
  const { lanes, going, end } = openLanes()
  for (const hook of numbers(5)) for (const number of numbers(10)) lanes.add(hook, 'a', 10, `${hook}.${number}`)
  for (const hook of [5, 6, 7]) lanes.add(hook, 'a', 10, `${hook}.0`)
  assert.deepEqual([...lanes.empty(5), ...lanes.empty(6)], ['5.0', '6.0'])
  await end('0.0')
  assert.ok(going.has('7.0'))
  for (const item of [...going.keys()]) await end(item)
  assert.deepEqual([lanes.active, lanes.waiting, lanes.fullHooks(0)], [0, 0, []])
})

test('a hook on trial sends one at a time, until there is room for more', async () => {
  const { lanes, going, end } = openLanes()
  for (const number of numbers(5)) lanes.add(1, 'a', 1, `1.${number}`)
  assert.deepEqual([...going.keys()], ['1.0'])
  await end('1.0')
  assert.deepEqual([...going.keys()], ['1.1'])
  lanes.setWidth(1, 10)
  assert.equal(going.size, 4)
  lanes.setWidth(2, 10)
})
