import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Notes } from '#importer/source.ts'
import type { Blob } from '#importer/staging/blobs.ts'

/** How far it came: what is known up to here outlives a kill. */
export interface Checkpoint {
  number: number
  /** Of the file of revisions, in bytes. */
  length: number
  time: number
  commit_count: number
  authors: string[]
  notes: Notes
  /** Contents that are large; unknown where an earlier version of ours began. */
  large?: Blob[]
  /** Of the file of ignore lists, in bytes. */
  ignores?: number
}

export const filesOf = (folder: string) => ({
  revisions: join(folder, 'revisions.jsonl'),
  marks: join(folder, 'marks'),
  checkpoint: join(folder, 'reached.json'),
  texts: join(folder, 'texts'),
  record: join(folder, 'arranged.jsonl'),
  ignores: join(folder, 'ignores.jsonl'),
})

export async function readCheckpoint(file: string): Promise<Checkpoint> {
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8'))
  return { number: 0, length: 0, time: 0, commit_count: 0, authors: [], notes: {}, large: [] }
}
