import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hg } from './hg.ts'

/** Makes changes in a Mercurial repository with a working folder, one commit at a time. */
export function openHgChanges(hg: Hg, repository: string) {
  let last = 1_600_000_000
  const run = (...args: string[]) => hg.run(...args)
  const commit = (message: string, ...args: string[]) => {
    last += 1000
    return run('commit', '-q', '-m', message, '-u', 'Ada <ada@example.org>', '-d', `${last} -7200`, ...args)
  }
  return {
    run,
    commit,
    /** Goes to a changeset, writes a file and commits it. */
    async edit(at: string, path: string, text: string, branch?: string) {
      await run('update', '-q', '-C', at)
      if (branch !== undefined) await run('branch', '-q', branch)
      await writeFile(join(repository, path), text)
      await commit(`edit ${path}`, '-A')
    },
    async tag(at: string, name: string) {
      last += 1000
      await run('update', '-q', '-C', 'default')
      await run('tag', '-q', '-f', '-r', at, name, '-u', 'Ada <ada@example.org>', '-d', `${last} 0`)
    },
    async close(branch: string) {
      await run('update', '-q', '-C', branch)
      await commit(`close ${branch}`, '--close-branch')
    },
    async merge(into: string, branch: string) {
      await run('update', '-q', '-C', into)
      await run('merge', '-q', branch)
      await commit(`merge ${branch}`)
    },
  }
}
