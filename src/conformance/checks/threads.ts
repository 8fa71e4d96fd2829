import { at, Skip } from '../answer.ts'
import { thread, threadSubscription } from '../resources.ts'
import { notifications } from './notifications.ts'
import { checkAuthentication } from './statuses.ts'

const get = 'GET /notifications/threads/{thread_id}'
const subscription = '/notifications/threads/{thread_id}/subscription'

notifications.check('threads.get', get, ['200 thread; 304, 401, 403', 'thread address'], async ({ me, workspace }) => {
  const row = await workspace.thread()
  const answer = (await me.get(`/notifications/threads/${row.id}`)).is(200).matches(thread)
  answer.equals('id', answer.row().id, row.id)
  ;(await me.get(`${answer.row().url}`)).is(200).equals('the thread at its url', answer.row().id, row.id)
})

notifications.check(
  'threads.get.not-modified',
  get,
  ['200 thread; 304, 401, 403', 'Returned for conditional requests and most authenticated GETs.'],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}`
    const etag = (await me.get(path)).is(200).header('etag')
    ;(await me.get(path, { 'if-none-match': etag })).is(304).empty()
  },
)

notifications.check(
  'threads.subject',
  get,
  ['title string, url string, latest_comment_url string, type string (issue, pull request or commit kind)'],
  async ({ me, workspace }) => {
    const row = await workspace.thread()
    const answer = (await me.get(`/notifications/threads/${row.id}`)).is(200)
    const { subject } = answer.row()
    answer.equals('subject.type', at(subject, 'type'), 'Issue')
    const issue = (await me.get(`${at(subject, 'url')}`)).is(200)
    issue.equals('the title of the issue', issue.row().title, at(subject, 'title'))
    ;(await me.get(`${at(subject, 'latest_comment_url')}`)).is(200)
  },
)

notifications.check(
  'threads.read',
  'PATCH /notifications/threads/{thread_id}',
  ['205, 304, 403', '205 reset content (mark thread as read)'],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}`
    ;(await me.patch(path)).is(205).empty()
    const answer = (await me.get(path)).is(200)
    answer.equals('unread', answer.row().unread, false)
  },
)

notifications.check('threads.other-user', get, ['resource not found.'], async ({ other, workspace }) => {
  const caller = other()
  ;(await caller.get(`/notifications/threads/${(await workspace.thread()).id}`)).is(403, 404)
})

notifications.check(
  'threads.reason.mention',
  get,
  ['mention | specifically mentioned in the content', 'one of the reasons below'],
  async ({ me, workspace }) => {
    const answer = (await me.get(`/notifications/threads/${(await workspace.thread()).id}`)).is(200)
    answer.equals('reason', answer.row().reason, 'mention')
  },
)

/** Acts of the other user or the caller on a new issue, and the reason that the caller gets. */
const acts: [reason: string, words: string, before: 'comment' | 'close' | 'assign' | 'none'][] = [
  ['comment', 'comment | commented on the thread', 'comment'],
  ['state_change', 'state_change | the user changed the thread state (closing an issue, merging a pull request)', 'close'],
  ['assign', 'assign | assigned to the issue', 'assign'],
  ['subscribed', 'subscribed | watching the repository', 'none'],
]
for (const [reason, words, before] of acts)
  notifications.check(`threads.reason.${reason.replace('_', '-')}`, get, [words], async ({ me, other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.inboxRepo()
    if (reason === 'subscribed' && (await me.put(`${repo.path}/subscription`, { subscribed: true })).status !== 200)
      throw new Skip('The server cannot watch a repository.')
    const title = workspace.name('issue')
    const created = (await caller.post(`${repo.path}/issues`, { title })).is(201).row()
    const issue = `${repo.path}/issues/${created.number}`
    if (before === 'comment') (await me.post(`${issue}/comments`, { body: 'A comment' })).is(201)
    if (before === 'close') (await me.patch(issue, { state: 'closed' })).is(200)
    if (before === 'assign') {
      // The other user may not assign, so a thread is there first, and the caller assigns themselves before a comment brings it up.
      ;(await me.post(`${issue}/assignees`, { assignees: [target.login] })).is(201)
    }
    if (before !== 'none') (await caller.post(`${issue}/comments`, { body: 'Another comment' })).is(201)
    const has = (row: Record<string, unknown>) => at(row, 'subject.title') === title && row.reason === reason
    await me.until(`${repo.path}/notifications?per_page=100&all=true`, `a thread "${title}" with the reason ${reason}`, (list) =>
      list.is(200).list().some(has),
    )
  })

notifications.check(
  'threads.reason.sticky',
  get,
  ['It changes when a later notification has a different reason, and then stays at that value even if the cause does not recur.'],
  async ({ me, other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.inboxRepo()
    const title = workspace.name('issue')
    const { number } = (await me.post(`${repo.path}/issues`, { title })).is(201).row()
    const comment = async (body: string) => (await caller.post(`${repo.path}/issues/${number}/comments`, { body })).is(201)
    const settled = (reason: string, after = '') =>
      me.until(`${repo.path}/notifications?per_page=100&all=true`, `a thread "${title}" with the reason ${reason}`, (list) =>
        list
          .is(200)
          .list()
          .some(
            (row) =>
              at(row, 'subject.title') === title && row.reason === reason && `${at(row, 'subject.latest_comment_url')}` !== after,
          ),
      )
    await comment('A comment')
    await settled('author')
    await comment(`@${target.login}, look`)
    const mentioned = (await settled('mention')).list().find((row) => at(row, 'subject.title') === title)
    await comment('No mention')
    await settled('mention', `${at(mentioned, 'subject.latest_comment_url')}`)
  },
)

notifications.check(
  'threads.subscription.get',
  `GET ${subscription}`,
  [
    '/notifications/threads/{thread_id}/subscription | | 200 Thread subscription; 304, 401, 403',
    'subscribed boolean, ignored boolean, reason (null seen), created_at timestamp, url string, thread_url string.',
  ],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}`
    ;(await me.put(`${path}/subscription`, { ignored: false })).is(200)
    const answer = (await me.get(`${path}/subscription`)).is(200).matches(threadSubscription)
    ;(await me.get(`${answer.row().thread_url}`)).is(200)
    ;(await me.get(`${answer.row().url}`)).is(200)
    const etag = answer.header('etag')
    ;(await me.get(`${path}/subscription`, { 'if-none-match': etag })).is(304).empty()
  },
)

notifications.check(
  'threads.subscription.ignore',
  `PUT ${subscription}`,
  ['Set a thread subscription with ignored=true', 'body: ignored boolean (block all notifications from the thread)'],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}/subscription`
    const answer = (await me.put(path, { ignored: true })).is(200).matches(threadSubscription)
    answer.equals('ignored', answer.row().ignored, true)
    const back = (await me.put(path, { ignored: false })).is(200)
    back.equals('subscribed', back.row().subscribed, true).equals('ignored', back.row().ignored, false)
  },
)

