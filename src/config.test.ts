import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isSignUpOpen, readSettings, settings, unknownSettings } from './config.ts'

test('docs/settings.md has exactly the settings, with their defaults and descriptions', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/settings.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (`[A-Z_]+`) \| (.+?) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  const expected = Object.entries(settings).map(([name, { fallback, about }]) => [
    `\`${name}\``,
    fallback ? `\`${fallback}\`` : 'unset',
    about,
  ])
  assert.deepEqual(rows, expected)
})

test('with nothing set, every setting has its default', () => {
  const defaults = readSettings({})
  assert.deepEqual(Object.keys(defaults), Object.keys(settings))
  assert.equal(defaults.BELFRY_HOST, '127.0.0.1')
  assert.equal(defaults.BELFRY_PORT, 3000)
  assert.equal(defaults.BELFRY_VERSIONED_PORT, 3001)
  assert.equal(defaults.BELFRY_DATA, join(process.cwd(), 'data'))
  assert.equal(defaults.DATABASE_URL, null)
  assert.deepEqual(defaults.BELFRY_ROLES, ['web', 'git', 'api', 'worker'])
  assert.ok(Object.isFrozen(defaults))
})

test('an empty value means the default, and spaces around a value are ignored', () => {
  const read = readSettings({ BELFRY_PORT: '', BELFRY_HOST: '  ', BELFRY_ROLES: ' web , worker ', BELFRY_LOG: 'warn\n' })
  assert.equal(read.BELFRY_PORT, 3000)
  assert.equal(read.BELFRY_HOST, '127.0.0.1')
  assert.deepEqual(read.BELFRY_ROLES, ['web', 'worker'])
  assert.equal(read.BELFRY_LOG, 'warn')
})

const right: [string, string, unknown][] = [
  ['BELFRY_HOST', '::', '::'],
  ['BELFRY_HOST', 'belfry.example', 'belfry.example'],
  ['BELFRY_PORT', '0', 0],
  ['BELFRY_PORT', '65535', 65535],
  ['BELFRY_URL', 'https://belfry.example', new URL('https://belfry.example')],
  ['DATABASE_URL', 'postgresql:///belfry?host=/run/postgresql', 'postgresql:///belfry?host=/run/postgresql'],
  ['BELFRY_ROLES', 'worker', ['worker']],
  ['BELFRY_IMPORTS', 'maintenance', 'maintenance'],
  ['BELFRY_IMPORTS_CLOSE_AT', '2030-01-31T00:00:00Z', new Date('2030-01-31T00:00:00Z')],
  ['BELFRY_IMPORT_ADDRESSES', '10.0.0.0/8, *.corp.example', '10.0.0.0/8, *.corp.example'],
  ['BELFRY_IMPORT_LFS', 'opt_out', 'opt_out'],
  ['BELFRY_IMPORT_KEEP', '0', 0],
  ['BELFRY_IMPORT_DISK', '500', 500],
  ['BELFRY_IMPORT_MEMORY', '64', 64],
  ['BELFRY_IMPORT_HOURS', '0.5', 0.5],
  ['BELFRY_TRUSTED_PROXIES', 'none', []],
  ['BELFRY_TRUSTED_PROXIES', 'loopback, 10.0.0.0/8,::1/128', ['loopback', '10.0.0.0/8', '::1/128']],
]
for (const [name, text, value] of right) {
  test(`${name} may be "${text}"`, () => assert.deepEqual(readSettings({ [name]: text })[name as keyof typeof settings], value))
}

const wrong: [string, string][] = [
  ['BELFRY_HOST', 'http://127.0.0.1'],
  ['BELFRY_PORT', '-1'],
  ['BELFRY_PORT', '3e3'],
  ['BELFRY_PORT', '0x1f'],
  ['BELFRY_URL', 'belfry.example'],
  ['BELFRY_URL', 'https://ada:secret@belfry.example'],
  ['BELFRY_URL', 'https://belfry.example/?a=b'],
  ['DATABASE_URL', 'http://belfry.example'],
  ['BELFRY_ADMIN_TOKEN', 'short'],
  ['BELFRY_ADMIN_TOKEN', 'with a space in its middle, alas'],
  ['BELFRY_ROLES', 'web,'],
  ['BELFRY_RATE_LIMIT', 'ON'],
  ['BELFRY_IMPORTS', 'shut'],
  ['BELFRY_IMPORTS_CLOSE_AT', 'tomorrow'],
  ['BELFRY_IMPORTS_CLOSE_AT', '2030-02-31T25:00:00Z'],
  ['BELFRY_IMPORT_LFS', 'on'],
  ['BELFRY_IMPORT_KEEP', '-1'],
  ['BELFRY_IMPORT_DISK', '0'],
  ['BELFRY_IMPORT_DISK', '1 GB'],
  ['BELFRY_IMPORT_MEMORY', '63'],
  ['BELFRY_IMPORT_HOURS', '0'],
  ['BELFRY_IMPORT_HOURS', '1001'],
  ['BELFRY_TRUSTED_PROXIES', '10.0.0.0/8/8'],
  ['BELFRY_TRUSTED_PROXIES', 'everyone'],
  ['BELFRY_LOG', 'verbose'],
]
for (const [name, text] of wrong) {
  test(`${name} may not be "${text}"`, () => {
    assert.throws(() => readSettings({ [name]: text }), { message: new RegExp(`^${name} is .+: it must be .+\\.$`) })
  })
}

test('a variable that begins like a setting and is none is reported', () => {
  assert.deepEqual(unknownSettings({ BELFRY_PROT: '1', BELFRY_PORT: '1', HOME: '/' }), ['BELFRY_PROT'])
})

test('a former name of a setting is refused, and an empty one is ignored', () => {
  assert.throws(() => readSettings({ BELFRY_WEBHOOK_CA: 'authority.pem' }), {
    message: 'BELFRY_WEBHOOK_CA is now called BELFRY_CA. Set BELFRY_CA and remove BELFRY_WEBHOOK_CA.',
  })
  assert.equal(readSettings({ BELFRY_WEBHOOK_CA: '' }).BELFRY_CA, null)
})

test('sign-up is open while only this machine can reach the server, until it is set', () => {
  const open = (environment: Record<string, string>) => isSignUpOpen(readSettings(environment))
  for (const BELFRY_HOST of ['127.0.0.1', 'localhost', '::1']) assert.ok(open({ BELFRY_HOST }), BELFRY_HOST)
  for (const BELFRY_HOST of ['0.0.0.0', '::', '192.0.2.1']) assert.ok(!open({ BELFRY_HOST }), BELFRY_HOST)
  assert.ok(!open({ BELFRY_URL: 'https://code.example' }), 'a proxy is in front')
  assert.ok(open({ BELFRY_HOST: '0.0.0.0', BELFRY_URL: 'https://code.example', BELFRY_SIGNUP: 'on' }))
  assert.ok(!open({ BELFRY_SIGNUP: 'off' }))
})
