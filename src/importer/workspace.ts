import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Network, Workspace } from '#importer/source.ts'
import { stageGit } from '#importer/staging/git.ts'
import type { Order } from './steps.ts'

export type OnProgress = (progress: Parameters<Workspace['onProgress']>[0] & { push_percent?: number }) => void

/** The folder of an import, with the bare repository in which it is made. */
export async function openWorkspace(order: Order, network: Network, onProgress: OnProgress): Promise<Workspace> {
  const { folder, default_branch, lfs_store } = order
  const repository = join(folder, 'stage.git')
  if (!existsSync(repository)) {
    // Whole or not at all: a worker may be killed at any moment.
    const draft = `${repository}.new`
    await rm(draft, { recursive: true, force: true })
    await stageGit(['init', '--quiet', '--bare', '--template=', `--initial-branch=${default_branch}`, draft])
    await rename(draft, repository)
  }
  await removeLocks(repository)
  return { ...network, folder, repository, lfs_store, default_branch, onProgress }
}

/** A git that was killed left them, and no other works here: whoever has the import has these refs to itself. */
export async function removeLocks(folder: string) {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) if (leftoverLock.test(name)) await rm(join(folder, name), { force: true })
}

/** Git makes no other draft of the file of all refs as long as there is one. */
const leftoverLock = /\.lock$|^packed-refs\.new$/

/** Keeps what a later step has to know of an earlier one. */
export async function saveState<T>(folder: string, name: string, value: T) {
  const path = join(folder, `${name}.json`)
  await writeFile(`${path}.new`, JSON.stringify(value))
  await rename(`${path}.new`, path)
}

/** What was kept; undefined where nothing was. */
export async function readState<T>(folder: string, name: string): Promise<T | undefined> {
  const text = await readFile(join(folder, `${name}.json`), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : JSON.parse(text)
}
