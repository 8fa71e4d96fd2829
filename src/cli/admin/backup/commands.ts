import { chmodSync, existsSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { recordAudit } from '#activity/audit.ts'
import type { AuditAction } from '#activity/audited-acts.ts'
import type { Terminal } from '#cli/command.ts'
import type { ProgressLine } from '#cli/progress.ts'
import { sizeText } from '#parts/administration/views/overview.ts'
import { StartError } from '#platform/errors.ts'
import { databaseFolder } from '#platform/postgres-location.ts'
import { openAdministration } from '../administration.ts'
import type { Check } from '../checks.ts'
import { checkLine, examineAll } from '../doctor.ts'
import { type Subcommand, subcommand } from '../subcommand.ts'
import { createBackup } from './create-backup.ts'
import { restoreBackup } from './restore-backup.ts'
import { silence, silencedText } from './silence.ts'

export const backupCommands: Subcommand[] = [
  subcommand({
    name: 'backup',
    arguments: 'FILE',
    summary: 'write the database, repositories, files and keys into one file, also while the server runs',
    about: `FILE is a tar archive that only you can read. It holds the key of all secrets, so store it as safely as the server.
It is written under another name first; an existing FILE is not replaced.
Files of Git LFS, releases and imports in a bucket (BELFRY_STORAGE_URL) are left out unless you give --with-files: back up the bucket.`,
    options: {
      'with-files': {
        type: 'boolean',
        default: false,
        about: 'also files of Git LFS, releases and imports that are in the bucket of BELFRY_STORAGE_URL',
      },
      verify: { type: 'boolean', default: false, about: 'restore it into a temporary folder beside it, and run doctor there' },
    },
    async run({ options, given: [path = ''], open, progress, terminal }) {
      if (existsSync(path)) throw new StartError(`${path} is there already. Give another name.`)
      const admin = await open()
      const with_files = admin.files.folder !== undefined || options['with-files']
      const backup = await createBackup(admin, path, progress, with_files)
      await recordAudit(admin.db, admin.operator, 'site.backup', resolve(path))
      const checks = options.verify ? await verify(path, terminal, progress, with_files) : undefined
      const { bytes, tables, repositories, files, without_folder } = backup
      const lines = [
        `Wrote ${path}: ${sizeText(bytes)}, ${tables} tables, ${repositories} repositories, ${files} files of Git LFS, releases and imports.`,
      ]
      if (!with_files)
        lines.push(`Left out the files of Git LFS, releases and imports in ${admin.files.name}: back up the bucket too.`)
      if (without_folder.length)
        lines.push(`${without_folder.length} repositories had no folder (ids ${without_folder.slice(0, 10).join(', ')}).`)
      if (checks) lines.push('Restored it, and checked the result:', ...checks.map(checkLine))
      const failed = checks?.some(({ state }) => state === 'failed') ?? false
      return {
        data: { file: resolve(path), bytes, tables, repositories, files, without_folder, ...(checks && { checks }) },
        text: lines.join('\n'),
        code: failed ? 1 : 0,
      }
    },
  }),
  subcommand({
    name: 'restore',
    arguments: 'FILE',
    summary: 'restore a backup into an empty BELFRY_DATA, and check the result',
    about: `The server must not run. With DATABASE_URL, that database must be empty too. A backup of an older Belfry is migrated.
Files of Git LFS, releases and imports that the backup has are written into BELFRY_DATA, or into the bucket of BELFRY_STORAGE_URL.
Webhooks are paused, waiting deliveries dropped and imports in progress ended, because the server of the backup may still run. Give --live
if this server takes its place. To activate the webhooks later: npx belfry admin hooks resume-restored.`,
    options: {
      live: {
        type: 'boolean',
        default: false,
        about: 'this server replaces the one of the backup: send webhooks, continue imports',
      },
    },
    async run({ options: { live }, given: [path = ''], progress, terminal }) {
      const restored = await restoreBackup(terminal.environment, terminal.clock, path, progress, { live })
      const checks = await check(terminal.environment, terminal, progress, 'site.restore', resolve(path))
      const lines = [
        `Restored the backup of ${restored.created_at} (Belfry ${restored.belfry}): ${restored.repositories} repositories, ${restored.files} files.`,
        restored.silenced ? silencedText(restored.silenced) : 'It is live: it sends what waits, and continues imports.',
        ...checks.map(checkLine),
      ]
      const failed = checks.some(({ state }) => state === 'failed')
      return { data: { ...restored, checks }, text: lines.join('\n'), code: failed ? 1 : 0 }
    },
  }),
  subcommand({
    name: 'silence',
    summary: 'for a copy made by other means: pause webhooks, drop what waits, end imports',
    about: 'Run it before the copy starts for the first time. restore does the same, unless you give --live.',
    dangerous: () => 'This pauses all webhooks of this server, drops waiting deliveries and ends imports.',
    async run({ open }) {
      const { db, operator } = await open()
      const data = await db.transaction(async (transaction) => {
        await recordAudit(transaction, operator, 'site.silence', 'all')
        return silence(transaction)
      })
      return { data, text: silencedText(data) }
    },
  }),
]

async function verify(path: string, terminal: Terminal, progress: ProgressLine, with_files: boolean): Promise<Check[]> {
  const folder = await mkdtemp(join(dirname(resolve(path)), 'belfry-verify-'))
  // The account of the database must be able to enter. If it cannot enter the folders above, its files are elsewhere.
  chmodSync(folder, 0o711)
  const data = join(folder, 'data')
  try {
    const elsewhere = { BELFRY_DATA: data, DATABASE_URL: '' }
    // Files of the backup must not be written into the bucket in use.
    const local = { BELFRY_STORAGE_URL: '', BELFRY_STORAGE_DOWNLOADS: '' }
    const environment = { ...terminal.environment, ...elsewhere, ...(with_files && local) }
    await restoreBackup(environment, terminal.clock, path, progress)
    return await check(environment, terminal, progress)
  } finally {
    const elsewhere = databaseFolder(data)
    if (elsewhere) rmSync(elsewhere, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
}

async function check(
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
  progress: ProgressLine,
  act?: AuditAction,
  subject = '',
) {
  await using admin = await openAdministration(environment, terminal.clock)
  if (act) await recordAudit(admin.db, admin.operator, act, subject)
  const checking = { fix: false, objects: 'connected', time: 24 * 3_600_000, progress, say: terminal.warn } as const
  return await admin.db.withBackgroundTimeouts(() => examineAll(admin, environment, checking))
}
