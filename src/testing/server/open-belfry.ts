import { type Belfry, noDeliveries } from '#belfry.ts'
import type { Settings } from '#config.ts'
import { gitLimits } from '#git/limits.ts'
import { Storage } from '#git/storage.ts'
import { Database } from '#platform/database.ts'
import { openFileStore } from '#platform/file-store/open-store.ts'
import type { Logger } from '#platform/log.ts'
import type { Vault } from '#platform/vault.ts'
import { version } from '#start.ts'
import type { Cluster } from './cluster.ts'
import type { WorldClock } from './world-clock.ts'

/** What all generations of a world share. */
export interface WorldParts {
  cluster: Cluster
  settings: Settings
  clock: WorldClock
  log: Logger
  addresses: Belfry['addresses']
  /** Aborted when the test server ends. */
  ending: AbortSignal
}

/** Sessions of each pool. A server has three, and few tests send more requests at a time. */
const sessions = 8

export function openBelfry(parts: WorldParts, database: string, data: string, vault: Vault): Belfry {
  const { cluster, settings, clock, log, addresses } = parts
  return {
    version,
    settings: { ...settings, BELFRY_DATA: data },
    clock,
    log,
    db: new Database({ ...cluster.connectionTo(database), max: sessions }, clock),
    storage: new Storage(data, gitLimits(settings)),
    files: openFileStore({ ...settings, BELFRY_DATA: data }, log),
    vault,
    send_text: null,
    started_at: clock.now(),
    sent_deliveries: noDeliveries(),
    addresses,
  }
}
