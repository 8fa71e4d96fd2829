import { listAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { listCommand } from './list-command.ts'
import type { Subcommand } from './subcommand.ts'
import { dateText } from './table.ts'

export const auditCommands: Subcommand[] = [
  listCommand({
    name: 'audit',
    summary: 'list administrative acts, the newest first',
    options: {
      actor: { type: 'string', value: 'LOGIN', about: 'who acted: a login, or a user of the operating system' },
      action: { type: 'string', value: 'NAME', about: 'an action such as user.suspend, or all of a kind: user' },
      since: { type: 'string', value: 'DATE', about: 'a date or time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z' },
      until: { type: 'string', value: 'DATE', about: 'up to this time' },
      search: { type: 'string', value: 'WORDS', about: 'words in the actor, action or subject' },
    },
    list({ actor, action, since, until, search: words }) {
      const filter = { words, actor, action, since: readDate('since', since), until: readDate('until', until) }
      return ({ db }, slice) => listAudit(db, filter, slice)
    },
    columns: {
      AT: ({ at }) => dateText(at),
      ACTOR: ({ actor_login }) => actor_login,
      VIA: ({ via }) => via ?? 'account',
      ACTION: ({ action }) => action,
      SUBJECT: ({ subject }) => subject,
    },
  }),
]

function readDate(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const date = parseIsoDate(text)
  if (!date) throw new UsageError(`--${option} is "${text}": it must be a date such as 2026-01-31`, 'admin audit')
  return date
}
