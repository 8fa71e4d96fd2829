import { at, Mismatch, type Row } from '../answer.ts'
import type { Context } from '../check.ts'
import { guidOf, type Inbox } from '../receiver.ts'
import { wholeDelivery } from '../resources.ts'
import { deliveryHeaders } from './delivery-requests.ts'
import { isOf, pinged, recorded } from './pinged-hook.ts'
import { webhooks } from './webhooks.ts'

const hooks = '/repos/{owner}/{repo}/hooks/{hook_id}'

webhooks.check(
  'deliveries.list',
  `GET ${hooks}/deliveries`,
  [
    '200 array of delivery; 400, 422',
    'id integer, guid string, delivered_at timestamp, redelivery boolean, duration number',
    'Delivery history is kept per hook and can be listed, read and redelivered.',
  ],
  async (context) => {
    const { path, received } = await pinged(context)
    const row = await recorded(context, path, `the guid ${guidOf(received)}`, (one) => one.guid === guidOf(received))
    const answer = (await context.me.get(`${path}/deliveries`)).is(200)
    answer
      .equals('status_code', row.status_code, 200)
      .equals('event', row.event, 'ping')
      .equals('redelivery', row.redelivery, false)
  },
)

webhooks.check(
  'deliveries.list.cursor',
  `GET ${hooks}/deliveries`,
  [
    'The Link header carries cursors for the next and previous page.',
    'query: per_page (default 30), cursor string, status string (success or failure)',
  ],
  async (context) => {
    const { path, inbox } = await pinged(context)
    ;(await context.me.post(`${path}/pings`)).is(204)
    await context.me.until(
      `${path}/deliveries`,
      'two deliveries',
      (list) => list.is(200).list().length >= 2 && inbox.received.length >= 2,
    )
    const first = (await context.me.get(`${path}/deliveries?per_page=1`)).is(200)
    const next = first.link('next') ?? ''
    first
      .equals('the number of deliveries', first.list().length, 1)
      .must(/[?&]cursor=/.test(next), 'a Link with a cursor', first.headers.get('link'))
    const second = (await context.me.get(next)).is(200)
    second.equals('the number of deliveries', second.list().length, 1)
    second.must(second.list()[0]?.id !== first.list()[0]?.id, 'another delivery on the second page', second.list()[0]?.id)
    const previous = (await context.me.get(second.link('prev') ?? '/no-link')).is(200)
    previous.equals('the delivery of the previous page', previous.list()[0]?.id, first.list()[0]?.id)
  },
)

webhooks.check(
  'deliveries.list.status',
  `GET ${hooks}/deliveries`,
  ['status=success selects status_code 200 to 399 inclusive; status=failure selects 400 to 599 inclusive.'],
  async (context) => {
    const { path, inbox } = await pinged(context)
    inbox.status = 500
    ;(await context.me.post(`${path}/pings`)).is(204)
    await recorded(context, path, 'the status_code 500', (one) => one.status_code === 500)
    const of = async (status: string) => {
      const answer = (await context.me.get(`${path}/deliveries?status=${status}`)).is(200)
      return { answer, codes: answer.list().map((row) => row.status_code as number) }
    }
    const [good, bad] = [await of('success'), await of('failure')]
    good.answer.must(
      good.codes.length > 0 && good.codes.every((code) => code >= 200 && code < 400),
      'status codes 200 to 399',
      good.codes,
    )
    bad.answer.must(
      bad.codes.length > 0 && bad.codes.every((code) => code >= 400 && code < 600),
      'status codes 400 to 599',
      bad.codes,
    )
  },
)

webhooks.check(
  'deliveries.list.invalid',
  `GET ${hooks}/deliveries`,
  ['200 array of delivery; 400, 422', 'bad request (delivery endpoints)'],
  async ({ me, workspace }) => {
    const { path } = await workspace.hook()
    ;(await me.get(`${path}/deliveries?cursor=no-such-cursor`)).is(400, 422)
    ;(await me.get(`${path}/deliveries?status=sometimes`)).is(400, 422)
  },
)

webhooks.check(
  'deliveries.get',
  `GET ${hooks}/deliveries/{delivery_id}`,
  [
    '200 delivery (single); 400, 422',
    'All list-item fields, plus url string, request {headers object, payload object}, response {headers object, payload string}.',
    'The request headers include the delivery headers listed under Events.',
  ],
  async (context) => {
    const { path, inbox, received } = await pinged(context)
    const row = await recorded(context, path, `the guid ${guidOf(received)}`, (one) => one.guid === guidOf(received))
    const answer = (await context.me.get(`${path}/deliveries/${row.id}`)).is(200).matches(wholeDelivery)
    const { url, request, response } = answer.row()
    answer.equals('url', url, inbox.url).equals('response.payload', at(response, 'payload'), 'received')
    answer.must(
      JSON.stringify(at(request, 'payload')) === JSON.stringify(JSON.parse(received.body)),
      'the payload that was sent',
      at(request, 'payload'),
    )
    const names = Object.keys((at(request, 'headers') as Row) ?? {}).map((name) => name.toLowerCase())
    for (const [name] of deliveryHeaders) answer.must(names.includes(name), `the request header ${name}`, names)
  },
)

