import assert from 'node:assert/strict'
import { pull } from '#test/activity/model.ts'
import { type Crowd, pathOf } from './crowd.ts'
import type { Thread, Topic } from './model.ts'
import { type Ids, idKey } from './reading-acts.ts'

interface Shown {
  id: string
  repository: { id: number; full_name: string; private: boolean }
  subject: { title: string; url: string; latest_comment_url: string; type: string; state: string | null }
  reason: string
  unread: boolean
  done: boolean
  updated_at: string
  last_read_at: string | null
}

/** The value of the spec's dialect for a thread that was never read. */
const neverRead = '1970-01-01T00:00:00Z'
const lastOf = (url: string) => url.split('/').at(-1)
const second = (moment: number) => new Date(moment).toISOString().replace(/\.\d+/, '')

/** A thread as one line, expected and actual. */
function lineOf({ repo, type, number, title, state, latest }: Topic, thread: Thread) {
  const name = `${repo.owner}/${repo.name}`
  const called = title || `Invitation to join ${name}`
  const flags = `${thread.unread ? 'unread' : 'read'}${thread.done ? ', done' : ''}`
  const read = thread.last_read_at === null ? 'never' : second(thread.last_read_at)
  return `${thread.reason}: ${type} ${number} '${called}' (${state}) of ${name}, ${latest?.id ?? number}; ${flags}, ${second(thread.updated_at)}, ${read}`
}

function shownLine({ repository, subject, reason, unread, done, updated_at, last_read_at }: Shown) {
  const { type, title, state, url, latest_comment_url } = subject
  const flags = `${unread ? 'unread' : 'read'}${done ? ', done' : ''}`
  return `${reason}: ${type} ${lastOf(url)} '${title}' (${state}) of ${repository.full_name}, ${lastOf(latest_comment_url)}; ${flags}, ${updated_at}, ${last_read_at === neverRead ? 'never' : last_read_at}`
}

/** Read and unread threads. */
export const compareAll = (crowd: Crowd, ids: Ids, who: string, most = 20) =>
  compareList(crowd, ids, who, '/notifications?all=true', () => true, most)

export const compareUnread = (crowd: Crowd, ids: Ids, who: string, most = 20) =>
  compareList(crowd, ids, who, '/notifications', (_, { unread }) => unread, most)

/** The same by moment, by reason and by repository. */
export async function compareParts(crowd: Crowd, ids: Ids, who: string) {
  const from = crowd.inboxes.now - crowd.below(20_000)
  const since = `all=true&since=${new Date(from).toISOString()}`
  await compareList(crowd, ids, who, `/notifications?${since}`, (_, { updated_at }) => updated_at > from)
  await compareList(
    crowd,
    ids,
    who,
    `/notifications?${since.replace('since', 'before')}`,
    (_, { updated_at }) => updated_at < from,
  )
  await compareList(
    crowd,
    ids,
    who,
    '/notifications?participating=true',
    (_, { reason, unread }) => unread && reason !== 'subscribed',
  )
  const repo = crowd.repo()
  const path = `${pathOf(repo)}/notifications?all=true&participating=true`
  if (crowd.access(who, repo) < pull) assert.equal((await crowd.person(who).get(path)).status, 404)
  else await compareList(crowd, ids, who, path, (topic, { reason }) => topic.repo === repo && reason !== 'subscribed')
}

async function compareList(
  { inboxes, people, history }: Crowd,
  ids: Ids,
  who: string,
  path: string,
  belongs: (topic: Topic, thread: Thread) => boolean,
  most = 20,
) {
  const expected = inboxes.threadsOf(who).filter(({ topic, thread }) => !thread.done && belongs(topic, thread))
  const url = `${path}${path.includes('?') ? '&' : '?'}per_page=${most}`
  const shown = (await people.get(who)?.read(url)) as Shown[]
  const where = `${path} for ${who}, after\n${history.join('\n')}`
  if (shown.length) inboxes.noteListed(who)
  for (const { id, repository, subject } of shown) {
    const key = `${who} ${repository.id} ${subject.type} ${lastOf(subject.url)}`
    assert.equal(id, ids.get(key) ?? id, `${key} keeps its id: ${where}`)
    ids.set(key, id)
  }
  const idOf = (topic: Topic) => Number(ids.get(idKey(who, topic)) ?? 0)
  const sorted = expected.toSorted((a, b) => b.thread.updated_at - a.thread.updated_at || idOf(b.topic) - idOf(a.topic))
  assert.deepEqual(
    shown.map(shownLine),
    sorted.slice(0, most).map(({ topic, thread }) => lineOf(topic, thread)),
    where,
  )
}

/** One of somebody's threads and the one that was told last, why they were told, and whether they take part; what they may not see is not there. */
export async function compareOne(crowd: Crowd, ids: Ids, who: string) {
  const { inboxes, history, people } = crowd
  const known = inboxes.topics.filter((topic) => ids.has(idKey(who, topic)))
  const person = people.get(who)
  if (!known.length || !person) return
  const toldIn = (topic: Topic) => topic.threads.get(who)?.told ?? 0
  for (const topic of new Set([crowd.pick(known), known.toSorted((a, b) => toldIn(b) - toldIn(a))[0]])) {
    const thread = topic?.threads.get(who)
    if (!topic || !thread) continue
    const path = `/notifications/threads/${ids.get(idKey(who, topic))}`
    const where = `${path} of ${who}, after\n${history.join('\n')}`
    const paths = [path, `${path}/reasons`, `${path}/subscription`]
    const [one, reasons, subscription] = await Promise.all(paths.map((each): Promise<Response> => person.get(each)))
    const mind = topic.minds.get(who)
    const there = inboxes.isShown(who, topic)
    const watches = topic.repo.minds.get(who) === true
    const takesPart = there && (mind?.state !== 'muted' || watches)
    assert.deepEqual(
      [one?.status, reasons?.status, subscription?.status],
      [there, there, takesPart].map((ok) => (ok ? 200 : 404)),
      where,
    )
    if (!there) continue
    assert.equal(shownLine((await one?.json()) as Shown), lineOf(topic, thread), where)
    const history_shown = (await reasons?.json()) as { reason: string; act: string; actor: { login: string } }[]
    assert.deepEqual(
      history_shown.map(({ reason, act, actor }) => `${reason}: ${actor.login} ${act}`),
      thread.history,
      where,
    )
    if (!takesPart || !subscription) continue
    const { subscribed, ignored, reason } = (await subscription.json()) as Record<string, unknown>
    const decided = mind && mind.state !== 'muted' ? mind : undefined
    const isSubscribed = decided ? decided.state === 'subscribed' : watches
    assert.deepEqual(
      { subscribed, ignored, reason },
      {
        subscribed: isSubscribed,
        ignored: decided?.state === 'ignored',
        reason: isSubscribed ? (decided?.reason ?? 'subscribed') : null,
      },
      where,
    )
  }
}
