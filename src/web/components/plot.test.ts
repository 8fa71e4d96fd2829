import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roundBelow } from './plot.ts'

test('a mark of an axis is 1, 2 or 5 with zeros, and not above the number', () => {
  assert.deepEqual([0, 1, 1.9, 2, 4, 5, 9, 10, 19, 20, 49, 50, 99].map(roundBelow), [1, 1, 1, 2, 2, 5, 5, 10, 10, 20, 20, 50, 50])
})
