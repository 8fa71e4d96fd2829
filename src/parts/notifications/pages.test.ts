import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { openReading } from '#test/reading.ts'

test('the inbox has its views, groups and filters, without scripts', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  const titles = async (query: string) =>
    [...(await ben.get(`/notifications${query}`)).text.matchAll(/class="title" href="[^"]*"[^>]*>([^<]*)</g)].map(
      ([, title]) => title,
    )
  const [steam, smoke, release, site] = ['Steam &amp; 100% gears', 'Smoke', 'First', 'Broken link']
  const cases: [query: string, ...titles: (string | undefined)[]][] = [
    ['', site, release, steam, smoke],
    ['?view=all', site, release, steam, smoke],
    ['?view=participating', steam],
    ['?view=done', ...[]],
    ['?view=nonsense', site, release, steam, smoke],
    ['?group=repo', site, release, steam, smoke],
    ['?q=reason:mention', steam],
    ['?q=-reason:mention', site, release, smoke],
    ['?q=is:issue', site, steam, smoke],
    ['?q=is:release+is:issue', site, release, steam, smoke],
    ['?q=-is:issue', release],
    ['?q=is:read', ...[]],
    ['?q=-is:read', site, release, steam, smoke],
    ['?q=repo:ADA/site', site],
    ['?q=-repo:ada/site', release, steam, smoke],
    ['?q=repo:ada/site+repo:ada/engine+-is:release', site, steam, smoke],
    ['?q=repo:ada/nothing', ...[]],
    ['?q=steam', steam],
    ['?q=100%25', steam],
    ['?q=10_', ...[]],
    ['?q=steam+gears+-smoke', steam],
    ['?q=%22steam+%26%22', steam],
    ['?q=%00%5C', ...[]],
    ['?q=is:banana+smoke', smoke],
    ['?page=2', ...[]],
  ]
  for (const [query, ...expected] of cases) assert.deepEqual(await titles(query), expected, query)
  assert.match((await ben.get('/notifications?q=is:banana')).text, /not valid.*is:banana/)
  const grouped = (await ben.get('/notifications?group=repo')).text
  assert.deepEqual(
    [...grouped.matchAll(/<h2 class="small">([^<]*)</g)].map(([, title]) => title),
    ['ada/site', 'ada/engine'],
  )
  forge.clock.advance(86_400_000)
  const later = (await ben.get('/notifications')).text
  assert.deepEqual(
    [...later.matchAll(/<h2 class="small">([^<]*)</g)].map(([, title]) => title),
    ['Yesterday'],
  )
  assert.match(later, /id="unread"[^>]*>4</)
})

