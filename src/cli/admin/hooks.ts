import { recordAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { findHook, type ListedHook, listAllHooks } from '#parts/webhooks/all-hooks.ts'
import { createReplay } from '#parts/webhooks/replays/replays.ts'
import { StartError } from '#platform/errors.ts'
import { listOptions, type Subcommand, sliceOf, subcommand } from './subcommand.ts'
import { dateText, textTable } from './table.ts'

export const hookCommands: Subcommand[] = [
  listing('list', 'list webhooks of all repositories, organizations and apps', false),
  listing('failing', 'list active webhooks whose last delivery failed', true),
  subcommand({
    name: 'hooks replay',
    arguments: 'ID',
    summary: 'send a webhook the events of a period again',
    options: {
      since: { type: 'string', value: 'DATE', about: 'from this time on, in UTC, at most 30 days ago (required)' },
      until: { type: 'string', value: 'DATE', about: 'up to this time [now]' },
      events: { type: 'string', value: 'LIST', about: 'events with commas between [all that it subscribes to]' },
    },
    async run({ options, given: [id = ''], open }) {
      const { since, until, events } = options
      if (since === undefined) throw new UsageError('--since is missing', 'admin hooks replay')
      if (!/^\d{1,15}$/.test(id)) throw new UsageError(`"${id}" is no id of a hook`, 'admin hooks replay')
      const { db, operator } = await open()
      const hook = await findHook(db, Number(id)).catch(() => {
        throw new StartError(`There is no hook ${id}.`)
      })
      const wanted = { since, until: until ?? null, events: events?.split(/[\s,]+/).filter(Boolean) ?? null }
      const replay = await db.transaction(async (transaction) => {
        await recordAudit(transaction, operator, 'hook.replay', `hook ${id}`)
        return createReplay(transaction, null, hook, wanted)
      })
      const period = `${dateText(replay.since)} to ${dateText(replay.until)}`
      return {
        data: { id: replay.id, hook_id: hook.id, since: replay.since, until: replay.until, events: replay.events },
        text: `Replay ${replay.id} of hook ${id}: ${period}. A worker sends it.`,
      }
    },
  }),
]

function listing(verb: string, summary: string, failing: boolean): Subcommand {
  const name = `hooks ${verb}`
  return subcommand({
    name,
    summary,
    options: listOptions,
    async run({ options, open }) {
      const slice = sliceOf(name, options)
      const { db } = await open()
      const { rows, total } = await listAllHooks(db, { failing }, slice)
      const lines = rows.map((hook) => [
        hook.id,
        hook.target,
        hook.host,
        stateOf(hook),
        hook.failures,
        hook.last_code && `${hook.last_code} ${hook.last_status}`,
        dateText(hook.last_delivered_at),
      ])
      const heading = ['ID', 'OF', 'TO', 'STATE', 'FAILED IN A ROW', 'LAST RESPONSE', 'AT']
      return { data: rows, text: textTable(heading, lines, total) }
    },
  })
}

const stateOf = ({ active, paused_reason }: ListedHook) =>
  paused_reason ? `paused: ${paused_reason}` : active ? 'active' : 'inactive'
