import type { Readable } from 'node:stream'
import { findMergeBase, readingOf } from './compare.ts'
import { openOutput, type Reading, streamGit } from './run-git.ts'
import type { Storage } from './storage.ts'

const plain = ['-M', '--no-ext-diff', '--no-textconv']

/** The difference of two commits or trees, as `git diff` prints it. */
function openDiff({ path, ...bounds }: Reading, from: string, to: string): Promise<Readable> {
  return openOutput(streamGit(path, ['diff-tree', '-r', '-p', ...plain, '--end-of-options', from, to], bounds))
}

/** The commits that `revisions` name, oldest first, as mails that `git am` applies. Merges are left out. */
function openPatch({ path, ...bounds }: Reading, revisions: string[]): Promise<Readable> {
  const args = ['format-patch', '--stdout', '--binary', '--no-signature', ...plain, ...revisions]
  return openOutput(streamGit(path, args, bounds))
}

const patience = 60_000

/** The changes of a commit since its parent, as a text. */
export function openCommit(storage: Storage, repo_id: number, medium: 'diff' | 'patch', sha: string, parent: string) {
  const reading = readingOf(storage, repo_id, repo_id, AbortSignal.timeout(patience))
  return medium === 'diff' ? openDiff(reading, parent, sha) : openPatch(reading, ['-1', sha])
}

/** The changes of `head` since its merge base with `base`, as a text. The head may be in another repository. */
export async function openComparison(
  storage: Storage,
  repo_id: number,
  medium: 'diff' | 'patch',
  base: string,
  head: string,
  head_repo_id = repo_id,
): Promise<Readable> {
  const reading = readingOf(storage, repo_id, head_repo_id, AbortSignal.timeout(patience))
  if (medium === 'patch') return openPatch(reading, [`${base}..${head}`])
  return openDiff(reading, (await findMergeBase(reading, base, head)) ?? base, head)
}
