import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBelfry } from 'belfry/testing'
import { checks } from '#conformance/checks.ts'
import { linesOf } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'
import { until } from '#test/machine.ts'
import { refusalOf, runConformance, startChecked } from './checked-server.ts'
import { readRecord } from './record.ts'
import { type Fault, openWrongServer, type Passed } from './wrong-server.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'belfry')

let server: Awaited<ReturnType<typeof startChecked>>
before(async () => {
  server = await startChecked()
})
after(() => server.close())

/** What the users of the run own, star and watch, and their tokens. */
async function leftovers() {
  const { octokitOptions } = server.users.ada ?? assert.fail()
  const read = async (path: string, headers: Record<string, string>) =>
    (await fetch(`${server.url}/api/v3${path}`, { headers })).json() as Promise<object[]>
  const token = { authorization: `Bearer ${octokitOptions.auth}` }
  const basic = { authorization: `Basic ${Buffer.from(`ada:${server.secrets.BELFRY_CONFORMANCE_PASSWORD}`).toString('base64')}` }
  const notes = linesOf(await read('/authorizations', basic), 'note').filter((note) => note.includes('conformance'))
  const lists = ['/user/repos', '/user/starred', '/user/subscriptions', '/orgs/guild/teams', '/notifications?all=true']
  const rows = (await Promise.all(lists.map((path) => read(path, token)))).flat()
  return [...notes, ...rows.filter((row) => JSON.stringify(row).includes('conformance-'))]
}

const failuresOf = (results: { id: string; outcome: string; failure?: object }[]) =>
  results.filter(({ outcome }) => outcome === 'failed').map(({ id, failure }) => [id, failure])

for (const variant of ['self-hosted', 'versioned'] as const)
  test(`the ${variant} API passes every check, and nothing is left behind`, async () => {
    const url = variant === 'versioned' ? server.versionedUrl : server.url
    const { report, status, printed, page } = await runConformance([url, '--concurrency', '8'], server.secrets)
    assert.deepEqual(failuresOf(report.results), [])
    assert.deepEqual([status, report.left, report.servers[0]?.variant], [0, [], variant])
    const skipped = new Set(report.results.flatMap(({ reason }) => reason ?? []))
    assert.deepEqual([...skipped].sort(), [
      `It is about the ${variant === 'versioned' ? 'self-hosted' : 'versioned'} variant.`,
      // A test server has no limit; a test below has one.
      'It takes more than 10 minutes: give --slow.',
      'The server does not say how much of a rate limit is left.',
    ])
    assert.equal(report.results.length, checks.length)
    assert.match(printed, /\d+ checks in [\d a-z]+: \d+ passed, 0 failed, \d+ skipped\.\n$/)
    assert.doesNotMatch(printed, /Not deleted/)
    assert.match(page, /<h1>No check failed<\/h1>/)
    assert.deepEqual(await leftovers(), [])
  })

test('with a rate limit, a response 304 must not count', async () => {
  await using limited = await startBelfry({ seed: { users: [{ login: 'ada' }] }, settings: { BELFRY_RATE_LIMIT: 'on' } })
  const { report } = await runConformance([limited.url, '--only', 'not-modified.free'], {
    BELFRY_CONFORMANCE_TOKEN: limited.users.ada?.token,
  })
  assert.deepEqual(
    report.results.map(({ outcome }) => outcome),
    ['passed'],
  )
  const fault: Fault = { answer: ({ status, headers }) => void (status === 304 && headers.set('x-ratelimit-remaining', '17')) }
  await using wrong = await openWrongServer(limited.url, fault)
  const found = await runConformance([wrong.url, '--only', 'not-modified.free'], {
    BELFRY_CONFORMANCE_TOKEN: limited.users.ada?.token,
  })
  assert.deepEqual(
    found.report.results.map(({ outcome }) => outcome),
    ['failed'],
  )
})

test('a wrong header and a wrong status are found, and nothing else', async () => {
  await using wrong = await openWrongServer(server.url, {
    answer(answer, { method, path }) {
      if (/\/networks\/[^?]*\/events/.test(path)) answer.headers.delete('x-poll-interval')
      if (method === 'DELETE' && /\/hooks\/\d+$/.test(path) && answer.status === 204) answer.status = 200
    },
  })
  const some = ['events', 'feeds', 'star.', 'hooks.'].flatMap((word) => ['--only', word])
  const { report, status, printed, page } = await runConformance([wrong.url, '--receiver', 'none', ...some], server.secrets)
  assert.equal(status, 1)
  const failures = report.results.filter(({ outcome }) => outcome === 'failed')
  assert.deepEqual(failures.map(({ id }) => id).sort(), ['events.network.polling', 'hooks.delete'])
  const [polling, deleting] = ['events.network.polling', 'hooks.delete'].map(
    (id) => failures.find((one) => one.id === id)?.failure,
  )
  assert.deepEqual([polling?.expected, polling?.got], ['a header x-poll-interval', 'none'])
  assert.deepEqual([deleting?.expected, deleting?.got, deleting?.exchange?.method], ['status 204', 'status 200', 'DELETE'])
  for (const shown of [printed, page]) {
    assert.match(shown, /hooks\.delete/)
    assert.ok(
      !Object.values(server.secrets).some((secret) => secret && secret.length > 20 && shown.includes(secret)),
      'no secret is shown',
    )
  }
  assert.deepEqual(report.left, [])
})

