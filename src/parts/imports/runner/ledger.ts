import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

const pathOf = (folder: string) => join(folder, 'ledger.json')

export async function readLedger(folder: string): Promise<Ledger | undefined> {
  try {
    return JSON.parse(await readFile(pathOf(folder), 'utf8'))
  } catch {
    return undefined
  }
}

export async function writeLedger(folder: string, ledger: Ledger) {
  const draft = `${pathOf(folder)}.new`
  await writeFile(draft, JSON.stringify(ledger))
  await rename(draft, pathOf(folder))
}
