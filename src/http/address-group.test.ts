import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressGroup } from './address-group.ts'

test('IPv4 addresses count by themselves, IPv6 addresses by their network of 64 bits', () => {
  for (const [ip, group] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ] as const) {
    assert.equal(addressGroup(ip), group)
  }
})