notifications.check(
  'threads.subscription.subscribe',
  `PUT ${subscription}`,
  ['ignored | Set a thread subscription with ignored=false | subscribed', 'manual | subscribed to the thread'],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}/subscription`
    ;(await me.put(path, { ignored: true })).is(200)
    ;(await me.put(path, { ignored: false })).is(200)
    const answer = (await me.get(path)).is(200)
    answer.equals('subscribed', answer.row().subscribed, true).equals('ignored', answer.row().ignored, false)
  },
)

notifications.check(
  'threads.subscription.ignored',
  `PUT ${subscription}`,
  ['ignored; notifications blocked until the user comments or is mentioned'],
  async ({ me, other, target, workspace }) => {
    const caller = other()
    const row = await workspace.thread()
    const path = `/notifications/threads/${row.id}`
    ;(await me.put(`${path}/subscription`, { ignored: true })).is(200)
    ;(await me.patch(path)).is(205)
    const issue = new URL(`${at(row, 'subject.url')}`).href
    ;(await caller.post(`${issue}/comments`, { body: 'Without a mention' })).is(201)
    // A later thread of the same repository is there, so this one would be too.
    await workspace.thread()
    const quiet = (await me.get(path)).is(200)
    quiet.equals('unread', quiet.row().unread, false)
    ;(await caller.post(`${issue}/comments`, { body: `@${target.login}, look` })).is(201)
    await me.until(path, 'unread to be true after a mention', (answer) => answer.is(200).row().unread === true)
  },
)

notifications.check(
  'threads.subscription.delete',
  `DELETE ${subscription}`,
  ['204; 304, 401, 403', 'muted until the user comments or is mentioned.'],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}/subscription`
    ;(await me.put(path, { ignored: false })).is(200)
    ;(await me.delete(path)).is(204).empty()
    const answer = await me.get(path)
    answer.must(
      answer.status === 404 || (answer.status === 200 && answer.row().subscribed === false),
      'no subscription',
      answer.text,
    )
  },
)

const bare = () => '/notifications/threads/1'
checkAuthentication(notifications, [
  { id: 'threads.get', method: 'GET', operation: get, words: '200 thread; 304, 401, 403', path: bare },
  {
    id: 'threads.subscription.get',
    method: 'GET',
    operation: `GET ${subscription}`,
    words: '200 Thread subscription; 304, 401, 403',
    path: () => `${bare()}/subscription`,
  },
  {
    id: 'threads.subscription.set',
    method: 'PUT',
    operation: `PUT ${subscription}`,
    words: 'block all notifications from the thread) | 200 Thread subscription; 304, 401, 403',
    path: () => `${bare()}/subscription`,
  },
  {
    id: 'threads.subscription.delete',
    method: 'DELETE',
    operation: `DELETE ${subscription}`,
    words: '204; 304, 401, 403',
    path: () => `${bare()}/subscription`,
  },
])
