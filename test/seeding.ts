import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { loadUser } from '#identity/accounts.ts'
import { atEnd } from './at-end.ts'
import type { Forge, Person } from './forge.ts'
import { Desk, initWorktree, type Worktree, zeros } from './git.ts'

interface Seed {
  /** The commit of each branch. */
  branches: Record<string, string>
}

const folders: string[] = []
atEnd(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/**
 * Pushes the commits of `build` to ada/engine, and removes the worktree when the forge closes. Git makes the commits once per process, and
 * each test gets a copy of the worktree: to commit and push them started thirty processes in every test.
 */
export function seeding<Built extends Seed>(author: string, build: (work: Worktree) => Promise<Built>) {
  let built: Promise<{ folder: string; seed: Built }> | undefined
  const make = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'belfry-seed-'))
    folders.push(folder)
    const seed = await build(await initWorktree(folder, author, ''))
    const tracked = join(folder, '.git/refs/remotes/origin')
    await mkdir(tracked, { recursive: true })
    for (const [name, sha] of Object.entries(seed.branches)) await writeFile(join(tracked, name), `${sha}\n`)
    return { folder, seed }
  }
  return async (forge: Forge, pusher: Person) => {
    built ??= make()
    const { folder, seed } = await built
    const { db, storage } = forge.belfry
    const desk = await Desk.open(forge)
    const close = forge[Symbol.asyncDispose]
    forge[Symbol.asyncDispose] = async () => {
      await desk[Symbol.asyncDispose]()
      await close()
    }
    const work = await desk.begin(pusher, 'ada/engine')
    await cp(folder, work.folder, { recursive: true, filter: (from) => !from.endsWith('.git/config') })
    const user = await loadUser(db, pusher.login)
    const repo = await loadRepository(db, { viewer_id: user.id, sees_private: true }, 'ada', 'engine')
    await cp(join(folder, '.git/objects'), join(storage.pathOf(repo.id), 'objects'), { recursive: true })
    const commands = Object.entries(seed.branches).map(([name, after]) => ({ ref: `refs/heads/${name}`, before: zeros, after }))
    await pushRefs(db, storage, repo, user, commands)
    return { desk, work, ...seed }
  }
}
