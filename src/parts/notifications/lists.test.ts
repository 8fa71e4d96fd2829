import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '#test/forge.ts'
import { expect } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { fillInbox, inboxOf, octokitsOf, told } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan, clock } = forge

/** Ben has three threads, a minute apart, and has read the second. */
async function openThree() {
  const place = await forge.place()
  await place.watch(ben)
  const issues = [['One', 'Hm'] as const, ['Two', '@ben'] as const, ['Three', '@ben'] as const]
  for (const [title, body] of issues) {
    await place.open(cy, { title, body })
    await told(forge)
    clock.advance(60_000)
  }
  const threads = await ben.read(`${place.path}/notifications`)
  await expect(205, await ben.patch(`/notifications/threads/${threads[1].id}`))
  return { ...place, moments: threads.map(({ updated_at }: { updated_at: string }) => updated_at) as string[] }
}

test('the list has unread threads, newest first; `all` adds read ones; done ones are excluded', async () => {
  const place = await openThree()
  assert.deepEqual(await place.inbox(ben, ''), ['Three: mention', 'One: subscribed'])
  assert.deepEqual(await place.inbox(ben, '?all=false'), ['Three: mention', 'One: subscribed'])
  const all = ['Three: mention', 'Two: mention, read', 'One: subscribed']
  for (const yes of ['true', '1']) assert.deepEqual(await place.inbox(ben, `?all=${yes}`), all)
  for (const junk of ['yes', '', '0', 'TRUE']) {
    assert.deepEqual(await place.inbox(ben, `?all=${junk}`), ['Three: mention', 'One: subscribed'], junk)
  }
  const [three, two] = await ben.read(`${place.path}/notifications?all=true`)
  for (const { id } of [three, two]) await expect(204, await ben.delete(`/notifications/threads/${id}`))
  assert.deepEqual(await place.inbox(ben, ''), ['One: subscribed'])
  assert.deepEqual(await place.inbox(ben, '?all=true'), ['One: subscribed'])
})

test('`participating` excludes threads of watched repositories only', async () => {
  const place = await openThree()
  assert.deepEqual(await place.inbox(ben, '?participating=true'), ['Three: mention'])
  assert.deepEqual(await place.inbox(ben, '?participating=1&all=true'), ['Three: mention', 'Two: mention, read'])
  assert.deepEqual(await place.inbox(ben, '?participating=false'), ['Three: mention', 'One: subscribed'])
  assert.deepEqual(await inboxOf(ben, '?participating=true&per_page=1'), ['Three: mention'])
  assert.deepEqual(await place.inbox(ada, '?participating=true'), [])
})

test('`since` and `before` compare with the last update and exclude equal times', async () => {
  const place = await openThree()
  const shown = (query: string) => place.inbox(ben, `?all=true&${query}`)
  const [three = '', two = ''] = place.moments
  // Times are shown without fractions of a second.
  const after = new Date(Date.parse(two) + 999).toISOString()
  assert.deepEqual(await shown(`since=${after}`), ['Three: mention'])
  assert.deepEqual(await shown(`since=${two}`), ['Three: mention', 'Two: mention, read'])
  assert.deepEqual(await shown(`before=${two}`), ['One: subscribed'])
  assert.deepEqual(await shown(`before=${after}`), ['Two: mention, read', 'One: subscribed'])
  assert.deepEqual(await shown(`since=${two}&before=${three}`), ['Two: mention, read'])
  const exactly = new Date(Date.parse(two) + 789).toISOString()
  assert.deepEqual(await shown(`since=${exactly}`), ['Three: mention'])
  assert.deepEqual(await shown(`before=${exactly}`), ['One: subscribed'])
  assert.deepEqual(await shown('since=&before='), ['Three: mention', 'Two: mention, read', 'One: subscribed'])
})

test('`since` and `before` are ISO 8601, UTC without a zone', async () => {
  const place = await openThree()
  const [three = ''] = place.moments
  const shown = (since: string) => place.inbox(ben, `?since=${encodeURIComponent(since)}`)
  const bare = three.replace('Z', '')
  const east = new Date(Date.parse(three) + 3_600_000).toISOString().slice(0, 19)
  for (const moment of [three, bare, bare.replace('T', ' '), `${bare}.5Z`, `${east}+01:00`, `${east}+0100`, bare.slice(0, 16)]) {
    assert.deepEqual(await shown(moment), ['Three: mention'], moment)
  }
  assert.deepEqual(await shown('2026-02-04'), [])
  for (const ever of ['0001-01-01T00:00:00Z', '0000-01-01']) {
    assert.deepEqual(await shown(ever), ['Three: mention', 'One: subscribed'], ever)
  }
  assert.deepEqual(await shown('9999-12-31T23:59:59Z'), [])
})

