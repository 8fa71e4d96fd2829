import { type Answer, at, type Row } from '../answer.ts'
import type { Context } from '../check.ts'
import { event } from '../resources.ts'
import { listOf } from '../shape.ts'
import { events } from './events.ts'

const shared = async ({ workspace }: Context) => (await workspace.shared()).full_name

/** The first event of a type in the timeline of the shared repository. */
async function eventOf(context: Context, type: string): Promise<[answer: Answer, event: Row]> {
  const path = `/repos/${await shared(context)}/events`
  const answer = await context.me.until(path, `a ${type}`, (list) =>
    list
      .is(200)
      .list()
      .some((row) => row.type === type),
  )
  return [answer.matches(listOf(event)), answer.list().find((row) => row.type === type) ?? {}]
}

events.check(
  'events.payload.watch',
  'GET /repos/{owner}/{repo}/events',
  ['action string (value seen: started)', 'event kind, for example WatchEvent, PushEvent, CreateEvent'],
  async (context) => {
    await context.workspace.starred()
    const [answer, found] = await eventOf(context, 'WatchEvent')
    answer.equals('payload.action', at(found, 'payload.action'), 'started')
    answer.equals('actor.login', at(found, 'actor.login'), context.target.login)
    answer.equals('public', found.public, true)
  },
)

events.check(
  'events.payload.push',
  'GET /repos/{owner}/{repo}/events',
  [
    'repository_id integer, push_id integer, ref string, head string (commit id), before string (commit id)',
    'fields: id integer, name string (owner/name form), url string',
  ],
  async (context) => {
    const [answer, found] = await eventOf(context, 'PushEvent')
    const repo = await context.workspace.shared()
    answer.equals('payload.repository_id', at(found, 'payload.repository_id'), repo.row.id)
    answer.equals('repo.name', at(found, 'repo.name'), repo.full_name)
  },
)

events.check(
  'events.payload.create',
  'GET /repos/{owner}/{repo}/events',
  ['ref string, ref_type string, full_ref string, master_branch string, description string or null, pusher_type string'],
  async (context) => {
    const [answer, found] = await eventOf(context, 'CreateEvent')
    answer.must(['repository', 'branch'].includes(`${at(found, 'payload.ref_type')}`), 'ref_type repository or branch', found)
  },
)
