import type { Settings } from '#config.ts'
import type { Storage } from '#git/storage.ts'
import type { SendText } from '#identity/two-factor.ts'
import type { Clock } from '#platform/clock.ts'
import type { Database } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import type { Vault } from '#platform/vault.ts'

/** What one running Belfry is made of: what every edge is handed. */
export interface Belfry {
  version: string
  settings: Settings
  clock: Clock
  log: Logger
  db: Database
  storage: Storage
  vault: Vault
  /** Brings a one-time code to a phone; null where text messages are not sent. */
  send_text: SendText
  started_at: Date
  /** Public addresses, without a slash at the end; known once the listeners are bound. */
  addresses: { web: string; versioned: string }
}
