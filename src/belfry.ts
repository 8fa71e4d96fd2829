import type { Settings } from '#config.ts'
import type { Storage } from '#git/storage.ts'
import type { SendText } from '#identity/two-factor.ts'
import type { Clock } from '#platform/clock.ts'
import type { Database } from '#platform/database.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import type { Logger } from '#platform/log.ts'
import type { Replica } from '#platform/replica.ts'
import type { Vault } from '#platform/vault.ts'

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
  /** Public addresses without a trailing slash. Empty until the listeners are bound. */
  addresses: { web: string; versioned: string }
}
