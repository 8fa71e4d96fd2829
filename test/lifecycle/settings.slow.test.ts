import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { settings as known } from '#config.ts'
import { processesIn } from '#test/machine.ts'
import { Host, newToken, openDatabase } from '#test/process.ts'

const wrong: Record<keyof typeof known, { value: string; shown?: string; begins?: string; says: RegExp }> = {
  BELFRY_HOST: { value: 'not a host', says: /an IP address or a host name/ },
  BELFRY_PORT: { value: '65536', says: /a port number from 0 to 65535/ },
  BELFRY_VERSIONED_PORT: { value: '3001.5', says: /a port number from 0 to 65535/ },
  BELFRY_URL: { value: 'https://belfry.example/below', says: /an http or https address without a path/ },
  BELFRY_VERSIONED_URL: { value: 'ftp://belfry.example', says: /an http or https address without a path/ },
  BELFRY_DATA: { value: '/dev/null/data', says: /a folder that Belfry can make and write to/ },
  DATABASE_URL: { value: 'hunter2://secret', says: /a postgres:\/\/ address/ },
  BELFRY_REPLICA_URL: { value: 'hunter2://secret', says: /a postgres:\/\/ address/ },
  BELFRY_STORAGE_URL: { value: 's3://key:hunter2@files.example', says: /an address such as s3:\/\/KEY:SECRET@host/ },
  BELFRY_STORAGE_DOWNLOADS: { value: 'direct', says: /streamed, presigned, or the http or https address/ },
  AWS_ACCESS_KEY_ID: { value: 'hunter2 key', says: /printable ASCII characters without spaces/ },
  AWS_SECRET_ACCESS_KEY: { value: 'hunter2 secret', says: /printable ASCII characters without spaces/ },
  BELFRY_ADMIN_TOKEN: { value: 'hunter2secret', says: /20 to 255 printable ASCII characters/ },
  BELFRY_ROLES: { value: 'web,cook', says: /one or more of web, git, api, worker, separated by commas/ },
  BELFRY_SIGNUP: { value: 'maybe', says: /on or off/ },
  BELFRY_SIGN_IN_ONLY: { value: 'yes', says: /on or off/ },
  BELFRY_PUBLIC_EVENTS_DELAY: { value: '-1', says: /a number of seconds from 0 to 86400/ },
  BELFRY_RATE_LIMIT: { value: 'maybe\nnot', shown: '"maybe\\nnot"', says: /on or off/ },
  BELFRY_WEBHOOK_ADDRESSES: { value: 'extern', begins: 'has "extern"', says: /external, private, loopback, host names/ },
  BELFRY_WEBHOOK_TIMEOUT: { value: '0', says: /a number of seconds from 1 to 300/ },
  BELFRY_WEBHOOK_RETRIES: { value: '-1', says: /a number from 0 to 20/ },
  BELFRY_WEBHOOK_TRACEPARENT: { value: 'yes', says: /on or off/ },
  BELFRY_CA: { value: '/dev/null', says: /a readable file with certificates in PEM form/ },
  BELFRY_IMPORTS: { value: 'shut', says: /open, closed or maintenance/ },
  BELFRY_IMPORTS_CLOSE_AT: { value: 'tomorrow', says: /a date and time in UTC, such as 2030-01-31T00:00:00Z/ },
  BELFRY_IMPORT_ADDRESSES: { value: 'extern', begins: 'has "extern"', says: /external, private, loopback, host names/ },
  BELFRY_IMPORT_LFS: { value: 'on', says: /undecided, opt_in or opt_out/ },
  BELFRY_IMPORT_KEEP: { value: 'long', says: /number of days/ },
  BELFRY_IMPORT_DISK: { value: '1 GB', says: /a number of megabytes from 1 to 10000000/ },
  BELFRY_IMPORT_MEMORY: { value: '63', says: /a number of megabytes from 64 to 1000000/ },
  BELFRY_IMPORT_HOURS: { value: 'all', says: /a number of hours, at most 1000/ },
  BELFRY_PUSH_SIZE: { value: '2 GB', says: /a number of megabytes from 1 to 1000000/ },
  BELFRY_OBJECT_SIZE: { value: '2001', says: /a number of megabytes from 1 to 2000/ },
  BELFRY_GIT_PROCESSES: { value: '0', says: /a number from 1 to 10000/ },
  BELFRY_GIT_IDLE: { value: 'never', says: /a number of seconds from 1 to 86400/ },
  BELFRY_SMS_URL: { value: 'sms:hunter2', says: /an http or https address, or log/ },
  BELFRY_METRICS_TOKEN: { value: 'hunter2secret', says: /20 to 255 printable ASCII characters/ },
  BELFRY_TRUSTED_PROXIES: { value: '10.0.0.0/33', says: /IP addresses, CIDR ranges/ },
  OTEL_EXPORTER_OTLP_ENDPOINT: { value: 'grpc://localhost:4317', says: /an http or https address without a user name or query/ },
  OTEL_EXPORTER_OTLP_HEADERS: { value: 'authorization=hunter2%zz', says: /a list of name=value/ },
  OTEL_SERVICE_NAME: { value: 'b\u00e4lfry', says: /printable ASCII/ },
  OTEL_TRACES_SAMPLER_ARG: { value: '1.5', says: /a number from 0 to 1/ },
  BELFRY_LOG: { value: 'loud', says: /fatal, error, warn, info, debug, trace or silent/ },
}

