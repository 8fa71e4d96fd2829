import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type BelfryServer, connectBelfry, type Seed, startBelfry } from 'belfry/testing'
import { identityOf } from '#platform/processes.ts'
import { processesIn, until } from '#test/machine.ts'
import { Octokit } from '#test/octokit.ts'

let server: BelfryServer
let octokit: Octokit

const seed: Seed = {
  users: [{ login: 'alice' }, { login: 'bob' }],
  repositories: [
    { name: 'alice/tower', files: { 'README.md': '# Tower' }, issues: [{ title: 'The bell is silent', author: 'bob' }] },
  ],
}

// In a suite, because files share a process and hooks outside of one are for all of them.
describe('a test server', () => {
  before(async () => {
    server = await startBelfry({ seed })
    octokit = quietOctokit()
  })
  beforeEach(() => server.reset())
  after(() => server.close())

  const quietOctokit = () => new Octokit({ ...server.octokitOptions, retry: { enabled: false } })

  const createRepository = (name: string) => octokit.repos.createForAuthenticatedUser({ name, auto_init: true })

  const statusOf = (work: Promise<{ status: number }>) =>
    work.then(
      ({ status }) => status,
      ({ status }) => status as number,
    )

  test('the seeded state is there after every reset', async () => {
    const alice = new Octokit(server.users.alice?.octokitOptions)
    const tower = { owner: 'alice', repo: 'tower' }
    const read = async () => ({
      login: (await alice.users.getAuthenticated()).data.login,
      titles: (await alice.issues.listForRepo(tower)).data.map(({ title }) => title),
      head: (await alice.repos.getBranch({ ...tower, branch: 'main' })).data.commit.sha,
    })
    const before = await read()
    assert.deepEqual(before.titles, ['The bell is silent'])
    await alice.issues.update({ ...tower, issue_number: 1, title: 'The bell rings' })
    const content = Buffer.from('more').toString('base64')
    await alice.repos.createOrUpdateFileContents({ ...tower, path: 'b', message: 'Add b', content })
    await server.reset()
    assert.deepEqual(await read(), before)
  })

  test('a seed with a mistake is refused with its message', async () => {
    const repositories = [{ name: 'carol/tower' }]
    await assert.rejects(server.world({ seed: { repositories } }), /repositories\[0\]\.name: there is no user .*"carol"/)
  })

  test('a reset removes what was made, and ids begin again', async () => {
    const { data: first } = await createRepository('one')
    await octokit.issues.create({ owner: 'admin', repo: 'one', title: 'A bug' })
    await server.reset()
    assert.equal(await statusOf(octokit.repos.get({ owner: 'admin', repo: 'one' })), 404)
    const { data: second } = await createRepository('one')
    assert.equal(second.id, first.id)
    assert.equal((await octokit.issues.listForRepo({ owner: 'admin', repo: 'one' })).data.length, 0)
  })

  test('the same calls at the same time make the same commits', async () => {
    const commit = async () => {
      await server.reset()
      await server.clock.set('2026-06-01T00:00:00Z')
      await createRepository('one')
      const { data } = await octokit.repos.createOrUpdateFileContents({
        ...{ owner: 'admin', repo: 'one', path: 'a.txt', message: 'Add a' },
        content: Buffer.from('a').toString('base64'),
      })
      return data.commit.sha
    }
    assert.equal(await commit(), await commit())
  })

  test('both APIs serve the same state', async () => {
    await createRepository('one')
    const versioned = await fetch(`${server.versionedUrl}/repos/admin/one`, {
      headers: { authorization: `Bearer ${server.adminToken}` },
    })
    assert.equal(versioned.status, 200)
    const { url } = (await versioned.json()) as { url: string }
    assert.equal(url, `${server.versionedUrl}/repos/admin/one`)
  })

  test('time moves as the test says, and a reset puts it back', async () => {
    await server.clock.set('2030-01-02T03:04:05Z')
    await createRepository('one')
    await server.clock.advance({ days: 1, minutes: 2 })
    const { data } = await octokit.issues.create({ owner: 'admin', repo: 'one', title: 'Later' })
    assert.equal(data.created_at, '2030-01-03T03:06:05Z')
    await server.reset()
    assert.ok(Math.abs((await server.clock.now()).getTime() - Date.now()) < 60_000)
  })

  test('requests are recorded with what a client asked', async () => {
    const { headers } = await octokit.request('GET /user')
    await statusOf(octokit.request('GET /user', { headers: { 'if-none-match': headers.etag } }))
    await createRepository('one')
    const [, second] = await server.requests.assertCount(2, { method: 'GET', path: '/user' })
    assert.deepEqual(
      { status: second?.status, conditional: second?.conditional, user: second?.user, api: second?.api },
      { status: 304, conditional: true, user: 'admin', api: 'self_hosted' },
    )
    const [created] = await server.requests.list({ path: /^\/user\/repos$/ })
    assert.deepEqual(created?.body, { name: 'one', auto_init: true })
    assert.equal(created?.headers.authorization, undefined)
    assert.equal(await server.requests.count({ status: 304 }), 1)
    await assert.rejects(
      server.requests.assertCount(1, { path: '/users/*' }),
      /there were 0\. All requests:\n {2}GET \/user as admin: 200/,
    )
  })

  test('a request to what Belfry does not serve can fail a test', async () => {
    await server.requests.assertServed()
    const missing = await fetch(`${server.url}/api/v3/repos/alice/nothing`)
    assert.equal(missing.status, 404)
    await server.requests.assertServed()
    await server.fault({ match: { path: '/gists' }, status: 404 })
    await fetch(`${server.versionedUrl}/gists`)
    await server.requests.assertServed()
    await fetch(`${server.versionedUrl}/repos/alice/tower/actions/runs`)
    await fetch(`${server.url}/api/v3/repos/alice/tower/issues/1/sub_issues`, { method: 'POST', body: '{}' })
    await fetch(`${server.url}/api/graphql`, { method: 'POST', body: '{}' })
    const lines = ['GET /repos/alice/tower/actions/runs', 'POST /repos/alice/tower/issues/1/sub_issues', 'POST /api/graphql']
    const message = ['Belfry does not serve these addresses:', ...lines].join('\n  ')
    await assert.rejects(server.requests.assertServed(), { message })
    await server.reset()
    await server.requests.assertServed()
  })

  test('a delivery can be waited for, and one that does not come is explained', async () => {
    const receiver = createServer((_, response) => response.end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    await createRepository('one')
    const repo = { owner: 'admin', repo: 'one' }
    await octokit.repos.createWebhook({ ...repo, events: ['issues'], config: { url, secret: 'hush', content_type: 'json' } })
    await octokit.issues.create({ ...repo, title: 'A bug' })
    const delivery = await server.deliveries.next({ event: 'issues', action: 'opened', repository: 'admin/one' })
    assert.equal(delivery.payload.issue.title, 'A bug')
    assert.equal(delivery.headers['X-GitHub-Event'], 'issues')
    assert.match(delivery.headers['X-Hub-Signature-256'] ?? '', /^sha256=/)
    assert.equal(delivery.status_code, 200)
    await assert.rejects(
      server.deliveries.next({ event: 'issues', action: 'closed' }, { timeout: 20 }),
      /No new delivery matched .*"closed"} within 20 ms\. There were:\nping of admin\/one to .* \(200\)\nissues\.opened of admin\/one/s,
    )
    assert.deepEqual(
      (await server.deliveries.list()).map(({ event }) => event),
      ['ping', 'issues'],
    )
    receiver.close()
  })

  test('requests fail as the test says', async () => {
    await server.fault({ match: { path: '/user' }, status: 502, times: 1 })
    assert.deepEqual([await statusOf(octokit.request('GET /user')), await statusOf(octokit.request('GET /user'))], [502, 200])

    const limited = await server.fault({ match: { method: 'GET', path: '/repos/**' }, rate_limit: 'exhausted', retry_after: 30 })
    const alice = new Octokit(server.users.alice?.octokitOptions)
    const refused = await alice.repos.get({ owner: 'a', repo: 'b' }).catch(({ response }) => response)
    assert.equal(refused.status, 403)
    assert.equal(refused.headers['x-ratelimit-remaining'], '0')
    assert.ok(Math.abs(Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000 - 30) < 5)
    assert.match(refused.data.message, /^API rate limit exceeded for user ID 2\.$/)
    assert.match(refused.headers['x-github-request-id'], /^[0-9A-F:]+$/)
    assert.equal(refused.headers['access-control-allow-origin'], '*')
    assert.equal(await limited.hits(), 1)
    await limited.remove()
    assert.equal(await limited.hits(), 1)
    assert.equal(await statusOf(octokit.repos.get({ owner: 'a', repo: 'b' })), 404)

    await server.fault({ match: { path: '/rate_limit' }, secondary_limit: true, status: 429 })
    const slow = await octokit.request('GET /rate_limit').catch(({ response }) => response)
    assert.deepEqual([slow.status, slow.headers['retry-after']], [429, '60'])

    await server.fault({ match: { user: 'admin', path: '/user' }, expired_token: true })
    assert.equal(await statusOf(octokit.request('GET /user')), 401)

    await server.reset()
    assert.equal(await statusOf(octokit.request('GET /user')), 200)
    await server.fault({ match: { path: '/user' }, status: 502 })
    assert.equal(await limited.hits(), 1)
    await limited.remove()
    assert.equal(await statusOf(octokit.request('GET /user')), 502)
  })

  test('a connection is dropped before or after the work is done', async () => {
    const create = (name: string) =>
      fetch(`${server.url}/api/v3/user/repos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.adminToken}` },
        body: JSON.stringify({ name }),
      })
    await server.fault({ match: { method: 'POST' }, drop: true, times: 1 })
    await server.fault({ match: { method: 'POST' }, drop: 'response', times: 1 })
    await assert.rejects(create('before'), /fetch failed/)
    await assert.rejects(create('after'), /fetch failed/)
    assert.equal(await statusOf(octokit.repos.get({ owner: 'admin', repo: 'before' })), 404)
    assert.equal(await statusOf(octokit.repos.get({ owner: 'admin', repo: 'after' })), 200)
  })

  test('a request that is delayed until after a reset is dropped', async () => {
    await server.fault({ delay: 60_000 })
    const late = fetch(`${server.url}/api/v3/user`).then(
      () => 'answered',
      () => 'dropped',
    )
    await until('it has arrived', async () => (await server.requests.count()) === 1)
    await server.reset()
    assert.equal(await late, 'dropped')
  })

  test('an address that cannot be read is recorded and refused', async () => {
    const { port } = new URL(server.url)
    const status = await new Promise((resolve) =>
      request({ port, host: '127.0.0.1', path: '//[' }, (response) => resolve(response.resume().statusCode)).end(),
    )
    assert.equal(status, 404)
    await server.requests.assertCount(1, { status: 404 })
  })

  test('an option, a setting or a unit with a typo is refused', async () => {
    await assert.rejects(startBelfry({ sed: {} } as never), /no option "sed"\. Known are: seed, settings/)
    await assert.rejects(startBelfry('./seed.yaml' as never), /takes an object, such as startBelfry\(\{ seed/)
    await assert.rejects(startBelfry({ port: '3000' as never }), /port must be a number/)
    await assert.rejects(server.world({ sed: {} } as never), /no option "sed"/)
    const settings = { BELFRY_RATE_LMIT: 'on', FOO: '1' }
    await assert.rejects(server.world({ settings }), /no setting BELFRY_RATE_LMIT and no FOO\. Known are: .*BELFRY_RATE_LIMIT/)
    for (const by of [{ hour: 1 }, { weeks: 1 }, {}, '1h', undefined, -1, { hours: '1' }])
      await assert.rejects(server.clock.advance(by as never), /takes a number of milliseconds, or an object of days, hours/)
    await assert.rejects(server.clock.set('tomorrow'), /clock\.set takes a Date.*not "tomorrow"/)
    await assert.rejects(server.requests.assertCount({ path: '/user' } as never), /takes the number first/)
  })

  test('an address that is no control address is refused', async () => {
    for (const address of [server.url, `${server.url}/api/v3/`, `${server.control}x`, 'tower', 'https://127.0.0.1/'])
      await assert.rejects(connectBelfry(address), /no control address|This world is closed/)
    await assert.rejects(connectBelfry(process.env.BELFRY_NO_CONTROL), /address is missing.*BELFRY_CONTROL/)
  })

  test('a fault with a typo is refused', async () => {
    await assert.rejects(server.fault({ match: { route: '/user' }, status: 500 } as never), /unknown key "route".*method, path/)
    await assert.rejects(server.fault({ match: { path: '/user' } }), /needs one of: status, delay/)
    await assert.rejects(server.fault({ status: 99 }), /status must be a status from 200 to 599/)
    for (const path of ['/api/v3/repos/**', 'repos/**', `${server.url}/api/v3/repos/**`, '/repos/**?page=2'])
      await assert.rejects(server.fault({ match: { path }, status: 500 }), /match\.path is .* Write "\/repos\/\*\*"$/)
    await assert.rejects(server.requests.assertCount(0, { user: 'carol' }), /no user of the seed\. Users are: admin, alice, bob/)
    await assert.rejects(server.fault({ status: 500, drop: true }), /drops the answer, so it cannot have status/)
    await assert.rejects(server.fault({ drop: 'request' as never }), /drop must be true or "response"/)
    await assert.rejects(server.fault({ delay: 1, body: 'late' }), /has body of an answer\. Add its status/)
  })

  test('worlds are independent of each other', async () => {
    await createRepository('one')
    const shared = await connectBelfry(server.control)
    const world = await shared.world({ seed: {}, clock: '2027-01-01T00:00:00Z' })
    const other = new Octokit(world.octokitOptions)
    assert.notEqual(world.url, server.url)
    const { data } = await other.repos.createForAuthenticatedUser({ name: 'two' })
    assert.deepEqual([data.id, data.created_at], [1, '2027-01-01T00:00:00Z'])
    await world.reset()
    assert.equal(await statusOf(octokit.repos.get({ owner: 'admin', repo: 'one' })), 200)
    assert.deepEqual(Object.keys(world.users), ['admin'])
    await world.close()
    await assert.rejects(fetch(world.url), /fetch failed/)
    await assert.rejects(world.reset(), /This world is closed/)
  })

  test('a second reset at once is one too', async () => {
    await createRepository('one')
    await server.fault({ match: { path: '/user' }, status: 502 })
    await server.reset()
    await server.clock.advance({ hours: 1 })
    await server.reset()
    await server.fault({ match: { path: '/user' }, status: 502 })
    await server.reset()
    assert.ok(Math.abs((await server.clock.now()).getTime() - Date.now()) < 60_000)
    assert.equal(await statusOf(octokit.request('GET /user')), 200)
    assert.equal(await statusOf(octokit.repos.get({ owner: 'admin', repo: 'one' })), 404)
    await server.requests.assertCount(2)
  })

  test('the server ends with the process that started it, and leaves nothing', async () => {
    const program = `import { startBelfry } from 'belfry/testing'
    console.log((await startBelfry()).pid)
    setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line)
    assert.equal(foldersOf(pid).length, 1)
    parent.kill('SIGKILL')
    await until('the server has ended', () => !identityOf(pid))
    assert.deepEqual(foldersOf(pid), [])
  })

  test('a killed server takes its PostgreSQL and its data with it', async () => {
    const killed = await startBelfry()
    const [folder = ''] = foldersOf(killed.pid)
    assert.ok(processesIn(folder).length)
    process.kill(killed.pid ?? 0, 'SIGKILL')
    await until('PostgreSQL is gone', () => !processesIn(folder).length)
    await until('the data is gone', () => !existsSync(folder))
  })

  const foldersOf = (pid: number | undefined) =>
    ['/dev/shm', tmpdir()].flatMap((place) =>
      readdirSync(place)
        .filter((name) => name.startsWith(`belfry-test-server-${pid}-`))
        .map((name) => join(place, name)),
    )
})
