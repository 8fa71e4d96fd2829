import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Version = '01' | '02' | '03'
export type Bookmarks = [name: string, node: string][]

/** What is known of a complete bundle. */
export interface BundleInfo {
  version: Version
  /** The number of changesets, or 0 if the server did not announce it. */
  announced: number
  bookmarks: Bookmarks
  /** As of before the bundle was fetched, the newest first. Missing in records of older versions. */
  heads?: string
  /** How often changesets were added to it. */
  merges?: number
}

const record = (folder: string) => join(folder, 'bundle.json')

/** The bundle, and the git ids of its file texts in their order. Adding changesets makes new files, so that a killed run can use the old ones. */
export function bundleFiles(folder: string, merges = 0) {
  const suffix = merges === 0 ? '' : `.${merges}`
  return { content: join(folder, `bundle${suffix}`), contents: join(folder, `contents${suffix}`) }
}

export function readInfo(folder: string): BundleInfo | undefined {
  return existsSync(record(folder)) ? JSON.parse(readFileSync(record(folder), 'utf8')) : undefined
}

/** Written when everything has arrived; later runs do not fetch it again. */
export function saveInfo(folder: string, info: BundleInfo) {
  writeFileSync(`${record(folder)}.new`, JSON.stringify(info), { mode: 0o600 })
  renameSync(`${record(folder)}.new`, record(folder))
}

/** Makes the next run fetch everything. */
export function forgetBundle(folder: string) {
  rmSync(record(folder), { force: true })
}

/** Deletes the files of other bundles. Without `info`, of all. */
export function removeOtherBundles(folder: string, info?: BundleInfo) {
  const kept: string[] = info ? Object.values(bundleFiles(folder, info.merges)) : []
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (/^(bundle|contents)(\.\d+)?$|^new-changesets$/.test(name) && !kept.includes(path)) rmSync(path, { force: true })
  }
}
