import { type Answer, at, type Row, Skip } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { thread } from '../resources.ts'
import { listOf } from '../shape.ts'
import { checkAuthentication } from './statuses.ts'

export const notifications = new Part('Notifications')

const list = 'GET /notifications'
const ofRepository = 'GET /repos/{owner}/{repo}/notifications'
const titles = (answer: Answer) => answer.list().map((row) => at(row, 'subject.title'))
const titleOf = (row: Row) => `${at(row, 'subject.title')}`
const cells =
  'query: all boolean, participating boolean, since string (timestamp, after), before string (timestamp), per_page, page'

/** Both lists take the same query. */
const lists: [id: string, operation: string, words: string, path: (context: Context) => Promise<string>][] = [
  ['notifications.list', list, '200 array of thread; 304, 401, 403, 422', async () => '/notifications'],
  [
    'notifications.repository',
    ofRepository,
    'same query as the list above',
    async ({ workspace }) => `${(await workspace.inboxRepo()).path}/notifications`,
  ],
]

for (const [id, operation, words, path] of lists) {
  notifications.check(
    id,
    operation,
    [
      'id | string | thread id',
      'unread | boolean',
      'updated_at | string | timestamp',
      'last_read_at | string | timestamp',
      words,
      'repository | object | Repository, short form',
    ],
    async (context) => {
      const row = await context.workspace.thread()
      const answer = (await context.me.get(`${await path(context)}?per_page=100`)).is(200).matches(listOf(thread))
      answer.must(titles(answer).includes(titleOf(row)), `the thread "${titleOf(row)}"`, titles(answer))
    },
  )

  notifications.check(`${id}.sorted`, operation, ['The list is sorted by most recently updated.'], async (context) => {
    const first = await context.workspace.thread()
    // Dates have whole seconds, and two equal ones have no order.
    await context.workspace.sleep(1100)
    const second = await context.workspace.thread()
    const answer = (await context.me.get(`${await path(context)}?per_page=100`)).is(200)
    const dates = answer.list().map((row) => Date.parse(`${row.updated_at}`))
    answer.must(
      dates.every((date, index) => index === 0 || date <= (dates[index - 1] ?? 0)),
      'the latest update first',
      dates,
    )
    const both = [titleOf(second), titleOf(first)]
    answer.equals(
      'the order of two threads',
      titles(answer).filter((title) => both.includes(`${title}`)),
      both,
    )
  })

  notifications.check(`${id}.since`, operation, [cells], async (context) => {
    const row = await context.workspace.thread()
    const [before, after] = [-3_600_000, 3_600_000].map((shift) =>
      new Date(Date.parse(`${row.updated_at}`) + shift).toISOString(),
    )
    const read = async (query: string) => (await context.me.get(`${await path(context)}?per_page=100&${query}`)).is(200)
    const newer = await read(`since=${before}`)
    newer.must(titles(newer).includes(titleOf(row)), 'a thread that was updated after since', titles(newer))
    const none = await read(`since=${after}`)
    none.must(!titles(none).includes(titleOf(row)), 'no thread that was updated before since', titles(none))
    const older = await read(`before=${after}`)
    older.must(titles(older).includes(titleOf(row)), 'a thread that was updated before before', titles(older))
    const early = await read(`before=${before}`)
    early.must(!titles(early).includes(titleOf(row)), 'no thread that was updated after before', titles(early))
  })

  notifications.check(`${id}.participating`, operation, [cells], async (context) => {
    const row = await context.workspace.thread()
    const answer = (await context.me.get(`${await path(context)}?participating=true&per_page=100`))
      .is(200)
      .matches(listOf(thread))
    answer.must(titles(answer).includes(titleOf(row)), 'a thread that mentions the caller', titles(answer))
  })

  notifications.check(
    `${id}.pages`,
    operation,
    ['Every list endpoint takes query per_page (integer) and page (integer) unless stated.'],
    async (context) => {
      await context.workspace.thread()
      await context.workspace.thread()
      const address = await path(context)
      const [first, second] = [
        await context.me.get(`${address}?per_page=1&all=true`),
        await context.me.get(`${address}?per_page=1&page=2&all=true`),
      ]
      first.is(200).equals('the number of threads', first.list().length, 1)
      second.is(200).equals('the number of threads', second.list().length, 1)
      second.must(first.list()[0]?.id !== second.list()[0]?.id, 'another thread on the second page', second.list()[0]?.id)
    },
    { alone: true },
  )

  notifications.check(
    `${id}.not-modified`,
    operation,
    ['It supports Last-Modified and If-Modified-Since; an unchanged list returns 304.'],
    async (context) => {
      await context.workspace.thread()
      const address = await path(context)
      const modified = (await context.me.get(address)).is(200).header('last-modified', /GMT$/)
      // Dates have whole seconds: a change within the same second may not be hidden, so a server may answer 200 at first.
      const later = await untilUnchanged(context, address, modified)
      later.is(304).empty()
    },
    { alone: true },
  )
}

