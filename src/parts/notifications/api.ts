import { Answer, type BaseContext, del, get, group, patch, put } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import type { Database } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { Type } from '#platform/schema.ts'
import type { Topic } from '#platform/topics.ts'
import {
  ThreadReasonSchema,
  ThreadSchema,
  ThreadSubscriptionSchema,
  threadJson,
  threadReasonJson,
  threadSubscriptionJson,
  threadsJson,
} from './json.ts'
import { lastListSnapshot, storeListSnapshot } from './list-snapshots.ts'
import { markAllRead, markLocked } from './mark-read.ts'
import { listThreadReasons } from './reasons.ts'
import { endThreadSubscription, findThreadSubscription, setThreadSubscription } from './thread-subscription.ts'
import { listThreads, loadThread, lockThread, readChanges } from './threads.ts'

/** The public documentation excludes fine-grained tokens. */
const declared = { scopes: ['notifications', 'repo'], permission: 'classic' } as const

const flag = () => choice('false', 'true', '1')
const listing = {
  ...declared,
  query: { all: flag(), participating: flag(), since: text(), before: text() },
  list: true,
  polled: true,
  last_modified: true,
  answers: { 200: Type.Array(ThreadSchema) },
} as const

const Background = Type.Object({ message: Type.String() }, { title: 'InBackground' })
const finished = { message: 'The notifications of this repository are marked as read.' }
const background = {
  message:
    "Unread notifications couldn't be marked in a single request. Notifications are being marked as read in the background.",
}

type ListQuery = Record<'all' | 'participating' | 'since' | 'before', string>

async function list(
  { db, page, wire }: Pick<BaseContext, 'page' | 'wire'> & { db: Database },
  viewer: { id: number },
  { all, participating, since, before }: ListQuery,
  repo_id?: number,
) {
  const filter = {
    view: all === 'false' ? 'unread' : 'inbox',
    participating: participating !== 'false',
    ...(repo_id !== undefined && { repo_id }),
    since: parseTime('since', since),
    before: parseTime('before', before),
  } as const
  const { rows, total, new_snapshot } = await listThreads(db, viewer, filter, page)
  // Invitations and transfers expire, which no topic reports.
  const expires = rows.some(({ type }) => type === 'RepositoryInvitation' || type === 'RepositoryTransfer')
  const topics: Topic[] = ['w', `a${viewer.id}`, `i${viewer.id}`, ...rows.map(({ repo_id }) => `r${repo_id}` as const)]
  return new Answer(threadsJson(rows, wire), {
    total,
    ...(new_snapshot !== undefined && { before_sending: () => storeListSnapshot(db, viewer, new_snapshot) }),
    ...(!expires && { topics: [...new Set(topics)] }),
  })
}

function parseTime(field: string, given: string | undefined): Date | undefined {
  if (given === undefined || given === '') return undefined
  const moment = parseIsoDate(given)
  if (!moment) {
    throw invalid({ resource: 'Notification', code: 'invalid', field, message: `${field} must be a time in ISO 8601` })
  }
  return moment
}

const Marks = Type.Partial(
  Type.Object({ last_read_at: Type.Unsafe<string | null>({ type: ['string', 'null'] }), read: Type.Boolean() }),
)

