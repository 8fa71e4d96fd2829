import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '#git/git.ts'
import { lfsTasks } from '#hosting/lfs/jobs.ts'
import { importTasks } from '#parts/imports/jobs.ts'
import type { Stage } from '#parts/imports/stages.ts'
import { sql } from '#platform/database.ts'
import { openS3 } from '#test/s3.ts'
import { begin, openRuns } from './runs.ts'
import { makeSvnRepository } from './svn-dump.ts'
import { openSvnFolder, startSvnserve } from './svn-servers.ts'

/** A Subversion source, and a forge whose large files are in a bucket. */
export async function openMill(keep_days: string) {
  await using undo = new AsyncDisposableStack()
  const s3 = undo.use(await openS3())
  const source = undo.use(await openSvnFolder())
  const path = join(source.path, 'mill')
  await makeSvnRepository(path, ({ folder, add, commit }) => {
    folder('trunk')
    add('trunk/a.txt', 'one\n')
    commit('Begin')
  })
  const server = undo.use(await startSvnserve(source.path))
  const runs = undo.use(await openRuns(s3.settings({ BELFRY_IMPORT_KEEP: keep_days })))
  const { forge, ada, root } = runs
  // The storage has the time of the machine.
  forge.clock.advance(Date.now() - forge.clock.now().getTime())
  const { db, storage, files, settings } = forge.belfry
  const tasks = { ...importTasks(db, settings.BELFRY_IMPORT_KEEP), ...lfsTasks(db, files) }
  const opened = undo.move()
  return {
    ...{ s3, forge, ada, root, files },
    async nightly() {
      for (const task of ['expire_import_stages', 'sweep_lfs']) await (tasks[task] as () => Promise<void>)()
    },
    begin: (name: string) => begin(ada, name, { vcs: 'subversion', vcs_url: `${server.url}mill` }),
    log: ({ repo }: { repo: { id: number } }) => git(['-C', storage.pathOf(repo.id), 'log', '--format=%an: %s', 'main']),
    /**
     * The source gets a commit, and another message for the first one. A run that extends an earlier one does not read that message; one that
     * starts over does.
     */
    addCommit() {
      const message = join(source.path, 'message')
      writeFileSync(message, 'Begin otherwise')
      execFileSync('svnadmin', ['setlog', path, '--revision', '1', '--bypass-hooks', message])
      execFileSync('svn', ['mkdir', '--quiet', '--message', 'More', '--username', 'grace', `file://${path}/trunk/more`])
    },
    folders: (below = root) => (existsSync(below) ? readdirSync(below) : []),
    isIdle: async () => !(await db.first(sql`select from imports where active or correcting`)),
    stageOf: ({ repo }: { repo: { id: number } }) =>
      db.first<Stage>(sql`
        select s.oid, s.size, s.run, s.origin from import_stages s join imports i on i.id = s.import_id where i.repo_id = ${repo.id}`),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
