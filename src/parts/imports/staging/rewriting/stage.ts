import { runGit } from '#hosting/git/bounded.ts'
import type { StoredObject } from '#hosting/lfs/store.ts'
import type { Correction } from '../../worker/steps.ts'
import { rewriteHistory, type Treating } from './rewriting.ts'

/** As they came from the source. They stay, so that another choice can be made. */
export const originals = 'refs/import/orig'
/** The originals without large files: these are what a published repository keeps, to correct its authors later. */
export const leanOriginals = 'refs/import/lean'

export interface Preparing {
  signal: AbortSignal
  authors: Correction[]
  large_files?: Treating | undefined
}

/** Makes the branches and tags of a stage as they are to be published, and the originals that are kept with them. */
export async function prepareRefs(
  repository: string,
  { signal, authors, large_files }: Preparing,
): Promise<{ objects: StoredObject[] }> {
  const treated = await rewriteHistory(repository, { from: originals, signal, ...(large_files && { large_files }) })
  const lean = Object.entries(treated.refs).map(([ref, id]): [string, string] => [ref.replace('refs', leanOriginals), id])
  await setRefs(repository, [`${leanOriginals}/`], new Map(lean), signal)
  const corrected = await rewriteHistory(repository, { from: leanOriginals, signal, authors })
  await setRefs(repository, ['refs/heads/', 'refs/tags/'], new Map(Object.entries(corrected.refs)), signal)
  return { objects: treated.objects }
}

/** Those below these prefixes are exactly these afterwards. */
async function setRefs(repository: string, prefixes: string[], refs: Map<string, string>, signal: AbortSignal) {
  const list = ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes]
  const { output } = await runGit(repository, list, { signal, detached: false, limit: Infinity })
  const there = new Map([...output.toString().matchAll(/^(\w+) (.+)$/gm)].map(([, id = '', ref = '']) => [ref, id]))
  // First those that go: one that comes may be below the name of one.
  const gone = [...there.keys()].filter((ref) => !refs.has(ref)).map((ref) => `delete ${ref}\0\0`)
  const moved = [...refs].filter(([ref, id]) => there.get(ref) !== id).map(([ref, id]) => `update ${ref}\0${id}\0\0`)
  for (const commands of [gone, moved]) {
    const update = ['-c', 'core.logAllRefUpdates=false', '-c', 'core.fsync=none', 'update-ref', '-z', '--stdin']
    if (commands.length) await runGit(repository, update, { signal, input: commands.join(''), detached: false })
  }
}
