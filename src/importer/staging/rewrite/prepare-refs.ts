import { setRefs } from '#importer/staging/set-refs.ts'
import type { Correction } from '#importer/steps.ts'
import type { StoredObject } from '#platform/file-store/file-store.ts'
import type { ComparedEdits } from './compare-edits.ts'
import { editHistory, type HistoryEdits } from './edit-history.ts'
import { type LargeFileHandling, rewriteHistory } from './rewrite-history.ts'

/** The refs of the source. They stay, so that the user can choose again. */
export const originalRefs = 'refs/import/orig'
/** The original refs without large files. A published repository keeps these for author corrections. */
export const leanOriginals = 'refs/import/lean'

/** The original refs after edits. */
const editedRefs = 'refs/import/edited'

export interface PrepareOptions {
  signal: AbortSignal
  authors: Correction[]
  large_files?: LargeFileHandling | undefined
  edits?: HistoryEdits | undefined
  /** Whether all edited commits are compared, and not a sample. */
  compare_all?: boolean
}

/** Sets the branches and tags to publish, and the lean original refs. */
export async function prepareRefs(
  repository: string,
  { signal, authors, large_files, edits, compare_all = false }: PrepareOptions,
): Promise<{ objects: StoredObject[]; dropped: string[]; compared?: ComparedEdits }> {
  const { from, dropped, compared } = edits
    ? await edit(repository, edits, compare_all, signal)
    : { from: originalRefs, dropped: [], compared: undefined }
  const treated = await rewriteHistory(repository, { from, signal, ...(large_files && { large_files }) })
  const lean = Object.entries(treated.refs).map(([ref, id]): [string, string] => [ref.replace('refs', leanOriginals), id])
  const correct = async () => {
    await setRefs(repository, [`${leanOriginals}/`], new Map(lean), signal)
    return rewriteHistory(repository, { from: leanOriginals, signal, authors })
  }
  const { refs } = authors.length > 0 ? await correct() : treated
  const all = new Map([...lean, ...Object.entries(refs)])
  await setRefs(repository, [`${leanOriginals}/`, 'refs/heads/', 'refs/tags/'], all, signal)
  return { objects: treated.objects, dropped, ...(compared && { compared }) }
}

async function edit(repository: string, edits: HistoryEdits, compare_all: boolean, signal: AbortSignal) {
  const { refs, dropped, compared } = await editHistory(repository, { from: originalRefs, signal, edits, compare_all })
  const edited = Object.entries(refs).map(([ref, id]): [string, string] => [ref.replace('refs', editedRefs), id])
  await setRefs(repository, [`${editedRefs}/`], new Map(edited), signal)
  return { from: editedRefs, dropped, compared }
}
