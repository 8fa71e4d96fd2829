import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Database, sql } from './database.ts'
import { randomText } from './secrets.ts'

const channel = 'belfry_commits'
/** Commits of this many milliseconds are told in one message: a message each would make all writers of the database take turns. */
const together = 5
const pause = 1000

/**
 * Tells the other nodes of one database when this one has committed, and hears it from them, so that what either remembers ends at once.
 * A word may be lost with a node or a connection: what is remembered does not outlive it by much, see Memory.
 */
export async function joinNeighbours(db: Database, connection: pg.ClientConfig): Promise<AsyncDisposable> {
  const name = randomText(12)
  let left = false
  let listener = await listen()
  let pending: NodeJS.Timeout | undefined
  const off = db.onEnd((ending) => {
    if (ending === 'committed here') pending ??= setTimeout(tell, together)
  })

  function tell() {
    pending = undefined
    db.query(sql`select pg_notify(${channel}, ${name})`).catch(() => {})
  }

  async function listen() {
    const client = new pg.Client({ ...connection, application_name: 'belfry neighbours' })
    client.on('notification', ({ payload }) => payload !== name && db.noteEnd('committed elsewhere'))
    client.on('error', () => {})
    await client.connect()
    client.once('end', () => void listenAgain())
    await client.query(`listen ${channel}`)
    return client
  }

  async function listenAgain() {
    while (!left) {
      await sleep(pause, undefined, { ref: false })
      const again = await listen().catch(() => undefined)
      if (!again) continue
      listener = again
      // Whatever was said in between was not heard.
      db.noteEnd('committed elsewhere')
      return
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      left = true
      off()
      clearTimeout(pending)
      await listener.end().catch(() => {})
    },
  }
}
