import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { hasRefs, listRefs } from './objects.ts'
import { openOutput, streamGit } from './run-git.ts'
import type { Storage } from './storage.ts'

/** Milliseconds. A client that stalls is disconnected earlier. */
const longestBundle = 6 * 3_600_000

/** All branches and tags with their history in one file, which `git clone` reads; undefined if there are none. */
export async function openBundle(storage: Storage, repo: { id: number; default_branch: string }): Promise<Readable | undefined> {
  const has_branches = await hasRefs(storage, repo.id, 'refs/heads/')
  if (!has_branches && !(await listRefs(storage, repo.id, 'refs/tags/', 1)).length) return undefined
  // Without HEAD, a clone checks nothing out.
  const head = (await storage.hasBranch(repo.id, repo.default_branch)) ? ['HEAD'] : []
  const ending = new AbortController()
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(longestBundle)])
  const args = ['bundle', 'create', '--quiet', '-', ...head, '--branches', '--tags']
  return openOutput(streamGit(resolve(storage.pathOf(repo.id)), args, { signal }), ending)
}
