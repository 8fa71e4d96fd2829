import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notify } from '#activity/notices.ts'
import { fineGrained } from '#test/conversations.ts'
import { type Client, expect, type Person } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { octokitsOf, told } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan } = forge

/** A repository with an issue of cy's that mentions ben, and the paths of his thread. */
async function openWithThread() {
  const place = await forge.place()
  const number = await place.open(cy, { body: '@ben' })
  const { id } = await place.thread(ben)
  const thread = `/notifications/threads/${id}`
  return { ...place, number, id: id as string, thread }
}

/** Every endpoint, of a thread and of a repository. */
const visits = (who: Client, thread: string, path: string) => ({
  'GET /notifications': who.get('/notifications'),
  'PUT /notifications': who.put('/notifications'),
  'GET thread': who.get(thread),
  'PATCH thread': who.patch(thread),
  'DELETE thread': who.delete(thread),
  'GET reasons': who.get(`${thread}/reasons`),
  'GET subscription': who.get(`${thread}/subscription`),
  'PUT subscription': who.put(`${thread}/subscription`, {}),
  'DELETE subscription': who.delete(`${thread}/subscription`),
  'GET notifications of a repository': who.get(`${path}/notifications`),
  'PUT notifications of a repository': who.put(`${path}/notifications`),
})

async function statuses(answers: Record<string, Promise<Response>>) {
  const found = await Promise.all(Object.entries(answers).map(async ([name, answer]) => [name, (await answer).status] as const))
  return Object.fromEntries(found)
}

test('octokit uses all notification endpoints on both variants', async () => {
  for (const { rest, request, paginate } of octokitsOf(forge, ben)) {
    const { activity } = rest
    const place = await forge.place()
    const [{ rest: adas }] = octokitsOf(forge, ada)
    const { data: issue } = await adas.issues.create({ ...place.repo, title: 'Smoke', body: 'Is it you, @ben?' })
    await adas.issues.create({ ...place.repo, title: 'Steam', assignees: ['ben'] })
    await told(forge)
    const { data: news } = await activity.listRepoNotificationsForAuthenticatedUser(place.repo)
    const lines = news.map(({ subject, reason }) => `${subject.title}: ${reason}`)
    assert.deepEqual(lines.toSorted(), ['Smoke: mention', 'Steam: assign'])
    const smoke = news.find(({ subject }) => subject.title === 'Smoke')
    const thread_id = Number(smoke?.id)
    assert.equal((await request({ url: smoke?.subject.url ?? '' })).data.number, issue.number)
    await activity.markThreadAsRead({ thread_id })
    assert.equal((await activity.listRepoNotificationsForAuthenticatedUser(place.repo)).data.length, 1)
    await rest.issues.createComment({ ...place.repo, issue_number: issue.number, body: 'It was me.' })
    await adas.issues.createComment({ ...place.repo, issue_number: issue.number, body: 'Ah.' })
    await told(forge)
    const { data: again } = await activity.getThread({ thread_id })
    assert.deepEqual([again.unread, again.reason], [true, 'mention'])
    const all = await paginate(activity.listNotificationsForAuthenticatedUser, { all: true, participating: true })
    assert.equal(all.find(({ id }) => id === smoke?.id)?.subject.latest_comment_url, again.subject.latest_comment_url)
    await activity.markThreadAsDone({ thread_id })
    await activity.markRepoNotificationsAsRead(place.repo)
    const { data: left } = await activity.listRepoNotificationsForAuthenticatedUser({ ...place.repo, all: true })
    assert.deepEqual(
      left.map(({ subject, unread }) => [subject.title, unread]),
      [['Steam', false]],
    )
  }
})

test('the scope `notifications` or `repo` is enough', async () => {
  for (const scope of ['notifications', 'repo']) {
    const { thread, path } = await openWithThread()
    const narrow = await forge.tokenFor('ben', [scope])
    for (const [name, status] of Object.entries(await statuses(visits(narrow, thread, path)))) {
      // The DELETE of another token removed it.
      if (name !== 'GET subscription') assert.ok(status < 300, `${name} gave ${status} with ${scope}`)
    }
  }
})

test('without these scopes every endpoint is refused with a reason', async () => {
  const { thread, path } = await openWithThread()
  const narrow = await forge.tokenFor('ben', ['public_repo', 'user', 'gist'])
  for (const [name, promise] of Object.entries(visits(narrow, thread, path))) {
    const { message } = await expect(403, await promise)
    assert.equal(message, "Missing the 'notifications' or 'repo' scope.", name)
  }
  const answer = await narrow.get('/notifications')
  assert.equal(
    answer.headers.get('x-accepted-oauth-scopes') ?? answer.headers.get('x-belfry-accepted-oauth-scopes'),
    'notifications, repo',
  )
})

