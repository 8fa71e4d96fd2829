import { join } from 'node:path'
import type { Notes } from '#importer/notes.ts'
import type { Remark } from '#importer/source.ts'
import type { Blob } from '#importer/staging/blobs.ts'
import { readState, saveState, stateFile } from '#importer/state-file.ts'

/** The progress that survives a kill. */
export interface Checkpoint {
  number: number
  /** The length of the file of revisions, in bytes. */
  length: number
  time: number
  commit_count: number
  authors: string[]
  notes: Notes
  /** Missing in checkpoints of older versions. */
  remarks?: Remark[]
  /** Missing in checkpoints of older versions. */
  large?: Blob[]
  /** The length of the file of ignore lists, in bytes. */
  ignores?: number
  /** The length of the file of properties, in bytes. */
  attributes?: number
  /** The length of the file of counted properties, in bytes. Missing in checkpoints of older versions. */
  counted?: number
}

export const filesOf = (folder: string) => ({
  revisions: join(folder, 'revisions.jsonl'),
  marks: join(folder, 'marks'),
  texts: join(folder, 'texts'),
  ignores: join(folder, 'ignores.jsonl'),
  attributes: join(folder, 'attributes.jsonl'),
  counted: join(folder, 'counted.jsonl'),
})

/** The results of `arrange`. */
export const recordFile = (folder: string) => join(folder, 'arranged.jsonl')

/** The log of the source up to a revision. */
export const logFile = (folder: string, head: number) => join(folder, `log-${head}.jsonl`)

const name = 'reached'

export const checkpointFile = (folder: string) => stateFile(folder, name)

export const saveCheckpoint = (folder: string, checkpoint: Checkpoint) => saveState(folder, name, checkpoint)

export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const saved = await readState<Checkpoint>(folder, name)
  return saved ?? { number: 0, length: 0, time: 0, commit_count: 0, authors: [], notes: {}, large: [] }
}