test('threads are marked, done, muted and restored by plain forms', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  const ids = async (query = '') =>
    [...(await ben.get(`/notifications${query}`)).text.matchAll(/name="id" value="(\d+\.\d+)"/g)].map(([, id]) => id ?? '')
  const [site = '', release = '', steam = '', smoke = ''] = await ids()
  const act = (name: string, id: string[]) => ben.postAndFollow('/notifications', { act: name, id })
  const undo = async (text: string) => {
    const former = [...text.matchAll(/name="former" value="([^"]*)"/g)].map(([, one]) => one ?? '')
    const [, undone = ''] = /name="undone" value="(\w+)"/.exec(text) ?? []
    return ben.postAndFollow('/notifications', { act: 'undo', undone, former })
  }
  const states = async () => [await ids(), await ids('?view=all'), await ids('?view=done')].map((list) => list.length)

  const read = await act('read', [site, release])
  assert.match(read.text, /2 marked as read/)
  assert.deepEqual(await states(), [2, 4, 0])
  await undo(read.text)
  assert.deepEqual(await states(), [4, 4, 0])

  await act('read', [site])
  const done = await act('done', [site, release])
  assert.deepEqual(await states(), [2, 2, 2])
  await undo(done.text)
  assert.deepEqual(await ids(), [release, steam, smoke])
  assert.deepEqual(await states(), [3, 4, 0])

  const muted = await act('mute', [smoke, steam])
  assert.match(muted.text, /2 muted/)
  const subscription = async (id: string) =>
    (await forge.ben.get(`/notifications/threads/${Number.parseInt(id, 10)}/subscription`)).status
  assert.deepEqual([await subscription(smoke), await subscription(steam)], [200, 200])
  assert.equal((await forge.ben.read(`/notifications/threads/${Number.parseInt(steam, 10)}/subscription`)).ignored, true)
  assert.deepEqual(await states(), [1, 2, 2])
  await undo(muted.text)
  assert.deepEqual(await states(), [3, 4, 0])
  assert.equal((await forge.ben.read(`/notifications/threads/${Number.parseInt(steam, 10)}/subscription`)).subscribed, true)
  const watched = await forge.ben.read(`/notifications/threads/${Number.parseInt(smoke, 10)}/subscription`)
  assert.deepEqual([watched.subscribed, watched.ignored], [true, false])

  await act('done', [steam])
  assert.match((await act('undone', [steam])).text, /1 back in the inbox/)
  assert.deepEqual(await states(), [2, 4, 0])
  const everything = await ben.get('/notifications')
  const [, read_at = ''] = /name="read_at" value="([^"]*)"/.exec(everything.text) ?? []
  const all = await ben.postAndFollow('/notifications', { act: 'all', read_at })
  assert.match(all.text, /Everything is marked as read/)
  assert.deepEqual(await states(), [0, 4, 0])
  const [, position = ''] = /name="position" value="(\d+)"/.exec(all.text) ?? []
  await ben.postAndFollow('/notifications', { act: 'undo', position })
  assert.deepEqual(await states(), [2, 4, 0])
  await ben.postAndFollow('/notifications', { act: 'all', read_at })
  assert.match((await ben.get('/notifications')).text, /id="unread"[^>]* hidden>0</)
})

test('threads of other users cannot be marked, and invalid forms change nothing', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  const dan = await signedIn(forge, 'dan')
  const own = [...(await ben.get('/notifications')).text.matchAll(/name="id" value="(\d+\.\d+)"/g)].map(([, id]) => id ?? '')
  await dan.get('/notifications')
  for (const act of ['read', 'done', 'mute'])
    assert.match((await dan.postAndFollow('/notifications', { act, id: own })).text, /0 \w+/)
  const former = own.map((id) => `${id}.read.inbox.plain.0.ignored`)
  await dan.postAndFollow('/notifications', { act: 'undo', undone: 'mute', former })
  assert.equal(
    (
      await ben.postAndFollow('/notifications', {
        act: 'read',
        id: ['x', '-1.1', '1e3.1', '1', '99999999999999999999.1', '77.99999999999999'],
      })
    ).status,
    200,
  )
  assert.match((await ben.postAndFollow('/notifications', { act: 'read' })).text, /Select at least one thread first/)
  assert.equal((await ben.postAndFollow('/notifications', { act: 'nonsense', id: own })).status, 404)
  assert.equal((await ben.postAndFollow('/notifications', { act: 'undo', undone: 'x' })).status, 404)
  assert.equal((await ben.postAndFollow('/notifications', { act: 'all', read_at: 'x' })).status, 404)
  assert.equal((await ben.postAndFollow('/notifications', { act: 'all', read_at: '2999-01-01T00:00:00Z' })).status, 404)
  assert.equal((await ben.postAndFollow('/notifications', { act: 'done', id: own, csrf: 'x' })).status, 403)
  assert.equal((await ben.postAndFollow('/notifications', { act: 'undo', undone: 'mute', former: ['x', '1.2.3.4'] })).status, 200)
  assert.equal((await forge.ben.read('/notifications')).length, 4)
  assert.equal((await new Guest(forge).get('/notifications?view=all')).location, '/login?return_to=%2Fnotifications%3Fview%3Dall')
  assert.equal((await new Guest(forge).get('/notifications/stream')).status, 404)
})