test('a token with `notifications` alone sees threads of private repositories', async () => {
  const place = await forge.place({ private: true })
  await place.open(cy, { body: '@ben' })
  await told(forge)
  const narrow = await forge.tokenFor('ben', ['notifications'])
  assert.equal((await place.thread(narrow)).subject.title, 'It rattles')
  assert.deepEqual(await place.inbox(narrow), ['It rattles: mention'])
  await expect(202, await narrow.put(`${place.path}/notifications`))
  assert.deepEqual(await place.inbox(narrow), ['It rattles: mention, read'])
  for (const path of ['', '/issues/1']) assert.equal((await narrow.get(`${place.path}${path}`)).status, 404)
  const stranger = await forge.tokenFor('dan', ['notifications'])
  assert.equal((await stranger.get(`${place.path}/notifications`)).status, 404)
})

test('fine-grained tokens are refused', async () => {
  const { thread, path } = await openWithThread()
  const fine = await fineGrained(forge, 'ben', { issues: 'write', metadata: 'read', contents: 'write' })
  for (const [name, status] of Object.entries(await statuses(visits(fine, thread, path)))) assert.equal(status, 403, name)
})

test('anonymous callers get 401', async () => {
  const { thread, path } = await openWithThread()
  for (const who of [forge.nobody, forge.nobodyVersioned]) {
    for (const [name, status] of Object.entries(await statuses(visits(who, thread, path)))) assert.equal(status, 401, name)
  }
})

/** The endpoints of a thread with their responses. */
async function atThread(who: Client, thread: string, path: string) {
  const all = Object.entries(await statuses(visits(who, thread, path)))
  return all.filter(([name]) => /thread|reasons|subscription$/.test(name))
}

test('the thread of another user is 404, also for site admins', async () => {
  const { thread, path, id } = await openWithThread()
  const others: Person[] = [ada, cy, dan, forge.admin]
  for (const who of others) {
    const found = await atThread(who, thread, path)
    assert.equal(found.length, 7)
    for (const [name, status] of found) assert.equal(status, 404, `${name} as ${who.login}`)
  }
  const { unread } = await ben.read(`/notifications/threads/${id}`)
  assert.equal(unread, true)
  assert.equal((await ben.read(`${thread}/subscription`)).subscribed, true)
})

test('unknown and malformed thread ids are 404', async () => {
  const { path } = await openWithThread()
  for (const id of ['0', '99999', '-1', '1.5', 'x', '1e3', '%20', '1%00', '99999999999999999999']) {
    for (const [name, status] of await atThread(ben, `/notifications/threads/${id}`, path))
      assert.equal(status, 404, `${name} of ${id}`)
  }
})

test('an unchanged thread is a 304 by its ETag', async () => {
  const { thread } = await openWithThread()
  const etag = (await ben.get(thread)).headers.get('etag') ?? ''
  assert.equal((await ben.with({ 'if-none-match': etag }).get(thread)).status, 304)
  await expect(205, await ben.patch(thread))
  assert.equal((await ben.with({ 'if-none-match': etag }).get(thread)).status, 200)
})

test('every recipient has a thread of their own', async () => {
  const place = await forge.place()
  await place.open(dan, { body: '@ben @cy' })
  const ids = [await place.thread(ada), await place.thread(ben), await place.thread(cy)].map(({ id }) => id)
  assert.equal(new Set(ids).size, 3)
  await expect(205, await ben.patch(`/notifications/threads/${ids[1]}`))
  assert.deepEqual(await place.inbox(ben, ''), [])
  assert.deepEqual(await place.inbox(cy, ''), ['It rattles: mention'])
})

test('the reasons of a thread list each act with its rule, newest first', async () => {
  const place = await openWithThread()
  await expect(201, await ada.post(`${place.path}/issues/${place.number}/assignees`, { assignees: ['ben'] }))
  const said = await place.say(dan, place.number)
  await told(forge)
  const history = await ben.read(`${place.thread}/reasons`)
  const of = ({ reason, rule, act, actor }: Record<string, { login: string }>) => [reason, rule, act, actor?.login]
  assert.deepEqual(history.map(of), [
    ['assign', 'You were assigned.', 'commented', 'dan'],
    ['assign', 'You were assigned.', 'assigned', 'ada'],
    ['mention', 'You were mentioned.', 'opened', 'cy'],
  ])
  assert.equal(history[0].url, `${forge.web}/api/v3${place.path}/issues/comments/${said}`)
  assert.equal(history[2].url, `${forge.web}/api/v3${place.path}/issues/${place.number}`)
  assert.equal(history[2].created_at, '2026-02-03T04:05:06Z')
  for (const { url } of history) assert.equal((await ben.get(url)).status, 200)
})

test('the reasons keep the last hundred', async () => {
  const place = await openWithThread()
  const [repo, issue] = [await ada.read(place.path), await ada.read(`${place.path}/issues/${place.number}`)]
  await forge.belfry.db.transaction(async (db) => {
    const subject = { type: 'Issue', issue_id: issue.id } as const
    for (let n = 0; n < 101; n++) await notify(db, issue.user, repo, subject, { act: 'commented' })
  })
  await place.say(cy, place.number, '@ben')
  await told(forge)
  const history = await ben.read(`${place.thread}/reasons`)
  assert.equal(history.length, 100)
  assert.deepEqual([history[0].act, history.at(-1).act, history[0].reason], ['commented', 'commented', 'mention'])
})
