import { noObject } from '#git/objects.ts'
import { moveManyRefs } from '#git/packed-refs.ts'
import { runGit } from '#git/run-git.ts'
import { stageLimit } from './git.ts'

/** Sets exactly these refs below the prefixes. */
export async function setRefs(repository: string, prefixes: string[], refs: Map<string, string>, signal: AbortSignal) {
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
