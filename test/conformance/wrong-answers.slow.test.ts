import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { runConformance, startChecked } from './checked-server.ts'
import { type Fault, type Given, openWrongServer, type Passed } from './wrong-server.ts'

let server: Awaited<ReturnType<typeof startChecked>>
before(async () => {
  server = await startChecked()
})
after(() => server.close())

/** The ids of the checks that found a fault, and of those that did not. `timeout` is in seconds. */
async function judge(fault: Fault, only: string[], timeout = usual) {
  await using wrong = await openWrongServer(server.url, fault)
  const chosen = only.flatMap((pattern) => ['--only', pattern])
  // The checks wait for what never comes.
  const args = [wrong.url, '--receiver', 'none', '--timeout', `${timeout}`, '--concurrency', '8', ...chosen]
  const { report } = await runConformance(args, server.secrets)
  const ids = (outcome: string) => report.results.filter((result) => result.outcome === outcome).map(({ id }) => id)
  return { failed: ids('failed').sort(), passed: ids('passed').sort(), skipped: ids('skipped').sort() }
}

/** Seconds of a check for what never comes; and for a right answer, when the machine is too busy to give it in the usual time. */
const [usual, busy] = [3, 30]

/** These checks find the fault, and the others do not. */
async function finds(fault: Fault, only: string[], expected: string[]) {
  const { failed } = await judge(fault, only)
  if (isDeepStrictEqual(failed, expected)) return
  assert.deepEqual((await judge(fault, only, busy)).failed, expected)
}

const timelines = [
  'events.dashboard',
  'events.network',
  'events.organization',
  'events.public',
  'events.received',
  'events.received-public',
  'events.repository',
  'events.user',
  'events.user-public',
]

/** Changes the rows of lists. */
const inLists =
  (change: (rows: Record<string, unknown>[]) => unknown[]) =>
  (answer: Given, { method, path }: { method: string; path: string }) => {
    if (method === 'GET' && path.startsWith('/api/') && answer.status === 200 && answer.text.startsWith('['))
      answer.text = JSON.stringify(change(JSON.parse(answer.text)))
  }

test('empty lists are found by every check that reads one', async () => {
  const lists = ['events', 'starred', 'stargazers', 'subscribers', 'hooks.list', 'imports.authors', 'imports.get']
  const fault = inLists(() => [])
  await finds(
    { answer: (answer, request) => void (/\/user\/orgs/.test(request.path) || fault(answer, request)) },
    lists,
    [
      ...[
        'dashboard',
        'days',
        'network',
        'network.moved',
        'organization',
        'organization.org',
        'page-size.fixed',
        'page.default',
        'payload.create',
        'payload.push',
        'payload.watch',
      ].map((id) => `events.${id}`),
      ...[
        'received',
        'received-public',
        'received-public.public-only',
        'received.public-only',
        'received.watched',
        'repository',
        'repository.anonymous',
      ].map((id) => `events.${id}`),
      ...['user', 'user-public', 'user-public.public-only', 'user.private'].map((id) => `events.${id}`),
      ...['hooks.list', 'hooks.list.pages', 'imports.authors', 'imports.authors.map', 'imports.authors.since', 'imports.get'],
      ...['star.other-user', 'star.put', 'star.put.counted', 'stargazers.list', 'stargazers.pages', 'stargazers.star-media'],
      ...['direction', 'list', 'pages', 'star-media'].map((id) => `starred.${id}`),
      ...['direction', 'list', 'pages', 'star-media'].map((id) => `starred-by-user.${id}`),
      ...['anonymous', 'list', 'pages'].map((id) => `subscribers.${id}`),
    ].sort(),
  )
})

test('lists in another order are found', async () => {
  const parts = ['events', 'direction', 'sorted']
  // Times have whole seconds: a list of events within one second has no order that could be wrong.
  const apart = (row: Record<string, unknown>, index: number) => {
    const isEvent = 'actor' in row && typeof row.created_at === 'string'
    return isEvent ? { ...row, created_at: new Date(Date.parse(`${row.created_at}`) - 1000 * index).toISOString() } : row
  }
  await finds(
    { answer: inLists((rows) => rows.map(apart).toReversed()) },
    parts,
    [
      ...timelines,
      'notifications.list.sorted',
      'notifications.repository.sorted',
      'starred-by-user.direction',
      'starred.direction',
    ].sort(),
  )
})

