import type { Belfry } from '#belfry.ts'
import { sql } from '#platform/database.ts'
import { logFailure } from '#platform/log.ts'
import type { RateLimiter } from './rate-limit.ts'

/** Milliseconds between two exchanges, which is how far a caller who uses several nodes at once can exceed a limit. */
const interval = 500
/** Every so many exchanges, expired rows are deleted. */
const cleanEvery = 1200

/**
 * Makes the limits of a variant hold across nodes: each node adds what it counted to the database and gets the sum of all. A request never
 * waits for it. The embedded database serves one node, so there is nothing to share. Call the returned function at the end.
 */
export function shareRateLimits({ db, log, settings }: Belfry, variant: string, limiter: RateLimiter): () => void {
  if (settings.DATABASE_URL === null) return () => {}
  limiter.is_shared = true
  const prefix = `${variant} `
  let exchanges = 0
  let running = false
  const exchange = async () => {
    const unshared = limiter.takeUnshared()
    const now = Math.floor(db.now.getTime() / 1000)
    if (exchanges++ % cleanEvery === 0) await db.query(sql`delete from rate_limits where reset <= ${now}`)
    if (!unshared.length) return
    // In one order, because two nodes that lock rows in different orders would deadlock.
    const rows = await db.rows<{ key: string; used: number; reset: number }>(sql`
      insert into rate_limits as r (key, used, reset)
      select ${prefix} || o.key, o.used, o.reset
      from json_to_recordset(${JSON.stringify(unshared)}::json) as o (key text, used bigint, reset bigint) order by 1
      on conflict (key) do update set reset = case when r.reset > ${now} then r.reset else excluded.reset end,
        used = greatest(0, case when r.reset > ${now} then r.used else 0 end + excluded.used)
      returning key, used, reset`)
    for (const { key, used, reset } of rows) limiter.adopt(key.slice(prefix.length), used, reset)
  }
  const timer = setInterval(() => {
    if (running || db.health.away) return
    running = true
    exchange()
      .catch((error) => logFailure(log, error, 'rate limits could not be shared with other nodes'))
      .finally(() => {
        running = false
      })
  }, interval).unref()
  return () => clearInterval(timer)
}
