import assert from 'node:assert/strict'
import { pull } from '#test/activity/model.ts'
import { type Crowd, logins, pathOf } from './crowd.ts'
import type { Thread, Topic } from './model.ts'

/** A thread of a user. */
interface Held {
  who: string
  topic: Topic
  thread: Thread
  path: string
  shown: boolean
}

/** A thread with a known id, mostly of a recent issue. */
function someThread(crowd: Crowd, ids: Ids): Held | undefined {
  const held = crowd.inboxes.topics.flatMap((topic) =>
    [...topic.threads].flatMap(([who, thread]) => {
      const id = ids.get(idKey(who, topic))
      const shown = crowd.inboxes.isShown(who, topic)
      return id ? { who, topic, thread, path: `/notifications/threads/${id}`, shown } : []
    }),
  )
  if (!held.length) return undefined
  const talked = new Set(crowd.issues.slice(-3).map(({ topic }) => topic))
  const busy = held.filter(({ topic }) => talked.has(topic))
  return crowd.pick(busy.length && crowd.chance(0.8) ? busy : held)
}

export const idKey = (who: string, { repo, type, number }: Topic) => `${who} ${repo.id} ${type} ${number}`

/** The ids of threads that users have seen. */
export type Ids = Map<string, string>

export async function markThread(crowd: Crowd, ids: Ids) {
  const held = someThread(crowd, ids)
  if (!held) return []
  const { who, thread, path, shown } = held
  const change = crowd.chance(0.6) ? 'read' : 'done'
  const asked = await crowd.ask(who, change === 'read' ? 'patch' : 'delete', path, undefined, shown)
  if (asked) assert.equal(asked.status, change === 'read' ? 205 : 204)
  if (asked) crowd.inboxes.mark(thread, change)
  return [who]
}

export async function changeMind(crowd: Crowd, ids: Ids) {
  const held = someThread(crowd, ids)
  if (!held) return []
  const { who, topic, path, shown } = held
  const state = crowd.pick(['subscribed', 'muted', 'muted', 'ignored'] as const)
  const body = state === 'ignored' ? { ignored: true } : crowd.chance(0.5) ? { ignored: false } : {}
  const place = `${path}/subscription`
  const asked = await (state === 'muted'
    ? crowd.ask(who, 'delete', place, undefined, shown)
    : crowd.ask(who, 'put', place, body, shown))
  if (asked) crowd.inboxes.setMind(topic, who, state)
  return [who]
}

export async function markMany(crowd: Crowd) {
  const who = crowd.pick(logins)
  const repo = crowd.chance(0.4) ? crowd.repo() : undefined
  const moment = crowd.chance(0.4) ? undefined : someMoment(crowd, who)
  const body = moment === undefined ? undefined : { last_read_at: moment }
  const may = !repo || crowd.access(who, repo) >= pull
  const asked = await crowd.ask(who, 'put', `${repo ? pathOf(repo) : ''}/notifications`, body, may)
  if (!asked) return []
  assert.equal(asked.status, repo ? 202 : 205)
  crowd.inboxes.markAll(who, moment === undefined ? crowd.inboxes.now : Date.parse(moment), repo)
  return [who]
}

/** The time of a thread as it is shown, a recent time, or a future one. */
function someMoment(crowd: Crowd, who: string): string {
  const [now, threads] = [crowd.inboxes.now, crowd.inboxes.threadsOf(who)]
  const seconds = (moment: number) => new Date(moment).toISOString().replace(/\.\d+/, '')
  if (threads.length && crowd.chance(0.6)) return seconds(crowd.pick(threads.slice(0, 5)).thread.updated_at)
  return crowd.pick([seconds(now), new Date(now - crowd.below(5000)).toISOString(), seconds(now + 60_000)])
}
