import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { openOutput, streamGit } from './run-git.ts'
import type { Storage } from './storage.ts'

export type ArchiveFormat = 'tar.gz' | 'zip'

/** Milliseconds. A client that stalls is disconnected earlier. */
const longestDownload = 6 * 3_600_000

/** The files of a commit in one folder, as git writes them. */
export function openArchive(
  storage: Storage,
  repo_id: number,
  { sha, format, folder }: { sha: string; format: ArchiveFormat; folder: string },
): Promise<Readable> {
  const ending = new AbortController()
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(longestDownload)])
  const args = ['archive', `--format=${format}`, `--prefix=${folder}/`, sha]
  return openOutput(streamGit(resolve(storage.pathOf(repo_id)), args, { signal }), ending)
}
