import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explain } from '#importer/git/git-errors.ts'
import { ImportFailure } from '#importer/source.ts'
import { describeFailure } from './describe-failure.ts'

test('a full disk of this server is the reason that an import gives, without a path, and a bug is none', () => {
  const full = /^There is not enough disk space/
  const written = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  assert.match(describeFailure(written).message, full)
  const fetched =
    "git fetch failed (128): fatal: sha1 file '/data/imports/3/clone.git/pack/tmp_idx' write error. Out of diskspace"
  assert.match(describeFailure(explain(new Error(fetched))).message, full)
  // That is the disk of the source.
  const remote = explain(new Error('git fetch failed (128): fatal: early EOF\nremote: No space left on device'))
  assert.match(describeFailure(remote).message, /^The connection to the source was lost/)
  assert.match(describeFailure(new Error('a secret')).message, /^An internal error occurred/)
  assert.deepEqual(describeFailure(new ImportFailure('No', 'auth')), { kind: 'auth', message: 'No' })
})
