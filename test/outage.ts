import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseProxy } from './database-proxy.ts'
import { Client, expect, Person } from './forge.ts'
import { Desk } from './git.ts'
import { type BelfryProcess, Host, newToken, openDatabase } from './process.ts'
import { listen } from './streams.ts'
import { openReceiver } from './webhooks.ts'

/** What a request was answered, and after how long, in milliseconds; `undefined` when there was no answer. */
export interface Answered {
  path: string
  status: number | undefined
  retry_after: string | null
  type: string | null
  text: string
  took: number
}

/** Two nodes on one database, which they reach by a proxy that a test has the say over. */
export async function openOutage() {
  await using undo = new AsyncDisposableStack()
  const database = undo.use(await openDatabase())
  const proxy = undo.use(await DatabaseProxy.open())
  const nodes = undo.use(await openNodes(proxy.url(database.url)))
  const running = undo.move()
  return { ...nodes, proxy, database, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Two nodes on a database, with someone who acts, and what must come of it. */
export async function openNodes(database_url: string) {
  await using undo = new AsyncDisposableStack()
  const host = undo.use(await Host.open())
  const receiver = undo.use(await openReceiver())
  const token = newToken()
  const settings = { DATABASE_URL: database_url, BELFRY_ADMIN_TOKEN: token, BELFRY_WEBHOOK_ADDRESSES: '127.0.0.1' }
  const nodes = await Promise.all([host.start({ settings }), host.start({ settings })])
  const [first] = nodes
  const adminOf = (node: BelfryProcess) => new Person('admin', token, node)
  const admin = adminOf(first)
  await admin.owns('engine', { auto_init: true })
  await expect(201, await admin.post('/admin/users', { login: 'ben', email: 'ben@example.com' }))
  const { token: bens } = await expect(
    201,
    await admin.post('/admin/users/ben/authorizations', { scopes: ['repo', 'notifications'] }),
  )
  const config = { url: receiver.url, content_type: 'json' }
  await expect(201, await admin.post('/repos/admin/engine/hooks', { config, events: ['issues'] }))
  const ben = (node: BelfryProcess) => new Person('ben', bens, node)
  const streams = await Promise.all(
    nodes.map(async (node) => undo.use(await listen(adminOf(node), '/repos/admin/engine/events'))),
  )
  const desk = undo.use(await Desk.open({ web: first.web }))
  const clones = await Promise.all(
    nodes.map(async (node) => {
      const clone = await desk.clone({ login: 'admin', token }, 'admin/engine')
      await clone.git('remote', 'set-url', 'origin', `${node.web.replace('://', `://admin:${token}@`)}/admin/engine.git`)
      return clone
    }),
  )
  let acts = 0

  /** Acts on a node until each thing that Belfry does is seen to have come of it; gives after how many milliseconds each was. */
  async function recovery(place: number): Promise<Record<string, number>> {
    const node = nodes[place] as BelfryProcess
    const title = `act ${++acts}`
    const begun = performance.now()
    const times: Record<string, number> = {}
    const seen = async (what: string, look: () => unknown) => {
      while (!(await look())) {
        assert.ok(performance.now() - begun < 60_000, `${what} does not work again`)
        await sleep(50)
      }
      times[what] = Math.round(performance.now() - begun)
    }
    const isFine = async (path: string) => (await request(node, path)).status === 200
    const wrote = seen('write', async () => {
      const answer = await adminOf(node).post('/repos/admin/engine/issues', { title, body: '@ben' })
      await answer.arrayBuffer()
      assert.ok([201, 503].includes(answer.status), `${answer.status}`)
      return answer.status === 201
    })
    await Promise.all([
      seen('ready', () => isFine('/readyz')),
      seen('read', () => isFine('/api/v3/repos/admin/engine')),
      seen('page', () => isFine('/admin/engine/issues')),
      seen('feed', () => isFine('/admin.atom')),
      seen('push', () => push(place, title)),
      wrote,
      wrote.then(() => seen('delivery', () => receiver.received.some(({ json }) => json.issue?.title === title))),
      wrote.then(() => seen('stream', () => streams[place]?.messages.some(({ data }) => data.includes(`"${title}"`)))),
      wrote.then(() =>
        seen('job', async () => {
          const answer = await ben(node).get('/notifications')
          return (await answer.text()).includes(`"${title}"`)
        }),
      ),
    ])
    return times
  }

  async function push(place: number, title: string) {
    const clone = clones[place]
    await clone?.commit(title)
    return (await clone?.attempt('push', '--quiet', '--force', 'origin', `HEAD:node-${place}`))?.status === 0
  }

  /** Asks as a program, a browser, a feed reader or git would. */
  async function request(node: BelfryProcess, path: string): Promise<Answered> {
    const begun = performance.now()
    const authorization = path.startsWith('/api') ? { authorization: `Bearer ${token}` } : undefined
    const client = new Client(node.web, { ...authorization, cookie: 'belfry_session=nobody' })
    const answer = await client.get(path).catch(() => undefined)
    const text = (await answer?.text().catch(() => undefined)) ?? ''
    const took = performance.now() - begun
    const header = (name: string) => answer?.headers.get(name) ?? null
    return { path, status: answer?.status, retry_after: header('retry-after'), type: header('content-type'), text, took }
  }

  const running = undo.move()
  return {
    nodes,
    adminOf,
    receiver,
    clones,
    recovery,
    request,
    push,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
