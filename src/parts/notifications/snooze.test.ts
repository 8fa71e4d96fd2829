import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { openReading } from '#test/reading.ts'
import { snoozeEnd, wakeThreads } from './snooze.ts'

test('a snooze ends three hours later, or in the morning of a day of the user', () => {
  const monday = new Date('2026-11-16T17:30:00Z')
  const end = (...[wanted]: [Parameters<typeof snoozeEnd>[0]]) => snoozeEnd(wanted, monday).toISOString()
  assert.equal(end({ choice: 'later' }), '2026-11-16T20:30:00.000Z')
  assert.equal(end({ choice: 'tomorrow' }), '2026-11-17T08:00:00.000Z')
  assert.equal(end({ choice: 'week' }), '2026-11-23T08:00:00.000Z')
  assert.equal(end({ choice: 'date', date: '2026-12-01' }), '2026-12-01T08:00:00.000Z')
  // In Auckland it is Tuesday already.
  assert.equal(end({ choice: 'tomorrow', offset: -780 }), '2026-11-17T19:00:00.000Z')
  assert.equal(snoozeEnd({ choice: 'week' }, new Date('2026-11-19T01:00:00Z')).toISOString(), '2026-11-23T08:00:00.000Z')
  for (const date of ['2026-11-15', '2028-01-01', '2026-13-01', 'x', null])
    assert.throws(() => end({ choice: 'date', date }), /Choose a day|Validation/, String(date))
})

test('a snoozed thread leaves the inbox and returns as unread, at its top', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  const ids = async (query = '') =>
    [...(await ben.get(`/notifications${query}`)).text.matchAll(/name="id" value="(\d+\.\d+)"/g)].map(([, id]) => id ?? '')
  const [site = '', release = '', steam = '', smoke = ''] = await ids()
  const act = (fields: Record<string, string | string[]>) => ben.postAndFollow('/notifications', fields)
  const done = await act({ act: 'snooze-tomorrow', id: [smoke, steam], offset: '0' })
  assert.match(done.text, /2 snoozed/)
  assert.deepEqual(await ids(), [site, release])
  assert.deepEqual(await ids('?view=all'), [site, release])
  assert.deepEqual(await ids('?view=done'), [])
  assert.deepEqual(await ids('?view=snoozed'), [steam, smoke])
  assert.deepEqual(await ids('?q=is:snoozed'), [steam, smoke])
  // For the API, it is done until then.
  assert.equal((await forge.ben.read('/notifications?all=true')).length, 2)
  assert.equal((await forge.ben.read(`/notifications/threads/${Number.parseInt(smoke, 10)}`)).done, true)

  const former = [...done.text.matchAll(/name="former" value="([^"]*)"/g)].map(([, one]) => one ?? '')
  await act({ act: 'undo', undone: 'snooze', former })
  assert.deepEqual(await ids(), [site, release, steam, smoke])
  await act({ act: 'snooze-later', id: [smoke, steam, site] })
  await wakeThreads(forge.belfry.db)
  assert.deepEqual(await ids(), [release])

  // New activity ends the snooze; being done does too.
  await expect(201, await forge.ada.post('/repos/ada/engine/issues/2/comments', { body: 'Again' }))
  await forge.told(forge.ben, 2)
  await expect(204, await forge.ben.delete(`/notifications/threads/${Number.parseInt(site, 10)}`))
  assert.deepEqual(await ids('?view=snoozed'), [smoke])
  assert.deepEqual(await ids('?view=done'), [site])

  forge.clock.advance(4 * 3_600_000)
  await wakeThreads(forge.belfry.db)
  const [first = '', ...others] = await ids()
  assert.equal(Number.parseInt(first, 10), Number.parseInt(smoke, 10))
  assert.deepEqual(
    others.map((id) => Number.parseInt(id, 10)),
    [steam, release].map((id) => Number.parseInt(id, 10)),
  )
  assert.match((await act({ act: 'snooze-date', id: smoke, date: '1999-01-01' })).text, /Choose a day within the next year\./)
  assert.equal((await act({ act: 'snooze-never', id: smoke })).status, 404)
})

test('threads are saved, and kept when they are done', async () => {
  await using forge = await openReading()
  const ben = await signedIn(forge, 'ben')
  const text = async (query: string) => (await ben.get(`/notifications${query}`)).text
  const [, site = ''] = /name="id" value="(\d+\.\d+)"/.exec(await text('')) ?? []
  assert.match((await ben.postAndFollow('/notifications', { one: `save ${site}` })).text, /1 saved/)
  await ben.postAndFollow('/notifications', { act: 'done', id: site })
  assert.match(await text('?view=saved'), /Broken link/)
  assert.match(await text('?q=is:done+is:saved'), /Broken link/)
  assert.match((await ben.postAndFollow('/notifications', { one: `unsave ${site}` })).text, /1 no longer saved/)
  assert.match(await text('?view=saved'), /No saved notifications/)
})

test('filters are saved, counted, renamed, deleted and restored', async () => {
  await using forge = await openReading()
  const [ben, dan] = [await signedIn(forge, 'ben'), await signedIn(forge, 'dan')]
  await ben.get('/notifications')
  const form = (fields: Record<string, string>) =>
    ben.postAndFollow('/notifications/filters', { back: '/notifications?view=all', ...fields })
  const saved = (text: string) =>
    [...text.matchAll(/side-text">([^<]*)<\/span>(?:<span class="counter">(\d+)<\/span>)?<\/a><details/g)].map(
      ([, name, count]) => [name, count],
    )
  assert.deepEqual(saved((await form({ act: 'create', name: ' Bugs  & more ', view: 'unread', q: 'is:issue' })).text), [
    ['Bugs &amp; more', '3'],
  ])
  await form({ act: 'create', name: 'Mine', view: 'participating', q: '-is:release' })
  await form({ act: 'create', name: 'Old', view: 'done', q: '' })
  const { text } = await form({ act: 'create', name: 'bugs & MORE', view: 'unread', q: 'is:issue repo:ada/engine' })
  assert.deepEqual(saved(text), [
    ['bugs &amp; MORE', '2'],
    ['Mine', '1'],
    ['Old', undefined],
  ])
  const [bugs = '', mine = ''] = [...text.matchAll(/name="id" value="(\d+)"><input name="name"/g)].map(([, id]) => id ?? '')
  assert.match((await form({ act: 'rename', id: mine, name: 'BUGS & more' })).text, /Another filter has this name/)
  const longest = 'About me'.padEnd(60, '!')
  for (const name of ['', `${longest}!`])
    assert.match((await form({ act: 'rename', id: mine, name })).text, /Give the filter a name/)
  assert.equal(saved((await form({ act: 'rename', id: mine, name: longest })).text)[0]?.[0], longest)
  await dan.get('/notifications')
  for (const act of ['rename', 'delete', 'x'])
    assert.equal((await dan.postAndFollow('/notifications/filters', { act, id: bugs, name: 'Mine' })).status, 404)
  const gone = await form({ act: 'delete', id: bugs })
  assert.equal(saved(gone.text).length, 2)
  assert.match(gone.text, /name="q" value="is:issue repo:ada\/engine"/)
  for (let number = 3; number <= 20; number++)
    await ben.post('/notifications/filters', { act: 'create', name: `F${number}`, q: 'x' })
  assert.match((await form({ act: 'create', name: 'Too many', q: 'x' })).text, /up to 20 filters/)
  assert.equal(
    (await ben.post('/notifications/filters', { act: 'create', name: 'F3', q: 'y', back: '//evil.example' })).location?.split(
      '?',
    )[0],
    '/notifications',
  )
})
