import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureCosts } from './cost.ts'

/** Set by `npm run fuzz -- --cost`. */
const seconds = Number(process.env.BELFRY_FUZZ_SECONDS ?? 0)
const seed = Number(process.env.BELFRY_FUZZ_SEED ?? 1)
const only = new RegExp(process.env.BELFRY_FUZZ_ONLY ?? '')
const limit = seconds ? { timeout: (seconds + 600) * 1000 } : {}

test('no input costs the server more than in proportion to its size', limit, async (t) => {
  const deadline = performance.now() + seconds * 1000
  const { faults, requests, series } = await measureCosts({
    seed,
    only,
    ...(seconds ? { most: Infinity, largest: Infinity, pages: 150 } : { most: 30, largest: 65_536, pages: 10 }),
    isOver: () => seconds > 0 && performance.now() > deadline,
    report: (fault) => process.stderr.write(`${fault}\n`),
  })
  t.diagnostic(`seed ${seed}: ${series} series, ${requests} requests`)
  assert.deepEqual(faults, [])
})
