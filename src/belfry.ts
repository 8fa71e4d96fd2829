import type { Settings } from '#config.ts'
import type { Storage } from '#git/storage.ts'
import type { SendText } from '#identity/two-factor.ts'
import type { Clock } from '#platform/clock.ts'
import type { Database } from '#platform/database.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import type { Logger } from '#platform/log.ts'
import type { Replica } from '#platform/replica.ts'
import type { Vault } from '#platform/vault.ts'

/** How a delivery ended: a 2xx or 3xx response, another response, none in time, or none at all. */
export type DeliveryOutcome = 'delivered' | 'refused' | 'timed out' | 'failed'

export const noDeliveries = (): Belfry['sent_deliveries'] => ({
  counts: { delivered: 0, refused: 0, 'timed out': 0, failed: 0 },
})

/** The parts of a running Belfry, which every endpoint, page and job receives. */
export interface Belfry {
  version: string
  settings: Settings
  clock: Clock
  log: Logger
  db: Database
  /** Some lists are read from it. */
  replica?: Replica
  storage: Storage
  /** Files of Git LFS and releases. */
  files: FileStore
  vault: Vault
  /** Sends a one-time code by text message. Null when text messages are turned off. */
  send_text: SendText
  started_at: Date
  /** The outcomes of webhook deliveries that this process has sent, for metrics. */
  sent_deliveries: { counts: Record<DeliveryOutcome, number> }
  /** Public addresses without a trailing slash. Empty until the listeners are bound. */
  addresses: { web: string; versioned: string }
}
