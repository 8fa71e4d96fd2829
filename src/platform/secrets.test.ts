import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newToken, tokenFrom } from './secrets.ts'

test('a token has 30 letters and digits, and a checksum of 6', () => {
  assert.match(newToken('bfp_'), /^bfp_[0-9A-Za-z]{36}$/)
  // The addresses of feeds contain it, so it is the same in every version.
  assert.equal(tokenFrom('bfd_', Buffer.from('0123456789abcdef0123456789abcdef')), 'bfd_2ull9s1j7GqKe4XTgkVHEXGvsGy0Hy2VmnVy')
})
