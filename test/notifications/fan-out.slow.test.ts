import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { notify } from '#activity/notices.ts'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { Database, sql } from '#platform/database.ts'
import { seeded } from '#test/activity/crowd.ts'
import { World } from '#test/activity/model.ts'
import { expect, type Person } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { patient } from '../databases.ts'
import { act, type Conversation, type Conversations, engine, inParallel, noticesOf, openConversations } from './conversations.ts'
import { type Happening, Inboxes, type Thread, type Topic } from './model.ts'

test('users who comment concurrently are each notified of all others once and in order', async () => {
  await using forge = await openConversations(8, { worker: true })
  const { belfry, ada, conversations } = forge
  const [{ number, subject_id }] = conversations as [Conversation]
  const talking = conversations.map(async ({ reader }) => {
    for (let said = 0; said < 6; said++)
      await expect(201, await reader.post(`${engine}/issues/${number}/comments`, { body: 'Yes' }))
  })
  let ended = false
  // In addition to the worker.
  const telling = [1, 2, 3].map(async () => {
    while (!ended) await fanOut(belfry.db, subject_id).then(() => sleep(1))
  })
  await Promise.all(talking).finally(() => {
    ended = true
  })
  await Promise.all(telling)
  await told(forge)
  const comments: { id: number; user: { login: string } }[] = await ada.read(`${engine}/issues/${number}/comments?per_page=100`)
  assert.equal(comments.length, 48)
  for (const person of [ada, ...conversations.map(({ reader }) => reader)]) {
    const threads = await person.read('/notifications?all=true')
    const { id } = threads.find(({ subject }: { subject: { url: string } }) => subject.url.endsWith(`/issues/${number}`))
    const reasons: { act: string; url: string }[] = await person.read(`/notifications/threads/${id}/reasons`)
    const heard = reasons.filter(({ act }) => act === 'commented').map(({ url }) => Number(url.split('/').at(-1)))
    const joined =
      person === ada || person === conversations[0]?.reader ? 0 : comments.find(({ user }) => user.login === person.login)?.id
    const others = comments.filter(({ user }) => user.login !== person.login).map((comment) => comment.id)
    const since = others.filter((comment) => comment > (joined ?? 0))
    assert.deepEqual(heard.toReversed(), since, person.login)
  }
})

