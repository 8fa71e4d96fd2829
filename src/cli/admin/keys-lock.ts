import type pg from 'pg'
import { StartError } from '#platform/errors.ts'

const lock = 0x6b657973

/** Keeps a backup from holding secrets without their key. The session keeps the lock. */
export async function lockKeys(client: pg.Client, kind: 'shared' | 'exclusive') {
  const text = kind === 'shared' ? 'select pg_try_advisory_lock_shared($1) as taken' : 'select pg_try_advisory_lock($1) as taken'
  const { rows } = await client.query<{ taken: boolean }>(text, [lock])
  if (rows[0]?.taken) return
  throw new StartError(
    kind === 'shared'
      ? 'The keys are being rotated. Back up when that has ended.'
      : 'A backup or another rotation of the keys is running. Wait until it has ended.',
  )
}
