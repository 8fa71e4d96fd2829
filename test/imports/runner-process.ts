import { subscribe } from 'node:diagnostics_channel'
import type pg from 'pg'
import { pino } from 'pino'
import { Storage } from '#git/storage.ts'
import { Runner } from '#parts/imports/runner/runner.ts'
import { systemClock } from '#platform/clock.ts'
import { Database } from '#platform/database.ts'
import { lfsRoot, openFolderStore } from '#platform/file-store/folder.ts'
import { Vault } from '#platform/vault.ts'
import { patient } from '../databases.ts'

export interface Orders {
  connection: pg.ClientConfig
  data: string
}

/** A process that only runs imports, and reports each started step. */
process.once('message', ({ connection, data }: Orders) => {
  subscribe('belfry:imports:step-started', (message) => process.send?.(message))
  const limits = { disk: 2 ** 30, memory: 2 ** 30, spare: 0, total: 600_000, idle: 600_000 }
  new Runner({
    db: new Database({ ...connection, max: 4 }, systemClock, patient),
    storage: new Storage(data),
    files: openFolderStore(lfsRoot(data)),
    vault: new Vault(data),
    log: pino({ level: 'silent' }),
    ...{ data, limits, addresses: 'loopback', certificates: null, keep_days: 0 },
  })
})
process.once('disconnect', () => process.exit())
