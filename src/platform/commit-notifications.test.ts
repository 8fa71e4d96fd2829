import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { copyDatabase, patient } from '#test/databases.ts'
import { until } from '#test/machine.ts'
import { systemClock } from './clock.ts'
import { openCommitNotifications } from './commit-notifications.ts'
import { Database, sql } from './database.ts'

test('a node learns of the commits of other nodes by NOTIFY, and not of its own', async () => {
  await using undo = new AsyncDisposableStack()
  const { connection, drop } = await copyDatabase()
  undo.defer(drop)
  const openNode = async () => {
    const db = undo.use(new Database({ ...connection, max: 2 }, systemClock, patient))
    undo.use(await openCommitNotifications(db, pino({ level: 'silent' })))
    const endings: string[] = []
    db.onTransactionEnd((ending) => void endings.push(ending))
    return { endings, commit: () => db.transaction((transaction) => transaction.query(sql`select`)) }
  }
  const [here, there] = [await openNode(), await openNode()]

  await here.commit()
  await until('the other node knows of the commit', () => there.endings.length === 1)
  await there.commit()
  // A node that took its own notification for another node's would have counted that one first.
  await until('the first node knows of the commit', () => here.endings.length === 2)
  assert.deepEqual(here.endings, ['committed here', 'committed elsewhere'])
  assert.deepEqual(there.endings, ['committed elsewhere', 'committed here'])
})
