import { UsageError } from '#cli/command.ts'
import { discardJob, retryJob } from '#hosting/administration/failed-jobs.ts'
import type { Transaction } from '#platform/database.ts'
import { Refusal, StartError } from '#platform/errors.ts'
import { countJobs, listFailedJobs } from '#platform/failed-jobs.ts'
import type { Administration } from './administration.ts'
import { listOptions, sliceOf } from './list-command.ts'
import { idIn, type Subcommand, subcommand } from './subcommand.ts'
import { dateText, textTable } from './table.ts'

export const jobCommands: Subcommand[] = [
  subcommand({
    name: 'jobs list',
    summary: 'count background jobs, and list those that used up their attempts',
    options: listOptions,
    async run({ options, open }) {
      const slice = sliceOf('jobs list', options)
      const { db } = await open()
      const counts = await countJobs(db)
      const { rows, total } = await listFailedJobs(db, slice)
      const lines = rows.map((job) => [job.id, job.task, job.attempts, dateText(job.failed_at), firstLine(job.last_error)])
      const summary = `${counts.waiting} waiting, ${counts.running} running, ${counts.failed} failed.`
      const list = rows.length ? `\n${textTable(['ID', 'TASK', 'ATTEMPTS', 'FAILED', 'ERROR'], lines, total)}` : ''
      return { data: { ...counts, failed_jobs: rows }, text: `${summary}${list}` }
    },
  }),
  acting('retry', 'run a failed job again, or with --all every one', retryJob, 'Retrying'),
  acting('discard', 'delete a failed job, or with --all every one', discardJob, 'Discarded'),
]

type Act = (db: Transaction, admin: Administration['operator'], id: number) => Promise<void>

function acting(verb: string, summary: string, act: Act, outcome: string): Subcommand {
  const name = `jobs ${verb}`
  return subcommand({
    name,
    arguments: '[ID]',
    summary,
    options: { all: { type: 'boolean', default: false, about: 'all failed jobs' } },
    async run({ options: { all }, given: [id], open }) {
      if ((id === undefined) === !all) throw new UsageError('Give either the id of a job or --all', `admin ${name}`)
      const only = id === undefined ? undefined : idIn(name, 'job', id)
      const { db, operator } = await open()
      const failed = async () => (await listFailedJobs(db, { limit: mostAtOnce, offset: 0 })).rows.map((job) => job.id)
      const ids = only === undefined ? await failed() : [only]
      const done: number[] = []
      for (const each of ids) {
        try {
          await db.transaction((transaction) => act(transaction, operator, each))
          done.push(each)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          // With --all, somebody else may have been faster.
          if (!all) throw new StartError(`There is no failed job ${each}.`)
        }
      }
      return { data: { ids: done }, text: `${outcome} ${done.length} jobs.` }
    },
  })
}

const mostAtOnce = 10_000

const firstLine = (text: string | null) => text?.split('\n')[0]?.slice(0, 120) ?? null
