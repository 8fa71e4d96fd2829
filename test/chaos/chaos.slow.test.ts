import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChaos } from './chaos.ts'
import { faults } from './faults.ts'
import { isClean } from './report.ts'

/** It needs no minute to settle; `npm run chaos` runs all. */
const short = ['node-stop']

test('nodes under load lose, double and expose nothing when a node is stopped and started', async (context) => {
  const report = await runChaos({
    faults: faults.filter(({ name }) => short.includes(name)),
    nodes: 2,
    rounds: 1,
    seconds: 4,
    seed: 1,
    signal: context.signal,
    say: (text) => context.diagnostic(text),
  })
  assert.deepEqual(report.rounds.map(({ fault }) => fault).sort(), short)
  assert.ok(report.rounds.every(({ acknowledged }) => acknowledged > 0))
  assert.ok(isClean(report), JSON.stringify(report, undefined, 2))
})
