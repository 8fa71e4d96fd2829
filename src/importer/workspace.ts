import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Network, Workspace } from './source.ts'
import { stageGit } from './staging/git.ts'
import type { Order, WorkerProgress } from './steps.ts'

/** Opens the folder of an import and the bare repository in it. */
export async function openWorkspace(
  { folder, default_branch, lfs_store }: Order,
  network: Network,
  onProgress: (progress: WorkerProgress) => void,
): Promise<Workspace> {
  const repository = join(folder, 'stage.git')
  if (!existsSync(repository)) {
    // Renamed when it is complete, because a worker can be killed at any time.
    const draft = `${repository}.new`
    await rm(draft, { recursive: true, force: true })
    await stageGit(['init', '--quiet', '--bare', '--template=', `--initial-branch=${default_branch}`, draft])
    await rename(draft, repository)
  }
  await removeLocks(repository)
  return { ...network, folder, repository, lfs_store, default_branch, onProgress }
}

/** Removes the lock files of a killed git. One worker at a time writes these refs, so no other process holds the locks. */
export async function removeLocks(folder: string) {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) if (leftoverLock.test(name)) await rm(join(folder, name), { force: true })
}

/** Git writes no new packed-refs file while `packed-refs.new` exists. */
const leftoverLock = /\.lock$|^packed-refs\.new$/
