import { readState, saveState, stateFile } from '#importer/state-file.ts'
import type { Import } from '#parts/imports/import-row.ts'

/** The state of the work on an import. It is in the import's folder and survives a killed node. */
export interface Ledger {
  run: number
  /** Identifies the source whose history is in the folder. */
  origin: string
  /** Whether detection succeeded in this run. */
  found: boolean
  /** How many attempts made no progress. */
  tries: number
  /** The greatest progress of any attempt. */
  furthest: number
  /** In milliseconds. */
  worked: number
  /** Whether the last step of this run ended, so that the folder has its whole history. Ledgers of older versions do not say. */
  pushed?: boolean
}

export const ledgerFile = stateFile('', 'ledger')

/** Whether the folder has all that a later run extends. */
export const isWhole = ({ pushed }: Ledger) => pushed !== false

export function newLedger(imported: Import): Ledger {
  return { run: imported.run, origin: originOf(imported), found: false, tries: 0, furthest: 0, worked: 0, pushed: false }
}

/** If it differs, the folder cannot be reused. A newer option is added only when it is set, so that older folders stay usable. */
export function originOf({ vcs, vcs_url, svn_root, svn_ignore, tfvc_project, gitattributes }: Import) {
  return JSON.stringify([vcs, vcs_url, svn_root, svn_ignore, tfvc_project, ...(gitattributes ? ['gitattributes'] : [])])
}

/** A file that cannot be read counts as missing: the import then starts over. */
export const readLedger = (folder: string) => readState<Ledger>(folder, 'ledger').catch(() => undefined)

export const writeLedger = (folder: string, ledger: Ledger) => saveState(folder, 'ledger', ledger)