webhooks.check(
  'deliveries.get.unknown',
  `GET ${hooks}/deliveries/{delivery_id}`,
  ['resource not found.'],
  async ({ me, workspace }) => (await me.get(`${(await workspace.hook()).path}/deliveries/1${Date.now()}`)).is(404),
)

webhooks.check(
  'deliveries.redeliver',
  `POST ${hooks}/deliveries/{delivery_id}/attempts`,
  ['POST | /hooks/{hook_id}/deliveries/{delivery_id}/attempts | | 202; 400, 422', 're-sends a stored delivery'],
  async (context) => {
    const { path, inbox, received } = await pinged(context)
    const guid = guidOf(received)
    const row = await recorded(context, path, `the guid ${guid}`, (one) => one.guid === guid)
    const before = inbox.received.length
    ;(await context.me.post(`${path}/deliveries/${row.id}/attempts`)).is(202)
    await inbox.wait('the delivery again', (one) => inbox.received.indexOf(one) >= before && one.body === received.body)
    await recorded(context, path, `the guid ${guid} and redelivery true`, (one) => one.guid === guid && one.redelivery === true)
  },
)

webhooks.check(
  'deliveries.redeliver.unknown',
  `POST ${hooks}/deliveries/{delivery_id}/attempts`,
  ['resource not found.'],
  async ({ me, workspace }) =>
    (await me.post(`${(await workspace.hook()).path}/deliveries/1${Date.now()}/attempts`)).is(400, 404, 422),
)

/** Fails if a delivery of this kind comes although a later ping has arrived. */
async function stays(context: Context, path: string, inbox: Inbox, event: string) {
  const count = inbox.of('ping').length
  ;(await context.me.patch(path, { active: true })).is(200)
  ;(await context.me.post(`${path}/pings`)).is(204)
  await inbox.wait('a ping', (one) => isOf('ping')(one) && inbox.of('ping').length > count)
  const [unwanted] = inbox.of(event)
  if (unwanted) throw new Mismatch(`no delivery of ${event}`, unwanted.body.slice(0, 200))
}

webhooks.check(
  'hooks.test',
  `POST ${hooks}/tests`,
  ['Re-sends the latest push if the hook listens to push.', 'sends the latest push if the hook listens to push'],
  async (context) => {
    const { path, inbox } = await context.workspace.receivingHook({ events: ['push'] })
    ;(await context.me.post(`${path}/tests`)).is(204).empty()
    await inbox.wait('a push', isOf('push'))
  },
)

webhooks.check(
  'hooks.test.other-events',
  `POST ${hooks}/tests`,
  ['Otherwise 204 is returned and nothing is sent.'],
  async (context) => {
    const { path, inbox } = await context.workspace.receivingHook({ events: ['issues'] })
    ;(await context.me.post(`${path}/tests`)).is(204).empty()
    await stays(context, path, inbox, 'push')
  },
)

webhooks.check(
  'hooks.test.old-address',
  `POST ${hooks}/tests`,
  ['The old endpoint /repos/:owner/:repo/hooks/:hook_id/test is now POST .../hooks/{hook_id}/tests.'],
  async ({ me, workspace }) => (await me.post(`${(await workspace.hook({ events: ['issues'] })).path}/tests`)).is(204).empty(),
)

webhooks.check(
  'deliveries.event',
  `GET ${hooks}/deliveries`,
  [
    'The events list of a hook names the kinds it subscribes to. Names that appear: push, pull_request, issues, ping.',
    'Payload schemas of webhook events beyond the sample fields action, issue and repository',
  ],
  async (context) => {
    const { inbox } = await context.workspace.receivingHook({ events: ['issues'] })
    const repo = await context.workspace.hookRepo()
    const title = context.workspace.name('issue')
    ;(await context.me.post(`${repo.path}/issues`, { title })).prepares()
    const { body } = await inbox.wait('the issue', (one) => isOf('issues')(one) && one.body.includes(title))
    const { action, issue, repository } = JSON.parse(body)
    if (action !== 'opened' || issue?.title !== title || repository?.full_name !== repo.full_name)
      throw new Mismatch(`action opened, issue "${title}" and repository ${repo.full_name}`, body.slice(0, 300))
  },
)

webhooks.check(
  'deliveries.other-event',
  `GET ${hooks}/deliveries`,
  ['A webhook receives an HTTP POST per matching event.'],
  async (context) => {
    const { path, inbox } = await context.workspace.receivingHook({ events: ['push'] })
    ;(
      await context.me.post(`${(await context.workspace.hookRepo()).path}/issues`, { title: context.workspace.name('issue') })
    ).prepares()
    await stays(context, path, inbox, 'issues')
  },
)

webhooks.check(
  'deliveries.inactive',
  `POST /repos/{owner}/{repo}/hooks`,
  ['default true; when false, no notifications are sent'],
  async (context) => {
    const { path, inbox } = await context.workspace.receivingHook({ events: ['issues'], active: false })
    ;(
      await context.me.post(`${(await context.workspace.hookRepo()).path}/issues`, { title: context.workspace.name('issue') })
    ).prepares()
    await stays(context, path, inbox, 'issues')
  },
)

webhooks.check(
  'hooks.get.last-response',
  `GET ${hooks}`,
  ['code integer or null, status string, message string or null.'],
  async (context) => {
    const { path } = await pinged(context)
    await context.me.until(path, 'last_response.code 200', (answer) => at(answer.is(200).row(), 'last_response.code') === 200)
  },
)