function startRun(url: string) {
  const child = spawn(program, ['conformance', url, '--only', 'imports', '--concurrency', '2'], {
    env: { PATH: process.env.PATH, ...server.secrets },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const printed = text(child.stdout)
  const checkInterrupted = async () => {
    assert.deepEqual(await ended, [1, null])
    assert.match(await printed, /Interrupted: not all checks were made\./)
    assert.deepEqual(await leftovers(), [])
  }
  return { interrupt: () => child.kill('SIGINT'), ended, checkInterrupted }
}

test('an interrupted run deletes what it made', async () => {
  const { interrupt, checkInterrupted } = startRun(server.url)
  await until('the run has made something', async () => (await leftovers()).length > 0)
  interrupt()
  await checkInterrupted()
})

test('an interrupted run deletes what the server makes after the interruption', async () => {
  let run: ReturnType<typeof startRun> | undefined
  let late: Passed | undefined
  let creations = 0
  const created = Promise.withResolvers<void>()
  await using slow = await openWrongServer(server.url, {
    async request(passed) {
      // The first one only shows that repositories can be deleted.
      if (passed.method !== 'POST' || passed.path !== '/api/v3/user/repos' || ++creations !== 2) return
      late = passed
      run?.interrupt()
      await Promise.race([run?.ended, sleep(1000)])
    },
    answer: (_, passed) => void (passed === late && created.resolve()),
  })
  run = startRun(slow.url)
  await created.promise
  await run.checkInterrupted()
})

test('without a second user and a receiver, checks that need them are skipped with the reason', async () => {
  const { BELFRY_CONFORMANCE_TOKEN } = server.secrets
  const ids = ['threads.get', 'hooks.ping', 'authorizations.create', 'oauth.review', 'oauth.web.code']
  const only = ids.flatMap((id) => ['--only', id])
  const { report, status } = await runConformance([server.url, '--receiver', 'none', ...only], { BELFRY_CONFORMANCE_TOKEN })
  assert.equal(status, 0)
  const reasons = new Map(report.results.map(({ id, reason }) => [id, reason]))
  assert.match(reasons.get('threads.get') ?? '', /--other-token/)
  assert.match(reasons.get('hooks.ping') ?? '', /--receiver/)
  assert.match(reasons.get('authorizations.create') ?? '', /--password/)
  assert.match(reasons.get('oauth.review') ?? '', /--client-id/)
  assert.match(reasons.get('oauth.web.code') ?? '', /--client-id/)
})

test('the web flow needs a session: one that was given is used, and a password that is wrong skips it', async () => {
  const { BELFRY_CONFORMANCE_PASSWORD: password = '', ...others } = server.secrets
  const flow = async (more: Record<string, string>) => {
    const { report, printed } = await runConformance([server.url, '--only', 'oauth.web.redirect'], { ...others, ...more })
    assert.deepEqual([report.summary.failed, report.left], [0, []])
    return { outcomes: new Set(report.results.map(({ outcome, reason }) => reason ?? outcome)), printed }
  }
  const guest = new Guest({ web: server.url })
  assert.equal((await guest.signIn('ada', password)).status, 303)
  const session = [...guest.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  assert.deepEqual([...(await flow({ BELFRY_CONFORMANCE_SESSION: session })).outcomes], ['passed'])
  // The session is the user's own, so it goes on.
  assert.equal((await guest.get('/settings/profile')).status, 200)
  assert.match([...(await flow({})).outcomes].join(), /^It needs a signed-in user at the pages: give --password or --session\.$/)
  const wrong = await flow({ BELFRY_CONFORMANCE_PASSWORD: 'another password' })
  assert.match([...wrong.outcomes].join(), /\/login did not accept the login ada with the password of --password\.$/)
})

test('wrong arguments, a wrong token and an address without an API are refused', async () => {
  const cases: [args: string[], code: number, said: RegExp][] = [
    [[], 2, /^The address of the server is missing\./],
    [['ftp://example.com', '--token', 'x'], 2, /^"ftp:\/\/example\.com" is no address of a server\./],
    [[server.url], 2, /^--token is missing\./],
    [[server.url, '--token', 'x', '--only', 'nothing-like-it'], 2, /^No check contains "nothing-like-it"\./],
    [[server.url, '--token', 'x', '--receiver', 'here'], 2, /^--receiver is "here"\./],
    [[server.url, '--token', 'x', '--variant', 'other'], 2, /^"other" is no variant\./],
    [[server.url, '--token', 'x'], 1, /^The server does not accept the token of --token\./],
    [['http://127.0.0.1:9', '--token', 'x'], 1, /^http:\/\/127\.0\.0\.1:9\/ cannot be reached: /],
  ]
  for (const [args, code, said] of cases) {
    const refusal = await refusalOf(args)
    assert.match(refusal.stderr, said)
    assert.equal(refusal.code, code, args.join(' '))
  }
})

test('all 50 operations of the specification have a check, ids are unique, and the recorded run has these checks', () => {
  const operations = new Set(checks.map(({ operation }) => operation))
  // GET /user is not one of them: it is what tokens are tried with.
  operations.delete('GET /user')
  assert.equal(operations.size, 50)
  assert.equal(new Set(checks.map(({ id }) => id)).size, checks.length)
  const listed = checks.map(({ id, operation, proves }) => ({ id, operation, proves }))
  const recorded = readRecord().checks.map(({ id, operation, proves }) => ({ id, operation, proves }))
  assert.deepEqual(recorded, listed, 'docs/conformance.json is out of date. Run "npm run conformance" and commit it.')
})
