import { type Answer, at } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { hook } from '../resources.ts'
import { listOf } from '../shape.ts'

export const webhooks = new Part('Webhooks')

const hooks = '/repos/{owner}/{repo}/hooks'
const path = async ({ workspace }: Context) => `${(await workspace.hookRepo()).path}/hooks`
const sorted = (answer: Answer) => [...((answer.row().events as string[]) ?? [])].sort()

webhooks.check('hooks.list', `GET ${hooks}`, ['GET | /hooks | per_page, page | 200 array of Webhook; 404'], async (context) => {
  const { row } = await context.workspace.hook()
  const answer = (await context.me.get(`${await path(context)}?per_page=100`)).is(200).matches(listOf(hook))
  answer.must(
    answer.list().some(({ id }) => id === row.id),
    `the hook ${row.id}`,
    answer.list().map(({ id }) => id),
  )
})

webhooks.check(
  'hooks.list.pages',
  `GET ${hooks}`,
  ['GET | /hooks | per_page, page | 200 array of Webhook; 404'],
  async (context) => {
    await context.workspace.hook()
    await context.workspace.hook()
    const first = (await context.me.get(`${await path(context)}?per_page=1`)).is(200)
    first.equals('the number of hooks', first.list().length, 1)
    const second = (await context.me.get(`${await path(context)}?per_page=1&page=2`)).is(200)
    second.equals('the number of hooks', second.list().length, 1)
    second.must(second.list()[0]?.id !== first.list()[0]?.id, 'another hook on the second page', second.list()[0]?.id)
  },
)

webhooks.check(
  'hooks.create',
  `POST ${hooks}`,
  [
    'type | string | Repository',
    'active | boolean',
    'event kinds the hook is triggered for',
    'created_at, updated_at | string | timestamps',
    'Path prefix: /repos/{owner}/{repo}/hooks.',
    '201 Webhook; 403, 404, 422',
    '201 created',
    'hook id',
    'only value: web',
  ],
  async ({ workspace }) => {
    const { answer, row } = await workspace.hook({ events: ['push', 'issues'], config: { insecure_ssl: '0' } })
    answer.matches(hook).equals('events', sorted(answer), ['issues', 'push'])
    answer.equals('config.content_type', at(row, 'config.content_type'), 'json')
  },
)

webhooks.check(
  'hooks.create.defaults',
  `POST ${hooks}`,
  [
    'only accepted value is web; default web',
    'default [push]',
    'default true; when false, no notifications are sent',
    'url string; content_type string (json or form, default form)',
    '0 verify certificate, 1 do not verify; default 0',
  ],
  async (context) => {
    const url = await context.workspace.hookUrl()
    const answer = (await context.me.post(await path(context), { config: { url } })).is(201).matches(hook)
    const { name, events, active, config } = answer.row()
    answer.equals('name', name, 'web').equals('events', events, ['push']).equals('active', active, true)
    answer
      .equals('config.content_type', at(config, 'content_type'), 'form')
      .equals('config.insecure_ssl', `${at(config, 'insecure_ssl')}`, '0')
    answer.equals('config.url', at(config, 'url'), url)
  },
)

const invalid: [id: string, words: string, fields: object][] = [
  ['name', 'only accepted value is web; default web', { name: 'email' }],
  ['events', 'default [push]', { events: ['no-such-event'] }],
  [
    'content-type',
    'content_type string (json or form, default form)',
    { config: { url: 'https://example.com/', content_type: 'xml' } },
  ],
  ['no-url', 'validation failed, or the endpoint has been spammed.', { config: {} }],
  ['url', 'validation failed, or the endpoint has been spammed.', { config: { url: 'no address' } }],
]
for (const [id, words, fields] of invalid)
  webhooks.check(`hooks.create.invalid-${id}`, `POST ${hooks}`, [words, '201 Webhook; 403, 404, 422'], async (context) => {
    const url = await context.workspace.hookUrl()
    ;(await context.me.post(await path(context), { name: 'web', config: { url }, ...fields })).is(422)
  })

webhooks.check(
  'hooks.create.same',
  `POST ${hooks}`,
  ['Each webhook should have a unique config. Several webhooks may share a config if their events do not overlap.'],
  async (context) => {
    const config = { url: await context.workspace.hookUrl(), content_type: 'json' }
    const create = async (events: string[]) => context.me.post(await path(context), { config, events })
    ;(await create(['push'])).is(201)
    ;(await create(['issues'])).is(201)
    ;(await create(['push', 'pull_request'])).is(422)
  },
)

webhooks.check(
  'hooks.get',
  `GET ${hooks}/{hook_id}`,
  ['GET | /hooks/{hook_id} | | 200 Webhook; 404', 'url, test_url, ping_url, deliveries_url'],
  async ({ me, workspace }) => {
    const made = await workspace.hook()
    const answer = (await me.get(made.path)).is(200).matches(hook)
    answer.equals('id', answer.row().id, made.row.id)
    const again = (await me.get(`${answer.row().url}`)).is(200)
    again.equals('the hook at its url', again.row().id, made.row.id)
    ;(await me.get(`${answer.row().deliveries_url}`)).is(200).list()
    const { test_url, ping_url } = answer.row()
    answer.must(/\/tests?$/.test(`${test_url}`) && /\/pings$/.test(`${ping_url}`), 'addresses of tests and pings', [
      test_url,
      ping_url,
    ])
  },
)

