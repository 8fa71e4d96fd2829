import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, type Person } from '#test/forge.ts'
import { type Place, shareGuild } from '#test/guild.ts'
import { fillInbox, inboxOf, told } from '#test/inbox.ts'
import { listen } from '#test/streams.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan, clock } = forge
const { db } = forge.belfry

/** The statuses and totals of every endpoint that could show the thread to dan. */
async function sight(place: Place, id: string) {
  const thread = `/notifications/threads/${id}`
  const paths = [thread, `${thread}/reasons`, `${thread}/subscription`, `${place.path}/notifications`]
  const statuses = await Promise.all(paths.map(async (path) => (await dan.get(path)).status))
  const lists = await Promise.all(['', '?all=true', '?participating=true'].map((query) => dan.read(`/notifications${query}`)))
  const of = (list: { repository: { id: number } }[]) => list.filter(({ repository }) => repository.id === place.id).length
  return { statuses, lists: lists.map(of) }
}
const nothing = { statuses: [404, 404, 404, 404], lists: [0, 0, 0] }
const everything = { statuses: [200, 200, 200, 200], lists: [1, 1, 1] }

async function invite(place: Place) {
  const { id } = await expect(201, await ada.put(`${place.path}/collaborators/dan`, { permission: 'pull' }))
  await expect(204, await dan.patch(`/user/repository_invitations/${id}`))
  await told(forge)
  const threads: { id: string; reason: string }[] = await dan.read(`${place.path}/notifications`)
  const invitation = threads.find(({ reason }) => reason === 'invitation')
  await expect(204, await dan.delete(`/notifications/threads/${invitation?.id}`))
}

/** Ways to get access to a repository, and how each starts and ends. */
const ways: Record<
  string,
  { open: (place: Place) => Promise<unknown>; close: (place: Place) => Promise<unknown>; options?: object }
> = {
  'a public repository that becomes private': {
    open: async ({ path }) => expect(200, await ada.patch(path, { private: false })),
    close: async ({ path }) => expect(200, await ada.patch(path, { private: true })),
  },
  'a private one, for a collaborator who is removed': {
    options: { private: true },
    open: invite,
    close: async ({ path }) => expect(204, await ada.delete(`${path}/collaborators/dan`)),
  },
  'one of an organization, for a member who is one no more': {
    options: { private: true },
    open: async () => expect(200, await ada.put('/orgs/guild/memberships/dan', {})),
    close: async () => expect(204, await removeMember()),
  },
  'one of a team, when the team loses it': {
    options: { private: true },
    open: async ({ repo }) => {
      await expect(200, await ada.patch('/orgs/guild', { default_repository_permission: 'none' }))
      await expect(200, await ada.put('/orgs/guild/memberships/dan', {}))
      await ada.post('/orgs/guild/teams', { name: 'keepers' })
      await expect(200, await ada.put('/orgs/guild/teams/keepers/memberships/dan', {}))
      await expect(204, await ada.put(`/orgs/guild/teams/keepers/repos/guild/${repo.repo}`, { permission: 'pull' }))
    },
    close: async ({ repo }) => expect(204, await ada.delete(`/orgs/guild/teams/keepers/repos/guild/${repo.repo}`)),
  },
}
const removeMember = () => ada.delete('/orgs/guild/memberships/dan')

for (const [name, { open, close, options = {} }] of Object.entries(ways)) {
  test(`a user who loses access sees no threads, and sees them again with the access: ${name}`, async () => {
    const place = await forge.place({ ...options })
    await open(place)
    const number = await place.open(ada, { body: '@dan' })
    await told(forge)
    const id = (await dan.read(`${place.path}/notifications`))[0].id as string
    assert.deepEqual(await sight(place, id), everything)
    await using stream = await listen(dan, '/notifications')
    await close(place)
    assert.deepEqual(await sight(place, id), nothing)
    const thread = `/notifications/threads/${id}`
    for (const answer of [await dan.patch(thread), await dan.delete(thread), await dan.put(`${thread}/subscription`, {})]) {
      assert.equal(answer.status, 404)
    }
    // Events without access create no notifications and no stream messages.
    await place.say(ada, number, 'Between us, @dan')
    await expect(200, await ada.patch(`${place.path}/issues/${number}`, { state: 'closed' }))
    const elsewhere = await forge.place()
    await elsewhere.open(ada, { title: 'Elsewhere', body: '@dan' })
    const shown: { subject: { title: string } }[] = await stream.until(1)
    assert.deepEqual(
      shown.map(({ subject }) => subject.title),
      ['Elsewhere'],
    )
    await open(place)
    assert.deepEqual(await sight(place, id), everything)
    const history = await dan.read(`${thread}/reasons`)
    assert.deepEqual([history.length, history[0].act], [1, 'opened'])
    await removeMember()
    await expect(200, await ada.patch('/orgs/guild', { default_repository_permission: 'read' }))
  })
}

