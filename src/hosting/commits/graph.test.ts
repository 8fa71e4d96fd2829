import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countLanes, drawGraph } from './graph.ts'

/** `c: b a` is the commit `c` with its parents. */
const draw = (...lines: string[]) =>
  drawGraph(
    lines.map((line) => {
      const [sha = '', parents = ''] = line.split(':')
      return { sha, parents: parents.split(' ').filter(Boolean) }
    }),
  )
const told = (rows: ReturnType<typeof draw>) =>
  rows.map(({ lane, joining, leaving, passing }) => `${joining}>${lane}>${leaving} |${passing}`)

test('a line of commits is one lane', () => {
  assert.deepEqual(told(draw('c:b', 'b:a', 'a:')), ['>0>0 |', '0>0>0 |', '0>0> |'])
})

test('a merge opens a lane for its second parent, which ends where both meet', () => {
  const rows = draw('m:b x', 'b:a', 'x:a', 'a:')
  assert.deepEqual(told(rows), ['>0>0,1 |', '0>0>0 |1', '1>1>0 |0', '0>0> |'])
  assert.equal(countLanes(rows), 2)
})

test('a parent that is not listed has a line to the end, and one that git listed too early has none', () => {
  assert.deepEqual(told(draw('m:b x')), ['>0>0,1 |'])
  assert.deepEqual(told(draw('a:', 'b:a')), ['>0> |', '>0> |'])
})

test('many lanes are bounded', () => {
  const octopus = `m:${Array.from({ length: 40 }, (_, index) => `p${index}`).join(' ')}`
  assert.equal(countLanes(draw(octopus, 'p39:', 'p0:')), 10)
})