test('concurrent fan-outs that are killed again and again notify of every event once and in order', async () => {
  await using forge = await openConversations(10)
  const { belfry, conversations, clock } = forge
  const [subject] = conversations as [Conversation]
  for (const { reader } of conversations) await expect(200, await reader.put(`${engine}/subscription`, { subscribed: true }))
  // The assignee is notified of the assignment, and later events have that reason.
  const before = await noticesOf(belfry.db, subject)
  const expected = conversations.map(({ reader_id }, index) => ({
    reader_id,
    reason: index ? 'subscribed' : 'mention',
    lines: [] as string[],
  }))
  for (let round = 0; round < 60; round++) {
    const assigned = round % 7 === 3 ? expected[round % 10] : undefined
    await act(forge, subject, assigned ? { act: 'assigned', people: [assigned.reader_id] } : { act: 'commented' })
    const id = (await noticesOf(belfry.db, subject)).at(-1)
    if (assigned) assigned.reason = 'assign'
    for (const one of assigned ? [assigned] : expected) one.lines.push(`${id} ${one.reason}`)
  }
  await using doomed = new Database({ ...belfry.db.pool.options, application_name: 'doomed', max: 6 }, clock, patient)
  const random = seeded(1)
  let [failures, ended] = [0, false]
  const telling = Promise.all(
    [1, 2, 3].map(async () => {
      for (;;) {
        const error = await fanOut(doomed, subject.subject_id).catch((failure: Error) => failure)
        if (!error) return
        failures++
        assert.ok(failures < 500, error)
      }
    }),
  ).finally(() => {
    ended = true
  })
  for (let kills = 0; kills < 40 && !ended; kills++) {
    await sleep(random() * 30)
    await belfry.db.query(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'doomed' order by random() limit 2`)
  }
  await telling
  assert.ok(failures > 0, `${failures} were killed at work`)
  const rows = await belfry.db.rows<{ user_id: number; lines: string[]; unread: boolean }>(sql`
    select user_id, unread, array(select id || ' ' || reason from unnest(notice_ids, reasons) as n (id, reason)
      where id <> all(${before})) as lines
    from threads where subject_id = ${subject.subject_id} order by user_id`)
  assert.deepEqual(
    rows.map(({ user_id, lines }) => ({ user_id, lines })),
    expected.map(({ reader_id: user_id, lines }) => ({ user_id, lines })),
  )
  assert.ok(rows.every(({ unread }) => unread))
  const waiting = await belfry.db.rows(sql`select from notification_events where notified_at is null`)
  assert.equal(waiting.length, 0)
})

/** Changes to a subscription, in Belfry and in the model. */
const changes = [
  [(reader: Person, path: string) => reader.delete(path), 'muted'],
  [(reader: Person, path: string) => reader.put(path, { ignored: true }), 'ignored'],
  [(reader: Person, path: string) => reader.put(path, { ignored: false }), 'subscribed'],
] as const

test('a user who loses access during a fan-out sees nothing of it', async () => {
  await using forge = await openConversations(4, { worker: true })
  const { ada, conversations } = forge
  await expect(200, await ada.patch(engine, { private: true }))
  await inParallel(conversations, 10, async ({ reader, thread, number }, round) => {
    const place = `${engine}/collaborators/${reader.login}`
    const { id } = await expect(201, await ada.put(place))
    await expect(204, await reader.patch(`/user/repository_invitations/${id}`))
    const shown = await reader.read('/notifications?all=true')
    assert.ok(shown.some((one: { id: string }) => one.id === thread))
    const lose = () => ada.delete(place)
    const say = () => ada.post(`${engine}/issues/${number}/comments`, { body: `@${reader.login}, are you there?` })
    const answers = await Promise.all(round % 2 ? [lose(), say()] : [say(), lose()])
    assert.ok(answers.every(({ ok }) => ok))
    assert.deepEqual(await reader.read('/notifications?all=true'), [])
    const path = `/notifications/threads/${thread}`
    for (const each of [path, `${path}/reasons`, `${path}/subscription`, `${engine}/notifications`]) {
      assert.equal((await reader.get(each)).status, 404, each)
    }
    assert.equal((await reader.patch(path)).status, 404)
  })
  await told(forge)
  for (const { reader } of conversations) assert.deepEqual(await reader.read('/notifications?all=true'), [])
})

test('a subscription change concurrent with an act ends as if one came first', async () => {
  await using forge = await openConversations(8)
  const { belfry, ada_id, repo_id } = forge
  const random = seeded(2)
  const reached = new Set<string>()
  await inParallel(forge.conversations, 40, async (conversation, round) => {
    const { reader, reader_id, thread, subject_id, issue_id } = conversation
    const path = `/notifications/threads/${thread}/subscription`
    const [prepare] = changes[Math.floor(round / 9) % 3] ?? assert.fail()
    assert.ok((await prepare(reader, path)).ok)
    assert.ok((await reader.patch(`/notifications/threads/${thread}`)).ok)
    const [change, state] = changes[round % 3] ?? assert.fail()
    const happening = happenings[Math.floor(round / 3) % 3] ?? assert.fail()
    const start = await outcomeOf(forge, conversation)
    const serial = [true, false].map((changed_first) => simulate(start, happening, state, changed_first))
    const { act: kind, people, mentioned } = happening
    const notice = { act: kind, ...(people && { people: [reader_id] }), ...(mentioned && { body: `@${reader.login}` }) }
    const telling = sleep(random() * 3).then(async () => {
      const subject = { type: 'Issue', issue_id } as const
      await belfry.db.transaction((transaction) => notify(transaction, { id: ada_id }, { id: repo_id }, subject, notice))
      await fanOut(belfry.db, subject_id)
    })
    const changing = sleep(random() * 6).then(() => change(reader, path))
    const [, answer] = await Promise.all([telling, changing])
    assert.ok(answer.ok)
    const end = JSON.stringify(await outcomeOf(forge, conversation))
    const found = serial.map((one) => JSON.stringify(one)).indexOf(end)
    assert.ok(found >= 0, `${JSON.stringify({ start, kind, state })} gave ${end} and not one of ${JSON.stringify(serial)}`)
    if (JSON.stringify(serial[0]) !== JSON.stringify(serial[1])) reached.add(found ? 'told first' : 'changed first')
  })
  assert.equal(reached.size, 2, 'both came first, now and then')
})

const happenings: (Happening & { act: 'commented' | 'assigned' })[] = [
  { act: 'commented' },
  { act: 'commented', mentioned: ['reader'] },
  { act: 'assigned', people: ['reader'] },
]

interface Outcome {
  state: 'subscribed' | 'muted' | 'ignored'
  takes_part: Thread['reason']
  reason: Thread['reason']
  unread: boolean
}

async function outcomeOf({ belfry: { db } }: Conversations, { thread }: Conversation): Promise<Outcome> {
  const found = await db.first<Outcome>(sql`
    select s.state, s.reason as takes_part, t.reason, t.unread
    from threads t join thread_subscriptions s on s.subject_id = t.subject_id and s.user_id = t.user_id where t.id = ${thread}`)
  return found ?? assert.fail()
}

/** The result of a sequential order. */
function simulate(
  { state, takes_part, ...held }: Outcome,
  happening: Happening,
  next: Outcome['state'],
  changed_first: boolean,
): Outcome {
  const world = new World(['ada', 'reader'])
  const inboxes = new Inboxes(world)
  const repo = world.create('ada', { id: 1, owner: 'ada', name: 'engine', private: false })
  const topic: Topic = inboxes.begin(repo, 'Issue', 1, '')
  topic.minds.set('reader', { state, reason: takes_part })
  topic.threads.set('reader', { ...held, done: false, updated_at: 0, last_read_at: null, told: 0, history: [] })
  if (changed_first) inboxes.setMind(topic, 'reader', next)
  inboxes.happen(topic, 'ada', happening)
  if (!changed_first) inboxes.setMind(topic, 'reader', next)
  const [mind, thread] = [topic.minds.get('reader'), topic.threads.get('reader')]
  if (!mind || !thread) return assert.fail()
  return { state: mind.state, takes_part: mind.reason, reason: thread.reason, unread: thread.unread }
}
