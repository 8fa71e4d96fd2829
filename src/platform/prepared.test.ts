import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { raw, sql } from './database.ts'
import { mostPrepared } from './prepared.ts'

test('a connection limits its prepared statements, whatever the number of texts', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  const ask = (n: number) => db.rows<{ n: number }>(sql`select ${n}::int + ${raw(String(n))} as n`)
  const texts = Array.from({ length: 3000 }, (_, n) => n)
  for (let at = 0; at < texts.length; at += 100) {
    const answers = await Promise.all(texts.slice(at, at + 100).map(ask))
    assert.deepEqual(
      answers.map(([row]) => row?.n),
      texts.slice(at, at + 100).map((n) => 2 * n),
    )
  }
  assert.deepEqual(await ask(7), [{ n: 14 }])
  // Eight at once, so that each connection of the pool is asked.
  const counts = await Promise.all(
    Array.from({ length: 8 }, () =>
      db.rows<{ n: number }>(sql`select count(*)::int as n from pg_prepared_statements, pg_sleep(0.02)`),
    ),
  )
  for (const [row] of counts) assert.ok((row?.n ?? Infinity) <= mostPrepared + 1, `${row?.n} are prepared`)
  await db.transaction(async (transaction) => {
    for (const n of texts.slice(0, 2 * mostPrepared)) await transaction.rows(sql`select ${raw(String(n))}`)
  })
  assert.deepEqual(await Promise.all([ask(1), ask(1), ask(2)]), [[{ n: 2 }], [{ n: 2 }], [{ n: 4 }]])
})

test('a transaction begins on a connection that forgets its prepared statements', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  const texts = Array.from({ length: mostPrepared + 1 }, (_, n) => raw(String(n)))
  for (let round = 0; round < 4; round++) {
    const begun = await db.transaction(async (transaction) => {
      const [row] = await transaction.rows<{ id: number }>(sql`select pg_current_xact_id()::text::int as id`)
      for (const text of texts) await transaction.rows(sql`select ${text}`)
      const [last] = await transaction.rows<{ id: number }>(sql`select pg_current_xact_id()::text::int as id`)
      return row?.id === last?.id
    })
    assert.ok(begun)
  }
})
