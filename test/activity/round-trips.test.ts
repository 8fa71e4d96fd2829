import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { countRoundTrips } from '#test/round-trips.ts'

test('an act makes at most four round trips to the database', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  for (let n = 1; n <= 11; n++) {
    const watcher = await forge.person(`watcher-${n}`)
    await expect(200, await watcher.put('/repos/ada/engine/subscription', { subscribed: true }))
  }
  await ben.post('/repos/ada/engine/issues', { title: 'It rings twice' })

  /** The fewest of several times, because what runs in the background makes round trips too, and a new connection prepares its statements. */
  const fewest = async (status: number, act: () => Promise<Response>, before: () => Promise<unknown> = async () => {}) => {
    const counts: number[] = []
    for (let n = 0; n < 8; n++) {
      await before()
      // Otherwise the caller would not be checked.
      db.notifyTransactionEnd('committed here')
      const former = countRoundTrips()
      await expect(status, await act())
      counts.push(countRoundTrips() - former)
    }
    return Math.min(...counts)
  }
  const star = () => ben.put('/user/starred/ada/engine')
  const unstar = () => ben.delete('/user/starred/ada/engine')
  const issue = () => ben.post('/repos/ada/engine/issues', { title: 'The rope frays', body: 'Do not ring it.' })
  const comment = () => ben.post('/repos/ada/engine/issues/1/comments', { body: 'It still does.' })
  let thread = ''
  const newThread = async () => {
    const { number } = await expect(201, await issue())
    const threads: { id: string; subject: { url: string } }[] = await ada.read('/notifications')
    thread = threads.find(({ subject }) => subject.url.endsWith(`/${number}`))?.id ?? ''
  }
  const counted = {
    star: await fewest(204, star, unstar),
    unstar: await fewest(204, unstar, star),
    'issue, 11 watchers': await fewest(201, issue),
    comment: await fewest(201, comment),
    'mark a thread as read': await fewest(205, () => ada.patch(`/notifications/threads/${thread}`), newThread),
    repository: await fewest(200, () => ben.get('/repos/ada/engine')),
  }
  assert.deepEqual(counted, {
    star: 2,
    unstar: 2,
    'issue, 11 watchers': 4,
    comment: 4,
    'mark a thread as read': 4,
    repository: 1,
  })
})
