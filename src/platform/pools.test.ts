import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyDatabase, patient } from '#test/databases.ts'
import { systemClock } from './clock.ts'
import { Database, sql } from './database.ts'

test('statements are not compiled, also on a server that does so by default', async () => {
  const { connection, drop } = await copyDatabase()
  try {
    await using db = new Database(connection, systemClock, patient)
    await db.query(sql`do $$ begin execute format('alter database %I set jit = on', current_database()); end $$`)
    await using later = new Database(connection, systemClock, patient)
    const asked = sql`select current_setting('jit') as jit, (select count(*) from pg_db_role_setting where 'jit=on' = any(setconfig))::int as databases`
    for (const rows of [await later.rows(asked), await later.genericPlanRows(asked)])
      assert.partialDeepStrictEqual(rows, [{ jit: 'off', databases: 1 }])
  } finally {
    await drop()
  }
})
