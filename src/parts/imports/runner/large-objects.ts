import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileStore, StoredObject } from '#platform/file-store/file-store.ts'
import { openObject } from '#platform/file-store/folder.ts'

/** Where a worker stores large files. It has no network but that of the source, so they wait in the import's folder for a store on a network. */
export const lfsStoreOf = (files: FileStore, folder: string) => files.folder ?? join(folder, 'lfs')

/** Sends the large files of a worker to a store on a network. Safe to repeat. */
export async function sendObjects(files: FileStore, folder: string, objects: StoredObject[]) {
  if (files.folder !== undefined) return
  for (const { oid, size } of objects) {
    const contents = await openObject(lfsStoreOf(files, folder), oid)
    if (!contents) throw new Error(`the import has lost the large file ${oid}`)
    await files.store(oid, size, contents)
  }
}

/** When the import is complete: steps may be repeated until then. Another run gets them from the source again, so that they take no disk meanwhile. */
export async function removeSent(files: FileStore, folder: string) {
  if (files.folder === undefined) await rm(lfsStoreOf(files, folder), { recursive: true, force: true })
}
