import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { networkLimits, networkOf, networksOf } from './network.ts'

test('the key of an IPv4 address is the address, of an IPv6 address its /64', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:C000:0207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['', ''],
    [undefined, ''],
  ] as const) {
    assert.equal(networkOf(address), network)
  }
  assert.equal(networkOf('x'.repeat(5000)).length, 100)
})

test('a public IPv6 address also counts in its /56, /48 and /32, which have growing limits', () => {
  const networks = ['2001:db8:1:203::/64', '2001:db8:1:200::/56', '2001:db8:1::/48', '2001:db8::/32']
  assert.deepEqual(networksOf('2001:db8:1:203:4:5:6:7'), networks)
  const mostOf = (kind: 'open' | 'counted', address = '2001:db8:1:203::1') =>
    networkLimits(address, 10, kind).map(({ most }) => most)
  assert.deepEqual(mostOf('open'), [10, 20, 40, 80])
  assert.deepEqual(mostOf('counted'), [10, 40, 160, 640])
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', 'fd00:1:2:3::4', 'fe80::1%eth0', '::1', 'unknown', '']) {
    assert.deepEqual(mostOf('open', address), [10], address)
  }
})

test('no source counts by an address or by its smallest network alone', async () => {
  const root = join(import.meta.dirname, '..')
  const names = (await readdir(root, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name))
  const found: string[] = []
  for (const name of names) {
    const source = await readFile(join(root, name), 'utf8')
    const lines = source.split('\n').filter((line) => /`(address|from) \$\{[^}]*\bip\b|networkOf\(/.test(line))
    if (lines.length) found.push(name)
  }
  // An account has a count of its own at an address where it is signed in.
  assert.deepEqual(found.sort(), ['identity/login-throttle.ts', 'platform/network.ts'])
})
