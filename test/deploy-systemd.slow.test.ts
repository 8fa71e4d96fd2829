import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from './needs.ts'

needs({ 'systemd-analyze': 'systemd' })
const exec = promisify(execFile)

test('systemd accepts the unit, and rates its exposure as low', async () => {
  const text = await readFile(join(import.meta.dirname, '../deploy/belfry.service'), 'utf8')
  await using copy = await mkdtempDisposable(join(tmpdir(), 'belfry-unit-'))
  // systemd looks for the program, which is not installed where tests run.
  const unit = join(copy.path, 'belfry.service')
  await writeFile(unit, text.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  const { stderr } = await exec('systemd-analyze', ['verify', unit])
  assert.doesNotMatch(stderr, /belfry\.service/)
  // From 0 to 100. Other versions of systemd rate more options than this one, which says 14.
  await exec('systemd-analyze', ['security', '--offline=true', '--threshold=25', unit])
})
