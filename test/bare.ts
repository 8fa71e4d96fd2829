import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Storage } from '#git/storage.ts'
import { initWorktree } from '#test/git.ts'

/** A bare repository without a server, and a worktree that pushes to it. */
export async function openBare() {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-bare-'))
  const storage = new Storage(join(folder, 'data'))
  await storage.create(1, 'main')
  await mkdir(join(folder, 'work'))
  const work = await initWorktree(join(folder, 'work'), 'ada', storage.pathOf(1))
  return {
    folder,
    storage,
    work,
    path: storage.pathOf(1),
    /** Runs the real git in the bare repository. */
    bare: (...args: string[]) => work.git('--git-dir', storage.pathOf(1), ...args),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type Bare = Awaited<ReturnType<typeof openBare>>
