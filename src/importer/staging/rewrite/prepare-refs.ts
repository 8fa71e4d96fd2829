import type { StoredObject } from '#git/lfs-store.ts'
import { noObject } from '#git/objects.ts'
import { moveManyRefs } from '#git/packed-refs.ts'
import { runGit } from '#git/run-git.ts'
import { stageLimit } from '#importer/staging/git.ts'
import type { Correction } from '#importer/steps.ts'
import { type LargeFileHandling, rewriteHistory } from './rewrite-history.ts'

/** The refs of the source. They stay, so that the user can choose again. */
export const originalRefs = 'refs/import/orig'
/** The original refs without large files. A published repository keeps these for author corrections. */
export const leanOriginals = 'refs/import/lean'

export interface PrepareOptions {
  signal: AbortSignal
  authors: Correction[]
  large_files?: LargeFileHandling | undefined
}

/** Sets the branches and tags to publish, and the lean original refs. */
export async function prepareRefs(
  repository: string,
  { signal, authors, large_files }: PrepareOptions,
): Promise<{ objects: StoredObject[] }> {
  const treated = await rewriteHistory(repository, { from: originalRefs, signal, ...(large_files && { large_files }) })
  const lean = Object.entries(treated.refs).map(([ref, id]): [string, string] => [ref.replace('refs', leanOriginals), id])
  const correct = async () => {
    await setRefs(repository, [`${leanOriginals}/`], new Map(lean), signal)
    return rewriteHistory(repository, { from: leanOriginals, signal, authors })
  }
  const { refs } = authors.length > 0 ? await correct() : treated
  const all = new Map([...lean, ...Object.entries(refs)])
  await setRefs(repository, [`${leanOriginals}/`, 'refs/heads/', 'refs/tags/'], all, signal)
  return { objects: treated.objects }
}

/** Sets exactly these refs below the prefixes. */
async function setRefs(repository: string, prefixes: string[], refs: Map<string, string>, signal: AbortSignal) {
  const list = ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes]
  const { output } = await runGit(repository, list, { signal, detached: false, limit: stageLimit, whole: true })
  const there = new Map([...output.toString().matchAll(/^(\w+) (.+)$/gm)].map(([, id = '', ref = '']) => [ref, id]))
  const names = [...new Set([...there.keys(), ...refs.keys()])]
  const commands = names.map((ref) => ({ ref, before: there.get(ref) ?? noObject, after: refs.get(ref) ?? noObject }))
  await moveManyRefs(
    repository,
    commands.filter(({ before, after }) => before !== after),
    { exclusive: true },
  )
}
