import { readState, saveState } from '#importer/state-file.ts'
import type { Import } from '#parts/imports/import-row.ts'

/** What is known of the work on an import, in its folder: it outlives whoever works on it. */
export interface Ledger {
  run: number
  /** What the folder has the history of. */
  origin: string
  /** Whether it was looked for, and found, in this run. */
  found: boolean
  /** How often a step was begun without getting any further than before. */
  tries: number
  /** How far it ever was. */
  furthest: number
  /** In milliseconds. */
  worked: number
}

export function newLedger(imported: Import): Ledger {
  return { run: imported.run, origin: originOf(imported), found: false, tries: 0, furthest: 0, worked: 0 }
}

/** What makes another source of it. */
export function originOf({ vcs, vcs_url, svn_root, svn_ignore, tfvc_project }: Import) {
  return JSON.stringify([vcs, vcs_url, svn_root, svn_ignore, tfvc_project])
}

/** A file that cannot be read counts as none: the import then starts over. */
export const readLedger = (folder: string) => readState<Ledger>(folder, 'ledger').catch(() => undefined)

export const writeLedger = (folder: string, ledger: Ledger) => saveState(folder, 'ledger', ledger)