export const api = group('Notifications', [
  get(
    '/notifications',
    {
      ...listing,
      operation: 'activity/list-notifications-for-authenticated-user',
      summary: 'List notifications, newest first; as text/event-stream, changes from now on',
      followed: 'by bookmark',
    },
    async (context) => {
      const { db, viewer, query, following, wire } = context
      if (following === undefined) return list(context, viewer, query)
      const { threads, bookmark } = await readChanges(db, viewer, following)
      return new Answer(threadsJson(threads, wire), { bookmark, topics: ['w', `i${viewer.id}`] })
    },
  ),
  put(
    '/notifications',
    {
      ...declared,
      operation: 'activity/mark-notifications-as-read',
      summary: 'Mark all notifications that were not updated after a time as read; 202 when this continues in the background',
      own_transaction: true,
      body: Marks,
      answers: { 205: Nothing, 202: Background },
    },
    async ({ db, viewer, body }) => {
      const last_read_at = parseTime('last_read_at', body.last_read_at ?? undefined) ?? db.now
      if (body.read === false) return new Answer(undefined, { status: 205 })
      const marks = { last_read_at, list_snapshot: await lastListSnapshot(db, viewer, last_read_at) }
      const isFinished = await db.transaction((transaction) => markAllRead(transaction, viewer, marks))
      return isFinished ? new Answer(undefined, { status: 205 }) : new Answer(background, { status: 202 })
    },
  ),
  get(
    '/notifications/threads/{thread_id}',
    { ...declared, operation: 'activity/get-thread', summary: 'Get a thread', answers: { 200: ThreadSchema } },
    async ({ db, viewer, params, wire }) => threadJson(await loadThread(db, viewer, params.thread_id), wire),
  ),
  patch(
    '/notifications/threads/{thread_id}',
    {
      ...declared,
      operation: 'activity/mark-thread-as-read',
      summary: 'Mark a thread as read',
      answers: { 205: Nothing },
    },
    async ({ db, viewer, params }) => {
      await lockThread(db, viewer, params.thread_id)
      await markLocked(db, viewer, [params.thread_id], 'read')
    },
  ),
  del(
    '/notifications/threads/{thread_id}',
    {
      ...declared,
      operation: 'activity/mark-thread-as-done',
      summary: 'Mark a thread as done until it is updated',
      answers: { 204: Nothing },
    },
    async ({ db, viewer, params }) => {
      await lockThread(db, viewer, params.thread_id)
      await markLocked(db, viewer, [params.thread_id], 'done')
    },
  ),
  get(
    '/notifications/threads/{thread_id}/reasons',
    {
      ...declared,
      operation: 'activity/list-thread-reasons',
      summary: 'List why the caller was notified: each act with its rule, newest first',
      answers: { 200: Type.Array(ThreadReasonSchema) },
    },
    async ({ db, viewer, params, wire }) => {
      const thread = await loadThread(db, viewer, params.thread_id)
      return (await listThreadReasons(db, thread)).map((reason) => threadReasonJson(reason, thread, wire))
    },
  ),
  get(
    '/notifications/threads/{thread_id}/subscription',
    {
      ...declared,
      operation: 'activity/get-thread-subscription-for-authenticated-user',
      summary: 'Get the subscription of the caller to a thread; 404 after the caller left it',
      answers: { 200: ThreadSubscriptionSchema },
    },
    async ({ db, viewer, params, wire }) => {
      const thread = await loadThread(db, viewer, params.thread_id)
      const subscription = await findThreadSubscription(db, viewer, thread)
      if (!subscription) throw missing()
      return threadSubscriptionJson(subscription, thread, wire)
    },
  ),
  put(
    '/notifications/threads/{thread_id}/subscription',
    {
      ...declared,
      operation: 'activity/set-thread-subscription',
      summary: 'Subscribe to a thread or ignore it',
      body: Type.Partial(Type.Object({ ignored: Type.Boolean() })),
      answers: { 200: ThreadSubscriptionSchema },
    },
    async ({ db, viewer, params, body, wire }) => {
      const thread = await loadThread(db, viewer, params.thread_id)
      const subscription = await setThreadSubscription(db, viewer, thread.subject_id, body.ignored ?? false)
      return threadSubscriptionJson(subscription, thread, wire)
    },
  ),
  del(
    '/notifications/threads/{thread_id}/subscription',
    {
      ...declared,
      operation: 'activity/delete-thread-subscription',
      summary: 'Unsubscribe from a thread until the caller comments or is mentioned',
      answers: { 204: Nothing },
    },
    async ({ db, viewer, params }) => {
      const { subject_id } = await loadThread(db, viewer, params.thread_id)
      await endThreadSubscription(db, viewer, subject_id)
    },
  ),
  get(
    '/repos/{owner}/{repo}/notifications',
    {
      ...listing,
      operation: 'activity/list-repo-notifications-for-authenticated-user',
      sees_private: true,
      summary: 'List notifications of one repository, newest first',
    },
    (context) => list(context, context.viewer, context.query, context.repo.id),
  ),
  put(
    '/repos/{owner}/{repo}/notifications',
    {
      ...declared,
      operation: 'activity/mark-repo-notifications-as-read',
      sees_private: true,
      summary: 'Mark all notifications of a repository that were not updated after a time as read',
      own_transaction: true,
      body: Type.Partial(Type.Object({ last_read_at: Marks.properties.last_read_at })),
      answers: { 202: Background },
    },
    async ({ db, viewer, repo, body }) => {
      const last_read_at = parseTime('last_read_at', body.last_read_at ?? undefined) ?? db.now
      const marks = { last_read_at, list_snapshot: await lastListSnapshot(db, viewer, last_read_at), repo_id: repo.id }
      return (await db.transaction((transaction) => markAllRead(transaction, viewer, marks))) ? finished : background
    },
  ),
])
