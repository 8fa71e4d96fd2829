import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { ImportFailure } from '#importer/source.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { deleteStage, findStage, recordStage, type Stage } from '#parts/imports/stages.ts'
import { mostBytes } from '#platform/file-store/file-store.ts'
import { DamagedArchive } from '#platform/read-tar.ts'
import { packedSize, packFolder, unpackFolder } from '#platform/tar-folder.ts'
import type { RunnerDeps } from './deps.ts'
import { importsRoot, openFolder, removeFolder } from './folders.ts'
import { removeSent } from './large-objects.ts'
import { isWhole, ledgerFile, newLedger, originOf, readLedger, writeLedger } from './ledger.ts'
import { spaceError } from './limits.ts'

/**
 * Moves the folder of a complete import into a store on a network. Each step may be the last one of a killed process: contents without a row
 * are erased by the nightly job, and a folder whose row is there is removed when this is repeated. Returns whether the folder stays.
 */
export async function storeStage(deps: RunnerDeps, imported: Import, signal: AbortSignal): Promise<'stays' | undefined> {
  const { db, files } = deps
  const { id, run } = imported
  const root = importsRoot(deps.data)
  const folder = join(root, `${id}`)
  const ledger = await readLedger(folder)
  if (!ledger) return 'stays'
  // Otherwise another node has completed this run, or the folder was made for corrections of authors, which need no stage.
  const is_whole = ledger.run === run && isWhole(ledger)
  if (is_whole && (await findStage(db, id))?.run !== run) {
    await removeSent(files, folder)
    if ((await packedSize(folder, [ledgerFile])) > mostBytes) return 'stays'
    const stored = await unlessAborted(files.storeContents(packFolder(folder, [ledgerFile], signal), mostBytes), signal)
    const stage = { ...stored, run, origin: ledger.origin }
    if (!(await db.transaction((transaction) => recordStage(transaction, files, id, stage)))) return undefined
  }
  signal.throwIfAborted()
  await removeFolder(root, id)
  return undefined
}

/** Waits no longer for an upload that may take minutes. It ends by itself, because its contents end. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Brings the folder of the last complete run from the store, unless this node has one that is as new. */
export async function fetchStage(deps: RunnerDeps, imported: Import, signal: AbortSignal) {
  const { db, log, limits } = deps
  const { id, run } = imported
  const root = importsRoot(deps.data)
  const local = await readLedger(join(root, `${id}`))
  if (local?.run === run) return
  // Such a folder was fetched in part.
  if (!local) await removeFolder(root, id)
  const stage = await findStage(db, id)
  if (!stage || stage.origin !== originOf(imported)) return
  if (local && (local.run > stage.run || (local.run === stage.run && isWhole(local)))) return
  await removeFolder(root, id)
  const folder = await openFolder(root, id)
  const error = await spaceError(limits, folder, stage.size)
  if (error) throw new ImportFailure(error)
  if (await unpack(deps, stage, folder, signal)) {
    // Last, because a folder without it is fetched again.
    await writeLedger(folder, { ...newLedger(imported), run: stage.run, pushed: true })
    return
  }
  log.warn({ import_id: id, oid: stage.oid }, 'the stored files of an import are missing or damaged: the import starts over')
  await removeFolder(root, id)
  await deleteStage(db, id)
}

/** False if the contents are missing or are others. */
async function unpack({ files }: RunnerDeps, { oid, size }: Stage, folder: string, signal: AbortSignal): Promise<boolean> {
  const contents = (await files.sizeOf(oid)) === size ? await files.open(oid) : undefined
  if (!contents) return false
  const hash = createHash('sha256')
  async function* hashed(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  const chunks = hashed(addAbortSignal(signal, contents))
  try {
    await unpackFolder(chunks, folder)
    // The end of an archive is not read.
    for await (const _ of chunks);
  } catch (error) {
    if (error instanceof DamagedArchive) return false
    throw error
  } finally {
    contents.destroy()
  }
  return hash.digest('hex') === oid
}
