import { listAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { listOptions, type Subcommand, sliceOf, subcommand } from './subcommand.ts'
import { dateText, textTable } from './table.ts'

export const auditCommands: Subcommand[] = [
  subcommand({
    name: 'audit',
    summary: 'list administrative acts, the newest first',
    options: {
      actor: { type: 'string', value: 'LOGIN', about: 'who acted: a login, or a user of the operating system' },
      action: { type: 'string', value: 'NAME', about: 'an action such as user.suspend, or all of a kind: user' },
      since: { type: 'string', value: 'DATE', about: 'a date or time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z' },
      search: { type: 'string', value: 'WORDS', about: 'words in the actor, action or subject' },
      ...listOptions,
    },
    async run({ options, open }) {
      const slice = sliceOf('audit', options)
      const { actor, action, since, search: words } = options
      const from = since === undefined ? undefined : readDate(since)
      const { db } = await open()
      const { rows, total } = await listAudit(db, { words, actor, action, since: from }, slice)
      const lines = rows.map((entry) => [
        dateText(entry.at),
        entry.actor_login,
        entry.via ?? 'account',
        entry.action,
        entry.subject,
      ])
      return { data: rows, text: textTable(['AT', 'ACTOR', 'VIA', 'ACTION', 'SUBJECT'], lines, total) }
    },
  }),
]

function readDate(text: string): Date {
  const date = parseIsoDate(text)
  if (!date) throw new UsageError(`--since is "${text}": it must be a date such as 2026-01-31`, 'admin audit')
  return date
}
