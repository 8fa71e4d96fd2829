import { recordAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { StartError } from '#platform/errors.ts'
import type { Administration } from './administration.ts'
import {
  type Check,
  checkCounters,
  checkDatabase,
  checkDisk,
  checkHooks,
  checkJobs,
  checkSettings,
  checkStorage,
  checkVersions,
} from './checks.ts'
import { checkSecrets } from './keys.ts'
import { checkFiles, checkOrphans, checkRepositories, checkStages, type RepositoryChecking } from './repository-checks.ts'
import { type Subcommand, subcommand, wholeNumber } from './subcommand.ts'
import { printable } from './table.ts'

const depths = { quick: 'none', connected: 'connected', contents: 'contents' } as const

export const doctorCommands: Subcommand[] = [
  subcommand({
    name: 'doctor',
    summary: 'check settings, versions, disk, database, repositories, counters, jobs and hooks',
    about: 'Each check is ok, a warning or failed, with what to do. The exit code is 1 if one failed.',
    options: {
      fix: {
        type: 'boolean',
        default: false,
        about: 'correct counters and refs, and remove orphaned folders, after saying what',
      },
      depth: {
        type: 'string',
        default: 'connected',
        value: 'NAME',
        about: 'quick: no objects; connected: that all are there; contents: read all [connected]',
      },
      minutes: { type: 'string', default: '30', value: 'N', about: 'time for the objects of all repositories [30]' },
    },
    async run({ options, open, progress, terminal }) {
      const { fix, depth } = options
      if (!Object.hasOwn(depths, depth)) throw new UsageError(`There is no depth "${depth}"`, 'admin doctor')
      const minutes = wholeNumber('doctor', 'minutes', options.minutes, 1, 100_000)
      const checking = {
        fix,
        objects: depths[depth as keyof typeof depths],
        time: minutes * 60_000,
        progress,
        say: terminal.warn,
      }
      const checks = await examine(open, terminal.environment, checking)
      const code = checks.some(({ state }) => state === 'failed') ? 1 : 0
      return { data: { healthy: code === 0, checks }, text: checks.map(checkLine).join('\n'), code }
    },
  }),
]

/** Without a database, that is the one finding. */
async function examine(open: () => Promise<Administration>, environment: NodeJS.ProcessEnv, checking: RepositoryChecking) {
  let admin: Administration
  try {
    admin = await open()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const advice = 'Correct this first; the other checks need the database and the data folder.'
    return [{ name: 'start', state: 'failed', message: error.message, advice }] satisfies Check[]
  }
  return admin.db.withBackgroundTimeouts(() => examineAll(admin, environment, checking))
}

export async function examineAll(
  admin: Administration,
  environment: NodeJS.ProcessEnv,
  checking: RepositoryChecking,
): Promise<Check[]> {
  const { db, settings, operator } = admin
  const { fix, say, progress } = checking
  if (fix) await recordAudit(db, operator, 'site.doctor_fix', settings.BELFRY_DATA)
  const checks = [...checkSettings(settings, environment), ...(await checkVersions(db)), ...checkDisk(settings.BELFRY_DATA)]
  checks.push(...(await checkDatabase(db)), ...(await checkSecrets(admin)))
  progress.show('Counting')
  checks.push(...(await checkCounters(db, fix, say)))
  checks.push(...(await checkRepositories(admin, checking)))
  checks.push(...(await checkOrphans(admin, fix, say)))
  const storage = await checkStorage(admin.files)
  checks.push(...storage)
  if (storage.every(({ state }) => state !== 'failed'))
    checks.push(...(await checkFiles(admin, progress)), ...(await checkStages(admin, progress)))
  checks.push(...(await checkJobs(db)), ...(await checkHooks(db)))
  return checks
}

const marks = { ok: 'ok      ', warning: 'warning ', failed: 'FAILED  ' }

/** A check in words. */
export const checkLine = ({ name, state, message, advice }: Check) =>
  `${marks[state]} ${name.padEnd(10)} ${printable(message)}${advice ? `\n${' '.repeat(20)}→ ${advice}` : ''}`
