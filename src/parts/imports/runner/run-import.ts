import { setTimeout as sleep } from 'node:timers/promises'
import { ImportFailure } from '#importer/source.ts'
import type { Import } from '#parts/imports/import-store.ts'
import { sql } from '#platform/database.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { importsRoot, openFolder, removeFolder } from './folders.ts'
import { type Ledger, newLedger, originOf, readLedger, writeLedger } from './ledger.ts'
import { orderFor } from './orders.ts'
import { type Bench, type Failure, work } from './run-step.ts'
import { refuse, settle } from './step-results.ts'
import { startProcess, type WorkerProcess } from './worker-process.ts'

/** How often a step is begun anew that does not get any further. */
const mostTries = 3
/** Corrections of authors come one after the other: so long they are collected, in milliseconds. */
const collecting = 2000

export interface Carrying {
  /** Comes when nothing is left to do, or somebody else is to go on. */
  done: Promise<void>
  /** Which import is meant is looked at from time to time: this is what was found, undefined when it is gone. */
  notice(found: Pick<Import, 'run'> | undefined): void
}

/**
 * Goes from step to step of an import that this node has the claim on, until `leaving` says that another is to go on, or there is no room
 * for what is to be done next.
 */
export function carry(bench: Bench, import_id: number, leaving: AbortSignal, hasRoom: (held: Import) => boolean): Carrying {
  const root = importsRoot(bench.data)
  let run: number | undefined
  let step = new AbortController()
  const workers = openWorkers(bench)

  async function goOn() {
    while (!leaving.aborted) {
      const held = await bench.db.first<Import>(sql`select * from imports where id = ${import_id}`)
      if (!held || (held.status === 'complete' && !held.active)) return removeFolder(root, import_id)
      if (!held.active || !hasRoom(held)) return
      // Whoever begins it anew while it is worked on wants nothing of that.
      if (run !== undefined && run !== held.run && isEarly(held)) await removeFolder(root, import_id)
      run = held.run
      step = new AbortController()
      const folder = await openFolder(root, import_id)
      const ledger = await openLedger(root, folder, held)
      const signal = AbortSignal.any([leaving, step.signal])
      const done = await takeStep(bench, held, folder, ledger, signal, workers)
      if (!done) await workers.dismiss()
    }
  }

  return {
    done: bench.db.withBackgroundTimeouts(goOn).finally(workers.dismiss),
    notice(found) {
      // What was looked at a moment ago may be of an earlier run than ours.
      if (run !== undefined && (!found || found.run > run)) step.abort()
    },
  }
}

const isEarly = ({ status }: Import) => status === 'detecting' || status === 'importing'

/** What is in the folder is of use only for the same source. */
async function openLedger(root: string, folder: string, held: Import): Promise<Ledger> {
  const found = await readLedger(folder)
  if (found?.run === held.run) return found
  const fresh = newLedger(held)
  if (found && isEarly(held) && found.origin !== fresh.origin) {
    await removeFolder(root, held.id)
    await openFolder(root, held.id)
  }
  return fresh
}

/** The one worker of an import, as long as all goes well with it. */
interface Workers {
  hire(folder: string): WorkerProcess
  dismiss(): Promise<void>
}

function openWorkers({ limits }: Bench): Workers {
  let worker: WorkerProcess | undefined
  return {
    hire(folder) {
      worker ??= startProcess(folder, limits.memory)
      return worker
    },
    async dismiss() {
      await worker?.end()
      worker = undefined
    },
  }
}

/** One step, or one try of it; what came of it is written down. Whether it is done, and its worker can take the next. */
async function takeStep(
  bench: Bench,
  held: Import,
  folder: string,
  ledger: Ledger,
  signal: AbortSignal,
  workers: Workers,
): Promise<boolean> {
  const failWith = async (failure: Failure) => {
    // Nothing of it writes into the folder any more when that goes.
    await workers.dismiss()
    await fail(bench, held, failure)
    return false
  }
  try {
    if (held.status === 'complete') await sleep(collecting, undefined, { signal })
    if (ledger.tries >= mostTries) return await failWith({ kind: 'fault', message: givenUp })
    const order = await orderFor(bench, held, folder, ledger.found)
    const outcome = await work(bench, held, order, ledger, workers.hire(folder), signal)
    if (signal.aborted || outcome === 'died') return false
    if ('failure' in outcome) return await failWith(outcome.failure)
    const next = await settle(bench, held, order, outcome.result)
    if (next) await writeLedger(folder, { ...ledger, tries: 0, furthest: 0, found: true, origin: originOf(next) })
    return true
  } catch (error) {
    // An outage of the database does not count as a failed attempt.
    if (error instanceof DatabaseUnavailable) await writeLedger(folder, { ...ledger, tries: Math.max(0, ledger.tries - 1) })
    if (signal.aborted) return false
    if (!(error instanceof ImportFailure)) throw error
    return await failWith({ kind: error.kind, message: error.message })
  }
}

const givenUp =
  'The import has ended unexpectedly several times without getting any further. Whoever runs this server finds more in its log.'

/** What was explained can be mended and gone on with; all else begins with nothing. */
async function fail(bench: Bench, held: Import, { kind, message }: Failure) {
  await refuse(bench, held, kind === 'auth' ? 'auth_failed' : 'failed', message)
  if (kind === 'fault') await removeFolder(importsRoot(bench.data), held.id)
}