test('hidden threads are not counted', async () => {
  const place = await forge.place()
  await fillInbox(forge, cy, place, 40)
  const last = async () =>
    /[?&]page=(\d+)>; rel="last"/.exec((await cy.get('/notifications?per_page=1')).headers.get('link') ?? '')?.[1]
  const before = Number(await last())
  await expect(200, await ada.patch(place.path, { private: true }))
  await expect(200, await ada.patch('/orgs/guild', { default_repository_permission: 'none' }))
  assert.equal(Number((await last()) ?? 0), before - 40)
  await expect(200, await ada.patch('/orgs/guild', { default_repository_permission: 'read' }))
  assert.equal(Number(await last()), before)
})

const lastPageOf = async (person: Person, query = '') =>
  Number(
    /[?&]page=(\d+)>; rel="last"/.exec((await person.get(`/notifications?per_page=1${query}`)).headers.get('link') ?? '')?.[1],
  )

test('a release that is a draft again, or deleted, is not counted', async () => {
  const [place, gil] = [await forge.place({ auto_init: true }), await forge.person('gil')]
  await place.watch(gil)
  await fillInbox(forge, gil, place, 40)
  const releases: number[] = []
  for (const tag_name of ['v1', 'v2', 'v3']) {
    releases.push((await expect(201, await ada.post(`${place.path}/releases`, { tag_name }))).id)
  }
  await told(forge)
  assert.deepEqual([await lastPageOf(gil), await lastPageOf(gil, '&all=true')], [43, 43])
  await expect(200, await ada.patch(`${place.path}/releases/${releases[0]}`, { draft: true }))
  assert.deepEqual([await lastPageOf(gil), await lastPageOf(gil, '&all=true')], [42, 42])
  await expect(204, await ada.delete(`${place.path}/releases/${releases[1]}`))
  assert.deepEqual([await lastPageOf(gil), await lastPageOf(gil, '&all=true')], [41, 41])
})

test('threads beyond the newest thousand are counted in place of hidden ones', async () => {
  const [place, hidden, fay] = [await forge.place(), await forge.place({ private: true }), await forge.person('fay')]
  await fillInbox(forge, fay, place, 990)
  clock.advance(60_000)
  await fillInbox(forge, fay, hidden, 30)
  assert.equal(await lastPageOf(fay), 990)
  await fillInbox(forge, fay, await forge.place(), 10)
  assert.ok(Number.isNaN(await lastPageOf(fay)), 'a thousand threads have no last page')
})

const threadsIn = async ({ id }: Place) =>
  (await db.first<{ total: number }>(sql`select count(*) as total from threads where repo_id = ${id}`))?.total

test('deleting a repository deletes its threads for everyone', async () => {
  const place = await forge.place()
  await place.open(cy, { body: '@ben' })
  const { url } = await place.thread(ben)
  await fillInbox(forge, ben, place, 5100)
  await expect(204, await ada.delete(place.path))
  assert.equal((await ben.get(url)).status, 404)
  assert.ok(
    !(await ben.read('/notifications')).some(({ repository }: { repository: { id: number } }) => repository.id === place.id),
  )
  await told(forge)
  assert.equal(await threadsIn(place), 0)
  const left = await db.rows(sql`select from notification_subjects where repo_id = ${place.id}`)
  assert.equal(left.length, 0)
})

test('deleting a release deletes its threads for everyone', async () => {
  const place = await forge.place({ auto_init: true })
  await place.watch(cy)
  const { id } = await expect(201, await ada.post(`${place.path}/releases`, { tag_name: 'v1' }))
  const { url } = await place.thread(cy)
  await expect(204, await ada.delete(`${place.path}/releases/${id}`))
  assert.equal((await cy.get(url)).status, 404)
  assert.deepEqual(await place.inbox(cy), [])
  assert.equal(await threadsIn(place), 0)
})

test('deleting an account deletes its threads and subscriptions, and keeps the notifications of its acts', async () => {
  const place = await forge.place()
  const eve = await forge.person('eve')
  const number = await place.open(eve, { body: '@ben' })
  await place.say(ben, number)
  const { id, reason } = await place.thread(eve)
  assert.equal(reason, 'author')
  await db.transaction((transaction) => transaction.query(sql`delete from accounts where login = 'eve'`))
  await told(forge)
  assert.equal((await db.rows(sql`select from threads where id = ${id}`)).length, 0)
  const joined = await db.rows(
    sql`select from thread_subscriptions t join notification_subjects s on s.id = t.subject_id where s.repo_id = ${place.id}`,
  )
  assert.equal(joined.length, 1)
  const bens = await place.thread(ben)
  const [first] = await ben.read(`/notifications/threads/${bens.id}/reasons`)
  assert.deepEqual([first.act, first.reason, first.actor], ['opened', 'mention', null])
  assert.deepEqual(await inboxOf(ben, '', place.path), ['It rattles: mention'])
})