async function untilUnchanged({ me }: Context, path: string, modified: string): Promise<Answer> {
  const deadline = performance.now() + 8000
  let date = modified
  for (;;) {
    const answer = await me.get(path, { 'if-modified-since': date })
    if (answer.status !== 200 || performance.now() > deadline) return answer
    date = answer.header('last-modified')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

notifications.check(
  'notifications.list.changed',
  list,
  ['It supports Last-Modified and If-Modified-Since; an unchanged list returns 304.'],
  async ({ me, workspace }) => {
    await workspace.thread()
    const modified = (await me.get('/notifications')).is(200).header('last-modified')
    await workspace.thread()
    ;(await me.get('/notifications', { 'if-modified-since': modified })).is(200)
  },
  { alone: true },
)

notifications.check(
  'notifications.list.invalid',
  list,
  ['200 array of thread; 304, 401, 403, 422', 'validation failed, or the endpoint has been spammed.'],
  async ({ me }) => (await me.get('/notifications?since=yesterday')).is(422),
)

notifications.check(
  'notifications.all',
  list,
  ['unread false, and the item leaves the default view', 'To check for remaining unread items, list with all=false.'],
  async ({ me, workspace }) => {
    const row = await workspace.thread()
    ;(await me.patch(`/notifications/threads/${row.id}`)).is(205)
    const unread = (await me.get('/notifications?all=false&per_page=100')).is(200)
    unread.must(!titles(unread).includes(titleOf(row)), 'no thread that was read', titles(unread))
    const all = (await me.get('/notifications?all=true&per_page=100')).is(200)
    const found = all.list().find(({ id }) => id === row.id)
    all.equals('unread', found?.unread, false)
    all.must(typeof found?.last_read_at === 'string', 'last_read_at to be a timestamp', found?.last_read_at)
  },
)

notifications.check(
  'notifications.own-act',
  list,
  ['author | created the thread', 'It delivers notifications as threads.'],
  async ({ me, other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.inboxRepo()
    const title = workspace.name('issue')
    const number = (await me.post(`${repo.path}/issues`, { title })).prepares().row().number
    ;(await caller.post(`${repo.path}/issues/${number}/comments`, { body: 'A comment' })).prepares()
    const answer = await me.until(`${repo.path}/notifications?per_page=100`, `a thread "${title}" of ${target.login}`, (found) =>
      titles(found.is(200)).includes(title),
    )
    answer.equals('reason', answer.list().find((row) => titleOf(row) === title)?.reason, 'author')
  },
)

notifications.check(
  'notifications.mark',
  'PUT /notifications',
  ['body: last_read_at string (timestamp), read boolean', '202, 205, 304, 401, 403'],
  async ({ me }) =>
    // Nothing is that old, so the inbox of a real user stays as it is.
    (await me.put('/notifications', { last_read_at: '2000-01-01T00:00:00Z', read: true })).is(202, 205),
)

notifications.check(
  'notifications.mark.later',
  'PUT /notifications',
  ['Items updated after it stay unread.'],
  async ({ me, workspace }) => {
    const row = await workspace.thread()
    ;(await me.put('/notifications', { last_read_at: '2000-01-01T00:00:00Z' })).is(202, 205)
    const answer = (await me.get(`/notifications/threads/${row.id}`)).is(200)
    answer.equals('unread', answer.row().unread, true)
  },
  { alone: true },
)

notifications.check(
  'notifications.mark.all',
  'PUT /notifications',
  [
    'Mark notifications as read (all, or in a repository), or Mark a thread as read',
    'When a bulk mark-read is too large to finish in one request, the response is 202 and the work completes asynchronously.',
  ],
  async ({ me, workspace }) => {
    const row = await workspace.thread()
    const unread = (await me.get('/notifications?per_page=100')).is(200).list()
    if (unread.some((one) => !`${at(one, 'repository.name')}`.startsWith(`conformance-${workspace.run}-`)))
      throw new Skip('The inbox has unread threads that this run did not make, and they would be marked as read.')
    ;(await me.put('/notifications', {})).is(202, 205)
    await me.until(`/notifications/threads/${row.id}`, 'unread to be false', (answer) => answer.is(200).row().unread === false)
  },
  { alone: true },
)

notifications.check(
  'notifications.repository.mark',
  'PUT /repos/{owner}/{repo}/notifications',
  ['When omitted, all are marked read.', '202 accepted (asynchronous work: bulk mark-read, redelivery)'],
  async ({ me, workspace }) => {
    const row = await workspace.thread()
    const repo = await workspace.inboxRepo()
    ;(await me.put(`${repo.path}/notifications`)).is(202)
    await me.until(`/notifications/threads/${row.id}`, 'unread to be false', (answer) => answer.is(200).row().unread === false)
  },
  { alone: true },
)

notifications.check(
  'notifications.repository.mark.later',
  'PUT /repos/{owner}/{repo}/notifications',
  ['body: last_read_at string (timestamp). Items updated after it stay unread.'],
  async ({ me, workspace }) => {
    const row = await workspace.thread()
    const repo = await workspace.inboxRepo()
    ;(await me.put(`${repo.path}/notifications`, { last_read_at: '2000-01-01T00:00:00Z' })).is(202)
    const answer = (await me.get(`/notifications/threads/${row.id}`)).is(200)
    answer.equals('unread', answer.row().unread, true)
  },
  { alone: true },
)

notifications.check('notifications.repository.unknown', ofRepository, ['resource not found.'], async ({ me, workspace }) =>
  (await me.get(`/repos/${workspace.name('none')}/${workspace.name('none')}/notifications`)).is(404),
)

checkAuthentication(notifications, [
  {
    id: 'notifications.list',
    method: 'GET',
    operation: list,
    words: '200 array of thread; 304, 401, 403, 422',
    path: () => '/notifications',
  },
  {
    id: 'notifications.mark',
    method: 'PUT',
    operation: 'PUT /notifications',
    words: '202, 205, 304, 401, 403',
    path: () => '/notifications',
  },
])
