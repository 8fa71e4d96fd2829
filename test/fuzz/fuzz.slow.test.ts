import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz, type Variant } from './fuzzer.ts'

/** Set by `npm run fuzz`. */
const seconds = Number(process.env.BELFRY_FUZZ_SECONDS ?? 0)
const firstSeed = Number(process.env.BELFRY_FUZZ_SEED ?? 1)
const limit = seconds ? { timeout: (seconds + 300) * 1000 } : {}

const variants: Variant[] = ['self-hosted', 'versioned']

// A seed of `npm run fuzz` sends requests to both variants in one world.
for (const names of seconds ? [variants] : variants.map((variant) => [variant]))
  test(
    `generated requests to the ${names.join(' and the ')} API get documented answers, never a 5xx, and nothing that is private to others`,
    limit,
    async (t) => {
      const deadline = performance.now() + seconds * 1000
      const isOver = () => seconds > 0 && performance.now() > deadline
      let seed = firstSeed
      do {
        const { faults, requests, telling, passed, pages } = await fuzz(seed, names, isOver)
        t.diagnostic(
          `seed ${seed}: ${requests} requests; ${telling.size} operations and ${pages.size} pages showed ada something private, ben passed ${passed.size}`,
        )
        // A world in which nothing private is shown, or in which ben can do nothing, would prove nothing.
        assert.ok(
          (telling.size > 25 && passed.size > 50 && pages.size > 30) || isOver(),
          `${telling.size} and ${passed.size} operations, ${pages.size} pages`,
        )
        assert.deepEqual(faults, [])
        seed++
      } while (seconds > 0 && !isOver())
    },
  )
