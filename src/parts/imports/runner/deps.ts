import type { Storage } from '#git/storage.ts'
import type { Database } from '#platform/database.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import type { Logger } from '#platform/log.ts'
import type { Vault } from '#platform/vault.ts'
import type { Limits } from './limits.ts'

export interface RunnerDeps {
  db: Database
  storage: Storage
  files: FileStore
  vault: Vault
  log: Logger
  limits: Limits
  /** The data folder. */
  data: string
  /** The addresses that may be connected to, in the syntax of the setting. */
  addresses: string
  certificates: string | null
  /** How long the folder of a complete import stays. */
  keep_days: number
}