test('a wrong value of any setting is refused in one line with its name, the value and what is allowed', async () => {
  await using host = await Host.open()
  for (const [name, { value, shown = `"${value}"`, begins, says }] of Object.entries(wrong)) {
    const { secret } = known[name as keyof typeof known]
    const refusal = await host.refusal({ [name]: value })
    assert.ok(refusal.startsWith(`${name} ${begins ?? `is ${secret ? 'set to a value that is not allowed' : shown}`}: `), refusal)
    assert.match(refusal, says)
    if (secret) assert.ok(!refusal.includes('hunter2'))
  }
})

test('a refused start prints its line, and nothing else, and exits 1, or 2 for wrong options', async () => {
  await using host = await Host.openUsed()
  await using database = await openDatabase()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  const DATABASE_URL = database.url
  const cases = [
    { settings: { BELFRY_SIGNUP: 'maybe' }, says: 'BELFRY_SIGNUP is "maybe": it must be on or off.' },
    { settings: { BELFRY_PORT: `${port}` }, says: `BELFRY_PORT is ${port}: another program listens on this port. ` },
    { options: ['--frob.nicate'], says: "Unknown option '--frob.nicate'. Run npx belfry --help to list the options.", end: '2' },
    { options: ['serve'], says: '"serve" is no command of Belfry. ', end: '2' },
    { options: ['--demo', '--seed', 'x.yaml'], says: '--demo and --seed exclude each other. ', end: '2' },
  ]
  const runs = cases.map(async ({ says, settings, end = '1', ...options }) => {
    const belfry = await host.run({ ...options, settings: { BELFRY_LOG: 'error', ...settings } })
    assert.equal(belfry.end, end)
    assert.equal(belfry.stdout, '')
    assert.match(belfry.stderr, /^[^\n]+\n$/)
    assert.ok(belfry.stderr.startsWith(says), belfry.stderr)
  })
  await Promise.all(runs)
  assert.deepEqual(processesIn(host.cluster), [])
  const versioned = await host.refusal({ BELFRY_VERSIONED_PORT: `${port}`, DATABASE_URL }).finally(() => taken.close())
  assert.ok(versioned.startsWith(`BELFRY_VERSIONED_PORT is ${port}: another program listens on this port. `), versioned)
  assert.deepEqual(
    await database.query("select from accounts where login = 'admin'"),
    [],
    'the next start prints the credentials',
  )
  const address = await host.refusal({ BELFRY_HOST: '192.0.2.1', DATABASE_URL })
  assert.ok(address.startsWith('BELFRY_HOST is "192.0.2.1": Belfry cannot listen on this address, '), address)
})

test('a data folder that is a file is refused', async () => {
  await using host = await Host.open()
  await writeFile(host.data, '')
  assert.ok((await host.refusal({})).startsWith(`BELFRY_DATA is "${host.data}": it must be a folder `))
})

