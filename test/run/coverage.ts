import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './files.ts'

const file = (name: string) => join(import.meta.dirname, name)

/**
 * Node's test runner reports what all processes of its tests have run, so a run with coverage is a test that starts the run. Processes that are killed
 * leave no record.
 */
export function runWithCoverage() {
  const options = [
    '--experimental-test-coverage',
    '--test-coverage-include=src/**/*.ts',
    '--test-coverage-exclude=src/**/*.test.ts',
    '--test-coverage-include-all',
    `--test-reporter=${file('coverage-reporter.ts')}`,
  ]
  return spawnSync(process.execPath, [...options, import.meta.filename, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  })
}

if (process.argv[1] === import.meta.filename)
  test('lint, types and tests', async () => {
    const env = { ...process.env, COVERAGE: '' }
    const child = spawn(process.execPath, [file('run.ts'), ...process.argv.slice(2)], { stdio: 'inherit', env })
    assert.deepEqual(await once(child, 'close'), [0, null])
  })
