import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeTokens } from '../bin/tokens.ts'

test('tokens.css has the design tokens that our styles use; run `npm run tokens`', () => {
  assert.equal(readFileSync('src/web/styles/tokens.css', 'utf8'), makeTokens())
})
