import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, sql } from './database.ts'
import { type DedicatedConnection, openDedicatedConnection } from './dedicated-connection.ts'
import { type Logger, logFailure } from './log.ts'
import { randomText } from './secrets.ts'

const channel = 'belfry_commits'
/** Commits within this many milliseconds share one message, because PostgreSQL serializes transactions that notify. */
const together = 5
const pause = 1000

/** Notifies all nodes once, for a program that changes something and ends. */
export const notifyNodes = (db: Database) => db.query(sql`select pg_notify(${channel}, 'changed')`)

/**
 * Notifies the other nodes of a database about commits of this node, and this node about theirs, so that caches expire at once. A
 * notification can be lost with a node or a connection; cached values then expire by their age, see ReadCache.
 */
export async function openCommitNotifications(db: Database, log: Logger): Promise<AsyncDisposable> {
  const name = randomText(12)
  const left = new AbortController()
  let listener: DedicatedConnection | undefined = await listen()
  let pending: NodeJS.Timeout | undefined
  const off = db.onTransactionEnd((ending) => {
    if (ending === 'committed here') pending ??= setTimeout(tell, together)
  })

  function tell() {
    pending = undefined
    db.query(sql`select pg_notify(${channel}, ${name})`).catch((error) =>
      logFailure(log, error, 'other nodes could not be notified of a commit'),
    )
  }

  async function listen() {
    const held = await openDedicatedConnection(db)
    held.client.on('notification', ({ payload }) => payload !== name && db.notifyTransactionEnd('committed elsewhere'))
    try {
      await held.query(`listen ${channel}`)
    } catch (error) {
      held.end()
      throw error
    }
    void held.lost.then(listenAgain)
    return held
  }

  async function listenAgain() {
    listener = undefined
    while (!left.signal.aborted) {
      await sleep(pause, undefined, { ref: false, signal: left.signal }).catch(() => {})
      const again = await listen().catch((error) => logFailure(log, error, 'could not listen for commits of other nodes'))
      if (!again) continue
      listener = again
      if (left.signal.aborted) again.end()
      // Notifications during the reconnect are lost.
      db.notifyTransactionEnd('committed elsewhere')
      return
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      left.abort()
      off()
      clearTimeout(pending)
      listener?.end()
    },
  }
}
