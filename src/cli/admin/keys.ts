import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { recordAudit } from '#activity/audit.ts'
import type { ProgressLine } from '#cli/progress.ts'
import { sealedColumns as twoFactor } from '#identity/two-factor.ts'
import { sealedColumns as imports } from '#parts/imports/credentials.ts'
import { sealedColumns as hooks } from '#parts/webhooks/secrets.ts'
import { StartError } from '#platform/errors.ts'
import { newKey, readKeys, writeKeys } from '#platform/key-file.ts'
import { type Renewed, renewSecrets, type SealedColumn } from '#platform/sealed-columns.ts'
import { sealedColumns as pageStates } from '#web/page-states.ts'
import type { Administration } from './administration.ts'
import type { Check } from './checks.ts'
import { lockKeys } from './keys-lock.ts'
import { type Subcommand, subcommand, wholeNumber } from './subcommand.ts'

/** Every column that Vault encrypts. */
const columns: SealedColumn[] = [...twoFactor, ...hooks, ...imports, ...pageStates]

export const keyCommands: Subcommand[] = [
  subcommand({
    name: 'keys rotate',
    summary: 'encrypt all stored secrets with a new key, also while servers run',
    about: `Seeds of one-time codes, secrets of webhooks and credentials of imports get a new key. The former key stays in secrets.key until nothing needs
it. If the command is interrupted, run it again: it goes on. Older backups have the key that they need.`,
    options: {
      derived: { type: 'boolean', default: false, about: 'also replace secrets that are derived: private feed addresses end' },
      wait: { type: 'string', default: '3', value: 'SECONDS', about: 'time for all nodes to read the new key [3]' },
    },
    dangerous: () => 'This replaces the key of all secrets. Make a backup first.',
    async run({ options, open, progress }) {
      const wait = wholeNumber('keys rotate', 'wait', options.wait, 0, 3600) * 1000
      const admin = await open()
      const result = await admin.db.withBackgroundTimeouts(() => rotate(admin, options.derived, wait, progress))
      const lines = [
        `${result.resumed ? 'Finished an interrupted rotation' : 'Rotated the key'}: ${result.renewed} secrets have the new one.`,
      ]
      if (result.unreadable.length)
        lines.push(`No key opens these, so they were lost before: ${result.unreadable.join(', ')}. Set them again.`)
      return { data: result, text: lines.join('\n') }
    },
  }),
]

async function rotate(admin: Administration, derived: boolean, wait: number, progress: ProgressLine) {
  const { db, vault, operator, connection } = admin
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await lockKeys(client, 'exclusive')
    const begun = readKeys(vault.path)
    const resumed = (begun.next ?? begun.former) !== null
    if (resumed && derived) throw new StartError('An interrupted rotation is finished first. Run it without --derived.')
    await recordAudit(db, operator, 'site.rotate_keys', resumed ? 'resumed' : 'begun')
    if (!begun.former) {
      // First all nodes can decrypt with it, then they encrypt with it.
      const next = begun.next ?? newKey()
      if (!begun.next) writeKeys(vault.path, { ...begun, next })
      await sleep(wait)
      const deriving = derived ? newKey() : begun.deriving
      writeKeys(vault.path, { current: next, next: null, former: begun.current, deriving })
    }
    await sleep(wait)
    vault.reload()
    const result = await renewAll(admin, progress)
    writeKeys(vault.path, { ...readKeys(vault.path), former: null })
    vault.reload()
    await recordAudit(db, operator, 'site.rotate_keys', `finished: ${result.renewed} secrets`)
    return { ...result, resumed }
  } finally {
    await client.end()
  }
}

/** Until a pass finds nothing: a request may have stored a secret that it encrypted before the change of the key. */
async function renewAll({ db, vault }: Administration, progress: ProgressLine): Promise<Omit<Renewed, 'current'>> {
  let renewed = 0
  for (;;) {
    const pass = await renewSecrets(db, vault, columns, { onBatch: (name) => progress.show(`Encrypting ${name}: ${renewed}`) })
    if (!pass.renewed) return { renewed, unreadable: pass.unreadable }
    renewed += pass.renewed
  }
}

export async function checkSecrets({ db, vault }: Administration): Promise<Check[]> {
  const { renewed, current, unreadable } = await renewSecrets(db, vault, columns, { only_count: true })
  const name = 'secrets'
  if (unreadable.length)
    return [
      {
        ...{
          name,
          state: 'failed',
          message: `secrets.key does not open ${unreadable.length} stored secrets: ${unreadable.slice(0, 5).join(', ')}.`,
        },
        advice: 'Put back the secrets.key of this database. Without it, they must be set again.',
      },
    ]
  const { next, former } = readKeys(vault.path)
  if (renewed || next || former)
    return [
      { name, state: 'warning', message: 'A rotation of the keys did not finish.', advice: 'Run npx belfry admin keys rotate.' },
    ]
  return [{ name, state: 'ok', message: `The key opens all ${current} stored secrets.` }]
}
