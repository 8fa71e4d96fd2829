import type { Readable } from 'node:stream'
import type { Reading } from './log.ts'
import { openOutput, streamGit } from './run-git.ts'

const plain = ['-M', '--no-ext-diff', '--no-textconv']

/** The difference of two commits or trees, as `git diff` prints it. */
export function openDiff({ path, ...bounds }: Reading, from: string, to: string): Promise<Readable> {
  return openOutput(streamGit(path, ['diff-tree', '-r', '-p', ...plain, '--end-of-options', from, to], bounds))
}

/** The commits that `revisions` name, oldest first, as mails that `git am` applies. Merges are left out. */
export function openPatch({ path, ...bounds }: Reading, revisions: string[]): Promise<Readable> {
  const args = ['format-patch', '--stdout', '--binary', '--no-signature', ...plain, ...revisions]
  return openOutput(streamGit(path, args, bounds))
}
