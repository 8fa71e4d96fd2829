import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { withoutSecrets } from '#platform/log.ts'
import { until } from '#test/machine.ts'
import { Host, newToken, openDatabase } from '#test/process.ts'

const script = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')
  ? {}
  : { skip: 'needs the script program of util-linux, to give Belfry a terminal' }

test('away from a terminal, logs are JSON lines', async (t) => {
  await using host = await Host.open()
  await using database = await openDatabase()
  const secret = () => `hunter2${Math.random().toString(36).slice(2)}`
  const settings = { BELFRY_ADMIN_TOKEN: newToken(), BELFRY_METRICS_TOKEN: `metrics-${secret()}${secret()}`, BELFRY_LOG: 'trace' }
  const belfry = await host.start({ settings: { DATABASE_URL: database.url, ...settings } })

  await t.test('each request has a line with the id that its response names', async () => {
    const ids = new Map<string, string>()
    for (const address of [`${belfry.web}/api/v3/`, `${belfry.web}/api/v3/users/nobody`, `${belfry.versioned}/versions`]) {
      const answer = await fetch(address)
      ids.set(answer.headers.get('x-service-request-id') ?? '', `${answer.status} ${new URL(address).pathname}`)
    }
    assert.equal(ids.size, 3)
    const requests = () => belfry.logged.filter(({ msg }) => msg === 'request')
    await until('they are logged', () => requests().length >= 3)
    assert.deepEqual(
      requests().map(({ request_id, status, url }) => [request_id, `${status} ${url}`]),
      [...ids],
    )
    for (const line of requests()) {
      assert.equal(line.method, 'GET')
      assert.equal(line.ip, '127.0.0.1')
      assert.equal(typeof line.ms, 'number')
    }
  })

  await t.test('a request of an account names it', async () => {
    await fetch(`${belfry.web}/api/v3/user`, { headers: { authorization: `Bearer ${settings.BELFRY_ADMIN_TOKEN}` } })
    const named = () => belfry.logged.filter(({ msg, url }) => msg === 'request' && url === '/api/v3/user')
    await until('it is logged', () => named().length > 0)
    assert.deepEqual(
      named().map(({ user }) => user),
      ['admin'],
    )
    assert.ok(belfry.logged.every(({ url, user }) => url !== '/api/v3/' || user === undefined))
  })

  await t.test('no token, password, secret or cookie is ever written down', async () => {
    const headers: Record<string, string>[] = [
      { authorization: `Bearer ${settings.BELFRY_ADMIN_TOKEN}` },
      { authorization: `token ${newToken()}` },
      { authorization: `Basic ${Buffer.from(`admin:${secret()}`).toString('base64')}` },
      { authorization: `Bearer ${settings.BELFRY_METRICS_TOKEN}` },
      { authorization: secret() },
      { cookie: `session=${secret()}` },
      { 'x-service-otp': secret() },
    ]
    const names = [
      'access_token',
      'client_secret',
      'token',
      'code',
      'password',
      'refresh_token',
      'access%5Ftoken',
      'ACCESS_TOKEN',
    ]
    const queries = names.map((name) => [name, secret()] as const)
    const in_path = newToken()
    const in_body = secret()
    for (const each of headers) {
      await fetch(`${belfry.web}/api/v3/user`, { headers: each })
      await fetch(`${belfry.web}/metrics`, { headers: each })
    }
    for (const [name, value] of queries) {
      await fetch(`${belfry.web}/api/v3/user?page=2&${name}=${value}`)
      await fetch(`${belfry.versioned}/nowhere?${name}=${value}#x`)
    }
    await fetch(`${belfry.web}/api/v3/applications/1/tokens/${in_path}`)
    for (const body of [{ login: 'ben', email: 'ben@example.com', password: in_body }, { password: in_body }, in_body]) {
      await belfry.post('/api/v3/admin/users', settings.BELFRY_ADMIN_TOKEN, body as object)
    }
    await belfry.stop()

    const sent = headers
      .flatMap((each) => Object.values(each))
      .map((value) => value.replace(/^(Bearer|token|Basic|session=) ?/, ''))
    const secrets = [
      ...Object.values(settings).filter((value) => value !== 'trace'),
      ...sent,
      ...queries.map(([, value]) => value),
    ]
    secrets.push(...headers.flatMap(({ authorization = '' }) => decoded(authorization)), in_path, in_body)
    assert.ok(belfry.logged.filter(({ msg }) => msg === 'request').length >= 30)
    for (const value of secrets) {
      assert.ok(!belfry.stderr.includes(value), `the log holds ${value}`)
      assert.ok(!belfry.stdout.includes(value), `standard output holds ${value}`)
    }
    assert.match(belfry.stderr, /page=2&access_token=…/)
  })
})

test('an address is written down as it is, but for its secrets', () => {
  assert.equal(withoutSecrets('/repos/a/b?page=2&per_page=1'), '/repos/a/b?page=2&per_page=1')
  assert.equal(withoutSecrets('/x?a=1&client_secret=s&b=%zz'), '/x?a=1&client_secret=…&b=%zz')
  assert.equal(withoutSecrets('/x?access%5Ftoken=s'), '/x?access%5Ftoken=…')
  assert.equal(withoutSecrets('/x/bfp_0123456789/y'), '/x/…/y')
  assert.equal(withoutSecrets('/x?&=&?token=s'), '/x?&=&?token=…')
})

test('in a terminal, logs are readable', script, async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  // Under script, standard output and standard error are one terminal.
  const before = `export SHELL=/bin/sh PROGRAM="$2"; set -- -qfec 'exec sh "$PROGRAM"' /dev/null; exec script "$@"`
  const belfry = await host.start({
    settings: { DATABASE_URL: database.url },
    before: `set -- sh "$@"; ${before}`,
    ready: /Belfry is ready: \S+/,
  })
  await fetch(`${belfry.web}/api/v3/`)
  await until('the request is logged', () => belfry.stdout.includes('"url":"/api/v3/"'))
  const shown = stripVTControlCharacters(belfry.stdout)
  assert.match(shown, /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] INFO.*: request \{.*"method":"GET"/m)
  assert.doesNotMatch(shown, /^\{"level"/m)
})

function decoded(authorization: string) {
  const basic = /^Basic (.+)$/.exec(authorization)?.[1]
  return basic ? [Buffer.from(basic, 'base64').toString().slice('admin:'.length)] : []
}