test('threads updated since the list was shown are not marked', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  const rows = [...(await ben.get('/notifications')).text.matchAll(/name="id" value="(\d+\.\d+)"/g)].map(([, id]) => id ?? '')
  await expect(201, await forge.ada.post('/repos/ada/engine/issues/1/comments', { body: 'Wait' }))
  const isNew = async () => (await forge.ben.read('/notifications'))[0].subject.title === 'Smoke'
  for (let round = 0; round < 400 && !(await isNew()); round++) await new Promise((resolve) => setTimeout(resolve, 25))
  for (const act of ['read', 'done', 'mute']) {
    assert.match(
      (await ben.postAndFollow('/notifications', { act, id: rows })).text,
      /3 [a-z ]+\. 1 not changed, because of new activity\./,
    )
    const titles = (await forge.ben.read('/notifications')).map(({ subject }: { subject: { title: string } }) => subject.title)
    assert.deepEqual(titles, ['Smoke'], act)
  }
  const again = /name="id" value="(\d+\.\d+)"/.exec((await ben.get('/notifications')).text)?.[1] ?? ''
  assert.match((await ben.postAndFollow('/notifications', { act: 'done', id: again })).text, /1 done\./)
})

test('showing a page marks it as read; fetching does not', async () => {
  await using forge = await openReading()
  const unread = async () => (await forge.ben.read('/notifications')).length
  for (const headers of [{ 'sec-purpose': 'prefetch;prerender' }, { purpose: 'prefetch' }, { 'sec-fetch-dest': 'empty' }]) {
    const ahead = await signedIn(forge, 'ben', headers)
    assert.equal((await ahead.get('/ada/engine/issues/2')).status, 200)
    assert.equal(await unread(), 4, JSON.stringify(headers))
  }
  const ben = await signedIn(forge, 'ben')
  await (await signedIn(forge, 'dan')).get('/ada/engine/issues/2')
  assert.equal(await unread(), 4)
  assert.match((await ben.get('/ada/engine/issues/2')).text, /id="unread"[^>]*>3</)
  assert.equal(await unread(), 3)
})

test('a conversation shows why the visitor is subscribed, and lets them unsubscribe and subscribe', async () => {
  await using forge = await openReading()
  const [ben, dan] = [await signedIn(forge, 'ben'), await signedIn(forge, 'dan')]
  const path = '/ada/engine/issues/2'
  const hears = async (guest: Guest) => /<p>(You (?:are|ignore)[^<]*)<\/p>/.exec((await guest.get(path)).text)?.[1]
  assert.equal(await hears(ben), 'You are receiving notifications because you were mentioned.')
  await ben.post(`${path}/subscription`, { subscribe: 'no' })
  assert.equal(await hears(ben), 'You are notified only when you are mentioned.')
  await ben.post(`${path}/subscription`, { subscribe: 'yes' })
  assert.equal(await hears(ben), 'You are receiving notifications because you were mentioned.')
  assert.equal(await hears(dan), 'You are notified only when you are mentioned.')
  assert.equal((await dan.post(`${path}/subscription`, { subscribe: 'yes' })).location, path)
  assert.equal(await hears(dan), 'You are receiving notifications because you subscribed to the thread.')
  await expect(200, await forge.dan.put('/repos/ada/engine/subscription', { ignored: true }))
  assert.equal(await hears(dan), 'You ignore this repository, so you get no notifications.')
  await expect(200, await forge.dan.put('/repos/ada/engine/subscription', { ignored: false, subscribed: true }))
  await dan.post('/ada/engine/issues/1/subscription', { subscribe: 'no' })
  assert.equal((await dan.post('/ada/engine/issues/99/subscription', { subscribe: 'no' })).status, 404)
  assert.equal((await new Guest(forge).get(path)).text.includes('Unsubscribe'), false)
})

test('a user without access to a repository does not see it in the inbox', async () => {
  await using forge = await openReading()
  const cy = await signedIn(forge, 'cy')
  await expect(200, await forge.cy.put('/repos/ada/site/subscription', { subscribed: true }))
  await expect(201, await forge.ada.post('/repos/ada/site/issues', { title: 'For @cy', body: '@cy' }))
  await forge.told(forge.cy, 1)
  assert.match((await cy.get('/notifications')).text, /For @cy/)
  await expect(200, await forge.ada.patch('/repos/ada/site', { private: true }))
  const hidden = await cy.get('/notifications?view=all')
  assert.equal(hidden.text.includes('For @cy'), false)
  assert.match(hidden.text, /id="unread"[^>]* hidden>0</)
})