test('an invalid time is refused', async () => {
  const bad = [
    'yesterday',
    '1770091506',
    '2026',
    '2026-13-01',
    '2026-02-30',
    '2026-02-03T25:00:00Z',
    '2026-02-03 (x)',
    '2026-02-03x',
  ]
  for (const path of ['/notifications', '/repos/guild/place-1/notifications']) {
    for (const moment of bad) {
      for (const field of ['since', 'before']) {
        const answer = await ben.get(`${path}?${field}=${encodeURIComponent(moment)}`)
        const { message, errors } = await expect(422, answer)
        assert.equal(message, 'Validation Failed', moment)
        assert.deepEqual([errors[0].field, errors[0].code], [field, 'invalid'])
      }
    }
  }
  assert.equal((await ben.get('/notifications?since=%00')).status, 422)
})

test('an updated thread moves to the front and stays one thread', async () => {
  const place = await openThree()
  await place.say(cy, 1)
  assert.deepEqual(await place.inbox(ben), ['One: subscribed', 'Three: mention', 'Two: mention, read'])
})

test('lists are separate by repository and by user', async () => {
  const [one, other] = [await forge.place(), await forge.place()]
  for (const [place, title] of [[one, 'Here'] as const, [other, 'There'] as const]) await place.open(cy, { title })
  assert.deepEqual(await one.inbox(ada), ['Here: subscribed'])
  assert.deepEqual(await other.inbox(ada), ['There: subscribed'])
  assert.deepEqual((await inboxOf(ada)).slice(0, 2).toSorted(), ['Here: subscribed', 'There: subscribed'])
  assert.deepEqual(await one.inbox(dan), [])
  assert.equal((await ada.get('/repos/guild/nowhere/notifications')).status, 404)
})

const linksOf = (answer: Response) =>
  [...(answer.headers.get('link') ?? '').matchAll(/[?&]page=(\d+)>; rel="(\w+)"/g)].map(([, page, rel]) => `${rel} ${page}`)
const titlesOf = async (answer: Response) =>
  (await expect(200, answer)).map(({ subject }: { subject: { title: string } }) => subject.title)

test('pages have thirty threads by default and a hundred at most', async () => {
  const place = await forge.place()
  await fillInbox(forge, dan, place, 205)
  const path = `${place.path}/notifications`
  const first = await dan.get(path)
  assert.deepEqual(linksOf(first), ['next 2', 'last 7'])
  assert.equal((await titlesOf(first)).length, 30)
  const third = await dan.get(`${path}?all=true&per_page=2&page=3`)
  assert.deepEqual(linksOf(third), ['prev 2', 'next 4', 'last 103', 'first 1'])
  assert.match(
    third.headers.get('link') ?? '',
    /\/repos\/guild\/place-\d+\/notifications\?all=true&per_page=2&page=2>; rel="prev"/,
  )
  assert.deepEqual(await titlesOf(third), ['201', '200'])
  const most = await dan.get(`${path}?per_page=1000`)
  assert.deepEqual(linksOf(most), ['next 2', 'last 3'])
  assert.equal((await titlesOf(most)).length, 100)
  const last = await dan.get(`${path}?per_page=100&page=3`)
  assert.deepEqual(
    [linksOf(last), await titlesOf(last)],
    [
      ['prev 2', 'first 1'],
      ['5', '4', '3', '2', '1'],
    ],
  )
  const past = await dan.get(`${path}?per_page=100&page=9`)
  assert.deepEqual([linksOf(past), await titlesOf(past)], [['prev 3', 'first 1'], []])
  assert.deepEqual(await titlesOf(await dan.get(`${path}?page=99999999999999999999`)), [])
  for (const junk of ['per_page=0', 'per_page=x', 'page=0', 'page=-1']) {
    assert.deepEqual([(await titlesOf(await dan.get(`${path}?${junk}`))).length, junk], [30, junk])
  }
  for (const { paginate, rest } of octokitsOf(forge, dan)) {
    const all = await paginate(rest.activity.listRepoNotificationsForAuthenticatedUser, { ...place.repo, per_page: 100 })
    assert.deepEqual([all.length, new Set(all.map(({ id }) => id)).size], [205, 205])
  }
})

test('a list of more than a thousand has a next page but no last page', async () => {
  const place = await forge.place()
  await fillInbox(forge, cy, place, 1001)
  const page = (number: number) => cy.get(`${place.path}/notifications?per_page=100&page=${number}`)
  assert.deepEqual(linksOf(await page(1)), ['next 2'])
  assert.deepEqual(linksOf(await page(10)), ['prev 9', 'next 11', 'first 1'])
  const last = await page(11)
  assert.deepEqual([linksOf(last), await titlesOf(last)], [['prev 10', 'first 1'], ['1']])
  // Following `next` ends, also when the list got shorter meanwhile.
  const past = await page(12)
  assert.deepEqual([linksOf(past), await titlesOf(past)], [['prev 11', 'first 1'], []])
})

test('both variants return the same threads, each with its own addresses', async () => {
  const place = await openThree()
  const read = async (who: Client) => JSON.stringify(await who.read(`${place.path}/notifications?all=true`))
  const there = JSON.parse(await read(ben.versioned))
  assert.equal(there[0].url, `${forge.versioned}/notifications/threads/${there[0].id}`)
  const [{ id, subject, url }] = JSON.parse(await read(ben))
  assert.deepEqual([id, subject.title], [there[0].id, there[0].subject.title])
  assert.equal(url, `${forge.web}/api/v3/notifications/threads/${id}`)
})
