import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '#test/machine.ts'
import { type BelfryProcess, Host, newToken, openDatabase } from '#test/process.ts'
import { listen } from '#test/streams.ts'

await using undo = new AsyncDisposableStack()
const host = undo.use(await Host.open())
const database = undo.use(await openDatabase())
const admin = newToken()
const settings = { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: admin }
const [one, other] = await Promise.all([host.start({ settings }), host.start({ settings })])
const opened = undo.move()
after(() => opened.disposeAsync())

test('a list that was read from one node is marked through another', async () => {
  const ben = await signUp(one, admin, 'ben')
  await mention(other, admin, 'ben')
  for (const [reads, marks] of [
    [one, other],
    [other, one],
  ] as const) {
    const updated_at = await newestTime(reads, ben.token)
    assert.equal(await markUpTo(marks, ben.token, updated_at), 205)
    // The other node may answer from its cache for a moment.
    assert.deepEqual(await unreadOf(marks, ben.token), [])
    await mention(marks, admin, 'ben')
  }
})

test('a list that was read before a restart is marked after it', async () => {
  await using alone = await Host.openUsed()
  const before = await alone.start()
  const eve = await signUp(before, alone.token, 'eve')
  await mention(before, alone.token, 'eve')
  const updated_at = await newestTime(before, eve.token)
  assert.equal(await before.stop(), '0')
  const again = await alone.start()
  assert.equal(await markUpTo(again, eve.token, updated_at), 205)
  assert.deepEqual(await unreadOf(again, eve.token), [])
})

test('a stream of one node has what happens on another', async () => {
  const cy = await signUp(one, admin, 'cy')
  const headers = { authorization: `Bearer ${cy.token}` }
  await using inbox = await listen({ base: `${one.web}/api/v3`, headers }, '/notifications')
  await using events = await listen({ base: `${one.web}/api/v3`, headers }, '/users/admin/events')
  const { title } = await mention(other, admin, 'cy')
  const [[thread], [event]] = await Promise.all([inbox.until(1), events.until(1)])
  assert.deepEqual([thread.subject.title, thread.reason], [title, 'mention'])
  assert.equal(event.actor.login, 'admin')
})

test('wrong passwords on several nodes count together', async () => {
  const { login, password } = await signUp(one, admin, 'dan')
  const signIn = async (node: BelfryProcess, given: string) => {
    const headers = { authorization: `Basic ${btoa(`${login}:${given}`)}` }
    return (await fetch(`${node.web}/api/v3/user`, { headers })).status
  }
  for (const node of [one, other]) assert.equal(await signIn(node, password), 200)
  for (let count = 0; count < 5; count++) for (const node of [one, other]) assert.equal(await signIn(node, 'wrong'), 401)
  for (const node of [one, other]) assert.equal(await signIn(node, password), 403)
})

test('a rate limit holds across nodes', async () => {
  const ask = async (node: BelfryProcess) => {
    const { status, headers } = await fetch(`${node.versioned}/meta`)
    const number = (name: string) => Number(headers.get(`x-ratelimit-${name}`))
    return { status, used: number('used'), reset: number('reset') }
  }
  for (let count = 0; count < 25; count++) for (const node of [one, other]) assert.equal((await ask(node)).status, 200)
  const known = async () => (await database.query('select used::int from rate_limits')).map(({ used }) => used)
  await until('the counts of both are shared', async () => (await known())[0] === 50)
  // A node learns what the other counted when it shares its next request.
  await ask(other)
  await until('that request is shared', async () => (await known())[0] === 51)
  await until('a node refuses what both have counted', async () => (await ask(one)).status === 403)
  await until('and so does the other', async () => (await ask(other)).status === 403)
  assert.equal((await ask(one)).reset, (await ask(other)).reset)
})

/** Gives what only the new user knows. */
async function signUp(node: BelfryProcess, by: string, login: string) {
  const password = `${login}'s password`
  await made(node, by, '/admin/users', { login, email: `${login}@example.com`, password })
  const { token } = await made(node, by, `/admin/users/${login}/authorizations`, { scopes: ['notifications'] })
  return { login, password, token }
}

/** Opens an issue of the admin's that notifies a user, in a repository of its own. */
async function mention(node: BelfryProcess, by: string, login: string) {
  const name = `engine-${++repositories}`
  await made(node, by, '/user/repos', { name })
  const { title } = await made(node, by, `/repos/admin/${name}/issues`, { title: `It rattles in ${name}`, body: `@${login}` })
  return { title }
}
let repositories = 0

async function made(node: BelfryProcess, token: string, path: string, body: object) {
  const answer = await node.post(`/api/v3${path}`, token, body)
  assert.equal(answer.status, 201, path)
  return (await answer.json()) as { token: string; title: string }
}

async function unreadOf(node: BelfryProcess, token: string) {
  return (await (await node.get('/api/v3/notifications', token)).json()) as { updated_at: string }[]
}

/** A job notifies those who are mentioned. */
async function newestTime(node: BelfryProcess, token: string) {
  let newest: string | undefined
  await until('there is a notification', async () => {
    newest = (await unreadOf(node, token))[0]?.updated_at
    return newest !== undefined
  })
  return newest
}

async function markUpTo(node: BelfryProcess, token: string, last_read_at: string | undefined) {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${node.web}/api/v3/notifications`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ last_read_at }),
  })
  return answer.status
}