test('parameters that are ignored are found', async () => {
  const fault: Fault = {
    request: (request) => {
      if (request.method === 'GET' && request.path.startsWith('/api/')) request.path = request.path.split('?')[0] ?? ''
    },
  }
  await finds(
    fault,
    ['page', 'most', 'since', 'direction', 'invalid', 'notifications.all'],
    [
      'deliveries.list.invalid',
      'events.most',
      'hooks.list.pages',
      'imports.authors.since',
      'notifications.all',
      'notifications.list.invalid',
      'notifications.list.pages',
      'notifications.list.since',
      'notifications.repository.pages',
      'notifications.repository.since',
      'stargazers.pages',
      'starred-by-user.direction',
      'starred-by-user.pages',
      'starred.direction',
      'starred.pages',
      'subscribers.pages',
    ].sort(),
  )
})

const polling = timelines.map((id) => `${id}.polling`)
const conditional = ['polling', 'not-modified', 'list.changed', 'subscription.get']
const isConditional = ({ headers }: Passed) => headers['if-none-match'] ?? headers['if-modified-since']

test('a 304 for what has changed is found', async () => {
  const fault: Fault = {
    answer(answer, request) {
      if (isConditional(request)) answer.status = 304
    },
  }
  await finds(
    fault,
    conditional,
    [
      ...polling,
      'notifications.list.changed',
      'starred.not-modified',
      'threads.get.not-modified',
      'threads.subscription.get',
    ].sort(),
  )
})

test('a 200 for what has not changed is found', async () => {
  const fault: Fault = {
    request: ({ headers }) => {
      for (const name of ['if-none-match', 'if-modified-since']) delete headers[name]
    },
  }
  await finds(
    fault,
    conditional,
    [
      ...polling,
      'events.not-modified.free',
      'notifications.list.not-modified',
      'notifications.repository.not-modified',
      'starred.not-modified',
      'threads.get.not-modified',
      'threads.subscription.get',
    ].sort(),
  )
})

test('one reason for all notifications is found', async () => {
  const fault: Fault = {
    answer(answer) {
      answer.text = answer.text.replaceAll(/"reason":"\w+"/g, '"reason":"subscribed"')
    },
  }
  await finds(
    fault,
    ['threads.reason', 'own-act'],
    [
      'notifications.own-act',
      ...[
        'assign',
        'comment',
        'invitation',
        'manual',
        'mention',
        'review-requested',
        'state-change',
        'sticky',
        'team-mention',
      ].map((id) => `threads.reason.${id}`),
    ].sort(),
  )
})

test('an address that leads to another record is found', async () => {
  const fault: Fault = {
    answer: (answer, { path }) => {
      if (/\/(threads|hooks)\/\d+$/.test(path)) answer.text = answer.text.replace(/"id":"?\d+"?/, '"id":"1"')
    },
  }
  await finds(
    fault,
    ['threads.get', 'hooks.get', 'threads.subscription.get'],
    ['hooks.get', 'threads.get', 'threads.subscription.get'],
  )
})

test('timelines with events that are too old or too new are found', async () => {
  const dated = (date: string): Fault => ({
    answer: inLists((rows) => rows.map((row) => ('created_at' in row ? { ...row, created_at: date } : row))),
  })
  const old = await judge(dated('2020-01-01T00:00:00Z'), ['events.days', 'events.public.delay'])
  assert.deepEqual([old.failed, old.passed], [['events.days'], ['events.public.delay']])
  const now = await judge(dated(`${new Date().toISOString().slice(0, 19)}Z`), ['events.days', 'events.public.delay'])
  assert.deepEqual([now.failed, now.passed], [['events.public.delay'], ['events.days']])
})

test('imports that are closed in part are found', async () => {
  const fault: Fault = {
    answer(answer, { path }) {
      if (/\/import\/large_files$/.test(path)) answer.status = 410
    },
  }
  await finds(fault, ['imports.closed'], ['imports.closed'])
})

test('a private feed without its token is found', async () => {
  let token = ''
  const fault: Fault = {
    request: (request) => {
      token = /[?&]token=(?!wrong)([^&]+)/.exec(request.path)?.[1] ?? token
      request.path = request.path.replace('token=wrong', `token=${token}`)
    },
  }
  await finds(fault, ['feeds.atom.wrong-token'], ['feeds.atom.wrong-token'])
})