test('--help prints every setting with its default, and --version the version, whatever the settings are', async () => {
  await using host = await Host.open()
  const settings = { BELFRY_PORT: 'wrong' }
  const help = await host.run({ options: ['--help'], settings })
  assert.equal(help.end, '0')
  for (const [name, { fallback, about }] of Object.entries(known)) {
    const line = help.stdout.split('\n').find((text) => text.trimStart().startsWith(`${name} `)) ?? ''
    assert.ok(line.includes(about.replaceAll('`', '')), `--help does not describe ${name}`)
    if (fallback) assert.ok(line.endsWith(`[${fallback}]`), `--help does not show the default of ${name}`)
  }
  for (const option of ['--demo', '--help', '--version']) assert.ok(help.stdout.includes(option))
  const version = await host.run({ options: ['--version'], settings })
  assert.equal(version.end, '0')
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
})

test('settings take effect, and a variable that begins like a setting and is none is logged as a warning', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  const token = newToken()
  const settings = { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: token }
  const first = await host.start({ settings: { ...settings, BELFRY_PROT: '3000' } })
  const answer = await first.get('/api/v3/user', token)
  assert.equal(answer.status, 200)
  const held = answer.headers.get('x-oauth-scopes')?.split(', ') ?? []
  for (const scope of ['repo', 'site_admin', 'admin:org', 'user']) assert.ok(held.includes(scope), `the token has ${scope}`)
  await first.stop()
  assert.deepEqual(
    first.logged.filter(({ level }) => Number(level) >= 40).map(({ name }) => name),
    ['BELFRY_PROT'],
  )

  // A new admin token replaces the old one, and a versioned port of 0 opens no second listener.
  const changed = { BELFRY_ADMIN_TOKEN: newToken().toUpperCase(), BELFRY_VERSIONED_PORT: '0' }
  const second = await host.start({ settings: { ...settings, ...changed } })
  assert.equal((await second.get('/api/v3/user', token)).status, 401)
  assert.doesNotMatch(second.stdout, /versioned/)
  assert.match(second.stdout, /Sign-up +on: /)
  await second.stop()
  assert.equal(second.logged.filter(({ msg }) => /listening/.test(`${msg}`)).length, 1)

  // Links carry the public addresses.
  const urls = { BELFRY_URL: 'https://belfry.example', BELFRY_VERSIONED_URL: 'https://api.belfry.example:8443/' }
  const third = await host.start({ settings: { ...settings, ...urls }, ready: /^Belfry is ready: https:/m })
  assert.match(third.stdout, /Sign-up +off: /)
  const { port } = third.listening
  const [web, versioned] = await Promise.all(
    [`http://127.0.0.1:${port}/api/v3/user`, `${third.versioned}/user`].map(readUser(token)),
  )
  assert.equal(web?.url, 'https://belfry.example/api/v3/users/admin')
  assert.equal(web?.html_url, 'https://belfry.example/admin')
  assert.equal(versioned?.url, 'https://api.belfry.example:8443/users/admin')
  assert.equal(versioned?.html_url, 'https://belfry.example/admin')
  // A public address means a proxy in front, and a plain proxy looks like a local client.
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 403)
})

test('the admin token may be the one that the first start printed, but not one of another user', async () => {
  await using host = await Host.openUsed()
  const first = await host.start({ settings: { BELFRY_ADMIN_TOKEN: host.token } })
  assert.equal((await first.get('/api/v3/user', host.token)).status, 200)
  await first.post('/api/v3/admin/users', host.token, { login: 'ben', email: 'ben@example.com' })
  const made = await first.post('/api/v3/admin/users/ben/authorizations', host.token, { scopes: ['repo'] })
  const { token } = (await made.json()) as { token: string }
  await first.stop()
  const refusal = await host.refusal({ BELFRY_ADMIN_TOKEN: token })
  assert.equal(refusal, 'BELFRY_ADMIN_TOKEN is a token of another user. Set it to a new one.')
})

function readUser(token: string) {
  return async (address: string) => {
    const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
    return (await answer.json()) as { url: string; html_url: string }
  }
}
