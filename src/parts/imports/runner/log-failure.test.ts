import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Import } from '#parts/imports/import-row.ts'
import type { Database } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import { unreachable } from '#platform/unavailable.ts'
import { until } from '#test/machine.ts'
import type { RunnerDeps } from './deps.ts'
import { openProgressWriter } from './run-step.ts'
import { Runner } from './runner.ts'

/** The dependencies of a runner whose every query fails with `failure.error`. */
function failingDeps(failure: { error: unknown }) {
  const logged: { level: string; err: Error; import_id?: number }[] = []
  const level = (name: string) => (fields: { err: Error }) => logged.push({ level: name, ...fields })
  const fail = async () => {
    throw failure.error
  }
  const db = { onTransactionEnd: () => () => {}, rows: fail, transaction: fail } as unknown as Database
  const log = { debug: level('debug'), warn: level('warn'), error: level('error') } as unknown as Logger
  return { deps: { db, log, data: '/nonexistent' } as RunnerDeps, logged }
}

test('a bug in the poll of the runner is logged once at error with its stack, an outage at debug', async () => {
  const failure: { error: unknown } = { error: new TypeError('rows is not iterable') }
  const { deps, logged } = failingDeps(failure)
  const runner = new Runner(deps)
  try {
    await until('the bug is logged', () => logged.length > 0)
    assert.equal(logged[0]?.level, 'error')
    assert.match(logged[0]?.err.stack ?? '', /rows is not iterable[\s\S]*log-failure\.test/)
    failure.error = unreachable()
    runner.wake()
    await until('the outage is logged', () => logged.length > 1)
    assert.deepEqual(
      logged.map(({ level }) => level),
      ['error', 'debug'],
    )
  } finally {
    await runner.stop()
  }
})

test('a bug in writing the progress of an import is logged at error, an outage at debug', async () => {
  for (const [error, level] of [
    [new TypeError('no'), 'error'],
    [unreachable(), 'debug'],
    [Object.assign(new Error('gone'), { code: 'ECONNRESET' }), 'debug'],
  ] as const) {
    const { deps, logged } = failingDeps({ error })
    const writer = openProgressWriter(deps, { id: 7, run: 1 } as Import, async () => {})
    writer.add({ percent: 1 })
    await until('the failure is logged', () => logged.length > 0)
    assert.deepEqual([logged[0]?.level, logged[0]?.err, logged[0]?.import_id], [level, error, 7])
    await assert.rejects(writer.end())
  }
})
