import { recordAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { findHook, type ListedHook, listAllHooks, mostCounted } from '#parts/webhooks/all-hooks.ts'
import { createReplay } from '#parts/webhooks/replays/replays.ts'
import { resumeRestoredHooks } from '#parts/webhooks/restored.ts'
import { StartError } from '#platform/errors.ts'
import { listCommand } from './list-command.ts'
import { idIn, type Subcommand, subcommand } from './subcommand.ts'
import { dateText } from './table.ts'

export const hookCommands: Subcommand[] = [
  listing('list', 'list webhooks of all repositories, organizations and apps', false),
  listing('failing', 'list active webhooks whose last delivery failed', true),
  subcommand({
    name: 'hooks resume-restored',
    summary: 'activate the webhooks that a restore paused',
    about:
      'Do this when the server of the backup no longer runs. Deliveries that waited in the backup are not sent; see hooks replay.',
    async run({ open }) {
      const { db, operator } = await open()
      const active = await db.transaction(async (transaction) => {
        await recordAudit(transaction, operator, 'hook.resume_restored', 'all')
        return resumeRestoredHooks(transaction)
      })
      return { data: { active }, text: `${active} webhooks are active again.` }
    },
  }),
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
      const hook_id = idIn('hooks replay', 'hook', id)
      const { db, operator } = await open()
      const hook = await findHook(db, hook_id).catch(() => {
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
  return listCommand({
    name: `hooks ${verb}`,
    summary,
    list:
      () =>
      ({ db }, slice) =>
        listAllHooks(db, { failing }, slice),
    columns: {
      ID: ({ id }) => id,
      OF: ({ target }) => target,
      TO: ({ host }) => host,
      STATE: stateOf,
      'FAILED IN A ROW': ({ failures }) => failures,
      'LAST RESPONSE': ({ last_code, last_status }) => last_code && `${last_code} ${last_status}`,
      AT: ({ last_delivered_at }) => dateText(last_delivered_at),
      WAITING: ({ waiting }) => (waiting < mostCounted ? waiting : `${mostCounted} or more`),
      'NEXT ATTEMPT': ({ next_attempt_at }) => dateText(next_attempt_at),
    },
  })
}

function stateOf({ active, paused_reason }: ListedHook) {
  return paused_reason ? `paused: ${paused_reason}` : active ? 'active' : 'inactive'
}