webhooks.check(
  'hooks.get.unused',
  `GET ${hooks}/{hook_id}`,
  ['last_response.status is unused before any delivery.', 'code integer or null, status string, message string or null.'],
  async ({ me, workspace }) => {
    const { path: address } = await workspace.hook({ active: false })
    const answer = (await me.get(address)).is(200)
    answer
      .equals('last_response', at(answer.row(), 'last_response.status'), 'unused')
      .equals('last_response.code', at(answer.row(), 'last_response.code'), null)
  },
)

webhooks.check(
  'hooks.secret',
  `GET ${hooks}/{hook_id}`,
  ['The secret is never returned in the hook body.'],
  async ({ me, workspace }) => {
    const secret = workspace.name('secret')
    const made = await workspace.hook({ config: { secret } })
    for (const answer of [made.answer, (await me.get(made.path)).is(200)])
      answer.must(
        !answer.text.includes(secret) && at(answer.row(), 'config.secret') === undefined,
        'no secret in the hook body',
        answer.row().config,
      )
  },
)

for (const [id, method, rest, words] of [
  ['get', 'GET', '', 'GET | /hooks/{hook_id} | | 200 Webhook; 404'],
  ['update', 'PATCH', '', '200 Webhook; 404, 422'],
  ['delete', 'DELETE', '', '204; 404. The caller must own the repository or have admin access.'],
  ['ping', 'POST', '/pings', '204; 404. Triggers a ping event to the hook.'],
  ['test', 'POST', '/tests', '204; 404. Re-sends the latest push if the hook listens to push.'],
] as const)
  webhooks.check(`hooks.${id}.unknown`, `${method} ${hooks}/{hook_id}${rest}`, [words], async (context) =>
    (
      await context.me.send(
        method,
        `${await path(context)}/1${Date.now()}${rest}`,
        method === 'PATCH' ? { body: { active: true } } : {},
      )
    ).is(404),
  )

for (const [id, method, rest] of [
  ['list', 'GET', ''],
  ['create', 'POST', ''],
] as const)
  webhooks.check(
    `hooks.${id}.not-admin`,
    `${method} ${hooks}${rest}`,
    ['403, 404', 'The caller must own the repository or have admin access.'],
    async (context) => {
      const caller = context.other()
      ;(
        await caller.send(
          method,
          await path(context),
          method === 'POST' ? { body: { config: { url: 'https://example.com/' } } } : {},
        )
      ).is(403, 404)
    },
  )

webhooks.check(
  'hooks.delete.not-admin',
  `DELETE ${hooks}/{hook_id}`,
  ['204; 404. The caller must own the repository or have admin access.'],
  async ({ me, other, workspace }) => {
    const caller = other()
    const { path: address } = await workspace.hook()
    ;(await caller.delete(address)).is(403, 404)
    ;(await me.get(address)).is(200)
  },
)

webhooks.check(
  'hooks.update',
  `PATCH ${hooks}/{hook_id}`,
  [
    'It manages repository webhooks: create, read, update, delete, configuration, delivery history, redelivery, ping and test.',
    '200 Webhook; 404, 422',
    'events (replaces the whole list)',
    'active (boolean)',
  ],
  async ({ me, workspace }) => {
    const { path: address } = await workspace.hook({ events: ['push', 'issues'] })
    const answer = (await me.patch(address, { events: ['pull_request'], active: false })).is(200).matches(hook)
    answer.equals('events', answer.row().events, ['pull_request']).equals('active', answer.row().active, false)
  },
)

webhooks.check(
  'hooks.update.add-events',
  `PATCH ${hooks}/{hook_id}`,
  ['add_events (array of strings, appended), remove_events (array of strings, removed)'],
  async ({ me, workspace }) => {
    const { path: address } = await workspace.hook({ events: ['push'] })
    const added = (await me.patch(address, { add_events: ['issues', 'pull_request'] })).is(200)
    added.equals('events', sorted(added), ['issues', 'pull_request', 'push'])
    const removed = (await me.patch(address, { remove_events: ['push'] })).is(200)
    removed.equals('events', sorted(removed), ['issues', 'pull_request'])
  },
)

webhooks.check(
  'hooks.update.config',
  `PATCH ${hooks}/{hook_id}`,
  ['config (same fields as above)'],
  async ({ me, workspace }) => {
    const [{ path: address }, url] = [await workspace.hook(), await workspace.hookUrl()]
    const answer = (await me.patch(address, { config: { url, content_type: 'form', insecure_ssl: '1' } })).is(200)
    answer.equals(
      'config',
      [at(answer.row(), 'config.url'), at(answer.row(), 'config.content_type'), `${at(answer.row(), 'config.insecure_ssl')}`],
      [url, 'form', '1'],
    )
  },
)

webhooks.check('hooks.update.invalid', `PATCH ${hooks}/{hook_id}`, ['200 Webhook; 404, 422'], async ({ me, workspace }) =>
  (await me.patch((await workspace.hook()).path, { events: ['no-such-event'] })).is(422),
)

webhooks.check(
  'hooks.delete',
  `DELETE ${hooks}/{hook_id}`,
  ['204; 404. The caller must own the repository or have admin access.', '204 no content'],
  async ({ me, workspace }) => {
    const { path: address } = await workspace.hook()
    ;(await me.delete(address)).is(204).empty()
    ;(await me.get(address)).is(404)
  },
)

webhooks.check(
  'hooks.private',
  `GET ${hooks}`,
  ['Unauthenticated or failed requests that would leak the existence of data get 404, not 401.'],
  async ({ anonymous, workspace }) => (await anonymous.get(`${(await workspace.privateRepo()).path}/hooks`)).is(404),
)
