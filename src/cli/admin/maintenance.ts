import { UsageError } from '#cli/command.ts'
import { endMaintenance, readMaintenance, startMaintenance } from '#hosting/administration/maintenance-mode.ts'
import { type Subcommand, subcommand, wholeNumber } from './subcommand.ts'
import { dateText } from './table.ts'

const usual = 'Try again later.'

/** In characters: every page shows it. */
const longestMessage = 500

export const maintenanceCommands: Subcommand[] = [
  subcommand({
    name: 'maintenance on',
    summary: 'refuse requests that write with 503 and Retry-After, on all nodes; reads go on',
    about: 'Background jobs, webhooks and imports go on. The state is in the database, so a restart does not end it.',
    options: {
      message: { type: 'string', default: usual, value: 'TEXT', about: 'why, and until when; pages and refusals show it' },
      'retry-after': { type: 'string', default: '300', value: 'SECONDS', about: 'when clients should try again [300]' },
    },
    async run({ options, open }) {
      const retry_after = wholeNumber('maintenance on', 'retry-after', options['retry-after'], 1, 86_400)
      const message = options.message.trim()
      if (message === '' || message.length > longestMessage)
        throw new UsageError(`--message must have 1 to ${longestMessage} characters`, 'admin maintenance on')
      const { db, operator } = await open()
      const started = await db.transaction((transaction) => startMaintenance(transaction, operator, { message, retry_after }))
      return { data: { maintenance: true, ...started }, text: 'Requests that write are refused, within a second on all nodes.' }
    },
  }),
  subcommand({
    name: 'maintenance off',
    summary: 'accept requests that write again',
    async run({ open }) {
      const { db, operator } = await open()
      const ended = await db.transaction((transaction) => endMaintenance(transaction, operator))
      const text = ended ? 'Requests that write are accepted again.' : 'There was no maintenance.'
      return { data: { maintenance: false, ended }, text }
    },
  }),
  subcommand({
    name: 'maintenance status',
    summary: 'say whether requests that write are refused',
    async run({ open }) {
      const { db } = await open()
      const found = await readMaintenance(db)
      const text = found ? `On since ${dateText(found.since)}: ${found.message}` : 'Off.'
      return { data: { maintenance: found !== undefined, ...found }, text }
    },
  }),
]
