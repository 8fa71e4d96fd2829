import { knowAddress } from '#activity/outbox/addresses.ts'
import { storeDeliveries } from '#activity/outbox/outbox.ts'
import { loadOrganization } from '#hosting/organizations/organizations.ts'
import { readDelivery } from '#hosting/pushes/pushed-commits.ts'
import { createHook, hookDepsOf } from '#parts/webhooks/create.ts'
import { type HookTarget, targetOf } from '#parts/webhooks/hook-target.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { type ComposedPayload, composeReplay } from '#parts/webhooks/replays/compose-replay.ts'
import { deliveredTo, type Logged, webhookEventsOf } from '#parts/webhooks/replays/replayed-events.ts'
import { type Outcome, recordIn } from '#parts/webhooks/sending/outcomes.ts'
import { updateHook } from '#parts/webhooks/update.ts'
import { Database, type Sql, sql } from '#platform/database.ts'
import type { Stage } from '#seed/stage.ts'
import { numbersFrom } from './scenes.ts'

/** Deliveries are kept for thirty days. */
const daysKept = 29
const events = ['push', 'issues', 'issue_comment', 'pull_request', 'pull_request_review', 'release', 'star', 'fork', 'create']

/**
 * Gives the tower and the organization a webhook with the deliveries of the last month, composed from the log. They are stored together with
 * their outcomes, so that nothing is sent. The hooks come last: while the story went on, they would have been sent to.
 */
export async function addDeliveries(stage: Stage) {
  const { repo } = await stage.as('cleo', 'clockwork/tower')
  const org = await loadOrganization(stage.db, stage.account('cleo').id, 'clockwork')
  await addHook(stage, targetOf({ repo }), 'https://chimes.bellwater.example/hooks/tower', sql`r.id = ${repo.id}`)
  await addHook(stage, targetOf({ org }), 'https://board.bellwater.example/belfry', sql`r.owner_id = ${org.id}`)
}

async function addHook(stage: Stage, target: HookTarget, url: string, repositories: Sql) {
  const [cleo, deps] = [stage.account('cleo'), hookDepsOf(stage.belfry)]
  const since = new Date(stage.end.getTime() - daysKept * 86_400_000)
  let now = since
  const { options } = stage.db.pool
  await using past = new Database({ ...options, password: options.password, max: 2 }, { now: () => now })
  knowAddress(past, () => stage.belfry.addresses.web)
  const config = { url, content_type: 'json', secret: 'ding dong' }
  const hook = await past.transaction((db) => createHook(db, cleo, target, { config, events, active: false }, deps))
  const random = numbersFrom(hook.id)
  for (const [index, logged] of (await readLog(past, repositories, since)).entries()) {
    now = logged.created_at
    const [payloads = []] = await compose(stage, past, logged)
    for (const payload of payloads) {
      const duration = (40 + random(160)) / 1000
      await deliver(past, hook, payload, isTrouble(index) ? failed : { ...answered, duration })
      if (!isTrouble(index)) continue
      // Sent again, with success, after the receiver was mended.
      now = new Date(Math.min(now.getTime() + 20 * 60_000, stage.end.getTime()))
      await deliver(past, hook, payload, { ...answered, duration })
    }
  }
  now = stage.end
  await past.transaction((db) => updateHook(db, cleo, target, hook.id, { active: true }, deps))
}

/** Now and then the receiver had a bad day. */
const isTrouble = (index: number) => index % 17 === 11

function readLog(db: Database, repositories: Sql, since: Date) {
  return db.rows<Logged>(sql`
    select e.id, e.type, e.payload, e.repo_id, e.actor_id, e.created_at
    from events e join repositories r on r.id = e.repo_id
    where ${repositories} and e.created_at >= ${since} and ${deliveredTo(events)} order by e.created_at, e.id limit 500`)
}

async function compose({ storage }: Stage, db: Database, logged: Logged) {
  const push =
    logged.type === 'PushEvent'
      ? await readDelivery(db, storage, logged.repo_id, { ...logged.payload, after: logged.payload.head })
      : undefined
  const { repo_id, actor_id, created_at: at } = logged
  return composeReplay(db, [{ repo_id, actor_id, at, events: webhookEventsOf(logged, push) }])
}

type Answer = Pick<Outcome, 'status' | 'status_code' | 'duration' | 'response_body'>
const answered: Answer = { status: 'OK', status_code: 200, duration: 0.084, response_body: '{"rung":true}' }
const failed: Answer = {
  status: 'Invalid HTTP Response: 503',
  status_code: 503,
  duration: 1.902,
  response_body: 'The rope is wet. Try again later.\n',
}

async function deliver(past: Database, hook: Hook, { repo_id, event, action, body }: ComposedPayload, answer: Answer) {
  await past.transaction(async (db) => {
    await storeDeliveries(db, repo_id, [{ event, action, body, hooks: [hook] }])
    const pending = await db.rows<{ id: number; guid: string }>(
      sql`select id, guid from pending_deliveries where hook_id = ${hook.id}`,
    )
    const outcomes = pending.map(({ id, guid }) => ({
      ...{ id, hook_id: hook.id, url: hook.url, delivered_at: db.now, retry_in: null, retry_after: null, ...answer },
      request_headers: requestHeaders(hook, event, guid),
      response_headers: { 'content-type': 'text/plain', server: 'chimes' },
    }))
    await recordIn(db, outcomes)
  })
}

const requestHeaders = (hook: Hook, event: string, guid: string) => ({
  'content-type': 'application/json',
  'User-Agent': 'Belfry-Hookshot/demo',
  'X-GitHub-Event': event,
  'X-GitHub-Delivery': guid,
  'X-GitHub-Hook-ID': String(hook.id),
})
