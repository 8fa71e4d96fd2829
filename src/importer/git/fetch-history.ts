import { copyFile, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { runGit } from '#git/run-git.ts'
import type { Origin, Workspace } from '#importer/source.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { measure } from '#importer/staging/progress.ts'
import { prefix, readOriginals } from './refs.ts'
import { connectGit } from './remote-git.ts'

/** In percent of the import. The last ten are for LFS objects. */
const stages = {
  'Counting objects': [0, 2],
  'Compressing objects': [2, 5],
  'Receiving objects': [5, 70],
  'Resolving deltas': [70, 90],
} as const

type OnOutput = (text: string) => void

/** Fetches the branches and tags with all their objects: everything, or the changes since the last run. */
export async function fetchHistory(origin: Origin, workspace: Workspace) {
  const onOutput = measure(stages, (percent) => workspace.onProgress({ percent }))
  const known = (await readOriginals(workspace)).length > 0
  await (known ? fetchChanges(origin, workspace, onOutput) : cloneAll(origin, workspace, onOutput))
}

/** Only branches and tags: internal refs of a host, such as `refs/pull`, are not fetched. */
async function fetchChanges(origin: Origin, workspace: Workspace, onOutput: OnOutput) {
  const quietly = ['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules']
  const refs = ['heads', 'tags'].map((kind) => `+refs/${kind}/*:${prefix}${kind}/*`)
  const fetch = ['fetch', '--progress', '--prune', ...quietly, '--', origin.url, ...refs]
  await connectGit(origin, workspace, fetch, { onText: onOutput })
}

/**
 * A clone checks that no object is missing while objects arrive; a fetch walks the whole history afterwards. A bare clone has only branches
 * and tags too.
 */
async function cloneAll(origin: Origin, workspace: Workspace, onOutput: OnOutput) {
  const { folder, repository, signal } = workspace
  const draft = join(folder, 'clone.git')
  await rm(draft, { recursive: true, force: true })
  const clone = ['clone', '--bare', '--progress', '--reject-shallow', '--template=', '--', origin.url, draft]
  await connectGit(origin, workspace, clone, { onText: onOutput })
  const moves = ['for-each-ref', `--format=create ${prefix}%(refname:lstrip=1) %(objectname)%0adelete %(refname)`]
  const { output } = await runGit(draft, moves, { signal, detached: false, limit: stageLimit, whole: true })
  const update = ['-c', 'core.fsync=none', 'update-ref', '--stdin']
  if (output.length > 0) await runGit(draft, update, { signal, input: Readable.from([output]), detached: false })
  // Without the configuration of the clone, which names the source.
  for (const name of ['config', 'HEAD']) await copyFile(join(repository, name), join(draft, name))
  await rm(repository, { recursive: true })
  await rename(draft, repository)
}

/** Packs are published as hard links, so they must be on disk before. */
export async function syncPacks({ repository }: Workspace) {
  const folder = join(repository, 'objects', 'pack')
  for (const name of await readdir(folder)) {
    await using file = await open(join(folder, name), 'r')
    await file.sync()
  }
}
