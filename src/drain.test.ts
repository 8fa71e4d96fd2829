import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { pino } from 'pino'
import type { Belfry } from '#belfry.ts'
import { prepareDrain } from '#drain.ts'
import { closingOf, openStream, streamHeaders } from '#http/stream.ts'

test('a stream that never falls silent does not hold up the end, and logs no error', async () => {
  const logged: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
  const belfry = { db: { onTransactionEnd: () => () => {} }, log } as unknown as Belfry
  const app = fastify()
  let looks = 0
  app.get('/stream', async (_, reply) => {
    const step = { news: [{ id: null, data: 'news' }], bookmark: null }
    const look = async () => {
      looks++
      // What the database says while it stops too.
      if (closing.aborted) throw new Error('the database is shutting down')
      return step
    }
    const following = { key: 'news', user_id: null, ip: '127.0.0.1', last: null, look, closing }
    return reply.headers(streamHeaders).send(await openStream(belfry, following))
  })
  const closing = closingOf(app)
  const drain = prepareDrain(app)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${address}/stream`)
  const text = answer.text()
  while (looks < 5) await new Promise(setImmediate)
  await drain()
  assert.match(await text, /^retry: 1000\n\ndata: "news"/)
  assert.deepEqual(logged, [])
})
