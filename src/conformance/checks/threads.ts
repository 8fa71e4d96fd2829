import { at } from '../answer.ts'
import type { Context } from '../check.ts'
import { thread, threadSubscription } from '../resources.ts'
import { notifications } from './notifications.ts'
import { checkAuthentication } from './statuses.ts'

const get = 'GET /notifications/threads/{thread_id}'
const subscription = '/notifications/threads/{thread_id}/subscription'

notifications.check('threads.get', get, ['200 thread; 304, 401, 403', 'thread address'], async ({ me, workspace }) => {
  const row = await workspace.thread()
  const answer = (await me.get(`/notifications/threads/${row.id}`)).is(200).matches(thread)
  answer.equals('id', answer.row().id, row.id)
  const again = (await me.get(`${answer.row().url}`)).is(200)
  again.equals('the thread at its url', again.row().id, row.id)
})

notifications.check(
  'threads.get.not-modified',
  get,
  ['200 thread; 304, 401, 403', 'Returned for conditional requests and most authenticated GETs.'],
  async ({ me, workspace }) => {
    const path = `/notifications/threads/${(await workspace.thread()).id}`
    const etag = (await me.get(path)).is(200).header('etag')
    ;(await me.get(path, { 'if-none-match': etag })).is(304).empty()
    ;(await me.get(path, { 'if-none-match': '"of-another-response"' })).is(200)
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
  'threads.subscription.get',
  `GET ${subscription}`,
  [
    '/notifications/threads/{thread_id}/subscription | | 200 Thread subscription; 304, 401, 403',
    'subscribed boolean, ignored boolean, reason (null seen), created_at timestamp, url string, thread_url string.',
  ],
  async ({ me, workspace }) => {
    const { id } = await workspace.thread()
    const path = `/notifications/threads/${id}`
    ;(await me.put(`${path}/subscription`, { ignored: false })).is(200)
    const answer = (await me.get(`${path}/subscription`)).is(200).matches(threadSubscription)
    answer.equals('subscribed', answer.row().subscribed, true)
    const thread = (await me.get(`${answer.row().thread_url}`)).is(200)
    thread.equals('the thread at thread_url', thread.row().id, id)
    const again = (await me.get(`${answer.row().url}`)).is(200)
    again.equals('the subscription at its url', again.row().thread_url, answer.row().thread_url)
    const etag = answer.header('etag')
    ;(await me.get(`${path}/subscription`, { 'if-none-match': etag })).is(304).empty()
    ;(await me.get(`${path}/subscription`, { 'if-none-match': '"of-another-response"' })).is(200)
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
  ['ignored | Set a thread subscription with ignored=false | subscribed'],
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
    ;(await caller.post(`${issue}/comments`, { body: 'Without a mention' })).prepares()
    // A later thread of the same repository is there, so this one would be too.
    await workspace.thread()
    const quiet = (await me.get(path)).is(200)
    quiet.equals('unread', quiet.row().unread, false)
    ;(await caller.post(`${issue}/comments`, { body: `@${target.login}, look` })).prepares()
    await me.until(path, 'unread to be true after a mention', (answer) => answer.is(200).row().unread === true)
  },
)

notifications.check(
  'threads.subscription.delete',
  `DELETE ${subscription}`,
  ['204; 304, 401, 403', 'muted until the user comments or is mentioned.'],
  async (context) => {
    const { me, other, target, workspace } = context
    const caller = other()
    const { thread: row, issue, repo } = await unsubscribed(context)
    ;(await me.delete(`${repo.path}/subscription`)).is(204, 404)
    const path = `/notifications/threads/${row.id}`
    const gone = await me.get(`${path}/subscription`)
    gone.must(gone.status === 404 || (gone.status === 200 && gone.row().subscribed === false), 'no subscription', gone.text)
    ;(await caller.post(`${issue}/comments`, { body: 'Without a mention' })).prepares()
    // A later thread of the same repository is there, so this one would be too.
    await workspace.thread(repo)
    const quiet = (await me.get(path)).is(200)
    quiet.equals('unread', quiet.row().unread, false)
    ;(await caller.post(`${issue}/comments`, { body: `@${target.login}, look` })).prepares()
    await me.until(path, 'unread to be true after a mention', (answer) => answer.is(200).row().unread === true)
  },
)

notifications.check(
  'threads.subscription.delete.watched',
  `DELETE ${subscription}`,
  ['Notifications still arrive if the user watches the repository.'],
  async (context) => {
    const { me, other } = context
    const caller = other()
    const { thread: row, issue, repo } = await unsubscribed(context)
    ;(await me.put(`${repo.path}/subscription`, { subscribed: true })).prepares()
    ;(await caller.post(`${issue}/comments`, { body: 'Without a mention' })).prepares()
    await me.until(`/notifications/threads/${row.id}`, 'unread to be true', (answer) => answer.is(200).row().unread === true)
  },
)

/** A thread that was read, and whose subscription was deleted, in a repository of its own. */
async function unsubscribed({ me, workspace }: Context) {
  const repo = await workspace.repo()
  const row = await workspace.thread(repo)
  const path = `/notifications/threads/${row.id}`
  ;(await me.put(`${path}/subscription`, { ignored: false })).is(200)
  ;(await me.delete(`${path}/subscription`)).is(204).empty()
  ;(await me.patch(path)).is(205)
  return { thread: row, issue: `${at(row, 'subject.url')}`, repo }
}

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
