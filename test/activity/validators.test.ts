import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge, type Person } from '#test/forge.ts'
import { until } from '#test/machine.ts'

const opened = [
  '/repos/ada/engine/events',
  '/users/ada/events',
  '/users/ben/received_events',
  '/orgs/guild/events',
  '/notifications',
]

/** Ben watches a repository of Ada's with an issue that both commented on, and is a member of the guild. */
async function openPolled() {
  const forge = await openForge({ worker: true })
  const [ada, ben, eve] = [await forge.person('ada'), await forge.person('ben'), await forge.person('eve')]
  await forge.organization('guild', ada)
  await ada.owns('engine')
  await eve.owns('elsewhere')
  await expect(201, await ada.post('/orgs/guild/repos', { name: 'tools' }))
  await expect(200, await ben.put('/repos/ada/engine/subscription', { subscribed: true }))
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  const { id } = await expect(201, await ada.post('/repos/ada/engine/issues/1/comments', { body: 'Seen' }))
  await until('Ben is notified', async () => (await ben.read('/notifications')).length === 1)
  return Object.assign(forge, { ada, ben, eve, comment: id as number })
}

/** A client that polls: it sends the ETag of its last response. */
class Poller {
  readonly #client: Person
  readonly #etags = new Map<string, string>()

  constructor(client: Person) {
    this.#client = client
  }

  async poll(path: string) {
    const response = await this.#client.with({ 'if-none-match': this.#etags.get(path) ?? '' }).get(path)
    const body = await response.text()
    const etag = response.headers.get('etag')
    if (etag) this.#etags.set(path, etag)
    return { status: response.status, body }
  }
}

test('after a commit elsewhere, a poll reads neither events nor threads', async () => {
  await using forge = await openPolled()
  const poller = new Poller(forge.ben)
  for (const path of opened) await poller.poll(path)
  const { pool } = forge.belfry.db
  const query = pool.query.bind(pool)
  const statements: string[] = []
  pool.query = ((...args: Parameters<typeof query>) => {
    statements.push(JSON.stringify(args[0]))
    return query(...args)
  }) as typeof pool.query
  for (const path of opened) {
    await expect(204, await forge.eve.put('/user/starred/eve/elsewhere'))
    await expect(204, await forge.eve.delete('/user/starred/eve/elsewhere'))
    statements.length = 0
    assert.equal((await poller.poll(path)).status, 304, path)
    assert.deepEqual(
      statements.filter((text) => /\b(from|join) (events|threads)\b/.test(text)),
      [],
      path,
    )
  }
})

type Polled = Awaited<ReturnType<typeof openPolled>>

/** Changes, and the addresses whose responses they change for Ben. */
const changes: Record<string, [act: (forge: Polled) => Promise<unknown>, paths: string[]]> = {
  'a new comment': [
    ({ ada }) => ada.post('/repos/ada/engine/issues/1/comments', { body: 'Again' }),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events', '/notifications'],
  ],
  'an edited comment': [
    ({ ada, comment }) => ada.patch(`/repos/ada/engine/issues/comments/${comment}`, { body: 'Changed' }),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events'],
  ],
  'a deleted comment': [
    ({ ada, comment }) => ada.delete(`/repos/ada/engine/issues/comments/${comment}`),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events', '/notifications'],
  ],
  'a new title': [({ ada }) => ada.patch('/repos/ada/engine/issues/1', { title: 'Fire' }), ['/notifications']],
  'a renamed repository': [
    ({ ada }) => ada.patch('/repos/ada/engine', { name: 'motor' }),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events', '/notifications'],
  ],
  'a repository made private': [
    ({ ada }) => ada.patch('/repos/ada/engine', { private: true }),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events', '/notifications'],
  ],
  'a suspended actor': [
    ({ admin }) => admin.put('/users/ada/suspended', {}),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events', '/orgs/guild/events'],
  ],
  'a followed user': [({ ben }) => ben.put('/user/following/ada'), ['/users/ben/received_events']],
  'the end of a subscription': [({ ben }) => ben.delete('/repos/ada/engine/subscription'), ['/users/ben/received_events']],
  'a new repository of the organization': [
    ({ ada }) => ada.post('/orgs/guild/repos', { name: 'more' }),
    ['/users/ada/events', '/orgs/guild/events'],
  ],
  'a thread marked as read': [({ ben }) => ben.put('/notifications', {}), ['/notifications']],
  'a deleted repository': [
    ({ ada }) => ada.delete('/repos/ada/engine'),
    ['/repos/ada/engine/events', '/users/ada/events', '/users/ben/received_events', '/notifications'],
  ],
}

for (const [name, [act, paths]] of Object.entries(changes)) {
  test(`a poll sees ${name}, and responses that it does not change stay 304`, async () => {
    await using forge = await openPolled()
    const poller = new Poller(forge.ben)
    const before = new Map<string, string>()
    for (const path of opened) before.set(path, (await poller.poll(path)).body)
    const done = (await act(forge)) as Response
    assert.ok(done.ok, `${done.status}`)
    if (paths.includes('/notifications')) {
      const changed = async () => (await (await forge.ben.get('/notifications')).text()) !== before.get('/notifications')
      await until('the inbox has changed', changed)
    }
    for (const path of opened) {
      const { status, body } = await poller.poll(path)
      if (paths.includes(path)) assert.ok(status !== 304 && body !== before.get(path), `${path}: ${status}`)
      else assert.equal(status, 304, path)
    }
  })
}
