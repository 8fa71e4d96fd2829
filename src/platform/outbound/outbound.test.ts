import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareHost, checkUrl } from './check-url.ts'
import { checkedLookup, checkLiteral } from './checked-lookup.ts'
import { readPolicy } from './policy.ts'

type Case = [policy: string, url: string, resolved: string, outcome: 'allowed' | string]

/** Every case goes the whole way: the URL, then its literal address, then the lookup of its name. */
const cases: Case[] = [
  // Literal addresses, in every spelling.
  ['external', 'http://8.8.8.8/', '', 'allowed'],
  ['external', 'http://127.0.0.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://2130706433/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://017700000001/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://0x7f000001/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://0177.0.0.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://0x7f.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://127.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://127.0.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://127.0.0.1./', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://%31%32%37.0.0.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://１２７.０.０.１/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://①②⑦.0.0.1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://127。0。0。1/', '', '127.0.0.1 is a loopback address'],
  ['external', 'http:127.0.0.1', '', '127.0.0.1 is a loopback address'],
  ['external', 'http://0/', '', '0.0.0.0 is an unspecified address'],
  ['external', 'http://0.0.0.0:3000/', '', '0.0.0.0 is an unspecified address'],
  ['external', 'http://10.1/', '', '10.0.0.1 is a private address'],
  ['external', 'http://172.16.0.1/', '', '172.16.0.1 is a private address'],
  ['external', 'http://0xc0a80001/', '', '192.168.0.1 is a private address'],
  ['external', 'http://100.64.0.1/', '', '100.64.0.1 is a carrier-grade NAT address'],
  ['external', 'http://169.254.169.254/latest/meta-data/', '', '169.254.169.254 is a link-local address'],
  ['external', 'http://2852039166/', '', '169.254.169.254 is a link-local address'],
  ['external', 'http://0251.0376.0251.0376/', '', '169.254.169.254 is a link-local address'],
  ['external', 'http://100.100.100.200/', '', '100.100.100.200 is a metadata address'],
  ['external', 'http://168.63.129.16/', '', '168.63.129.16 is a metadata address'],
  ['external', 'http://192.0.2.1/', '', '192.0.2.1 is a documentation address'],
  ['external', 'http://198.18.0.1/', '', '198.18.0.1 is a benchmarking address'],
  ['external', 'http://224.0.0.1/', '', '224.0.0.1 is a multicast address'],
  ['external', 'http://240.0.0.1/', '', '240.0.0.1 is a reserved address'],
  ['external', 'http://255.255.255.255/', '', '255.255.255.255 is a broadcast address'],
  ['external', 'http://[2606:4700::1111]/', '', 'allowed'],
  ['external', 'http://[::1]/', '', '::1 is a loopback address'],
  ['external', 'http://[0:0::0:1]/', '', '::1 is a loopback address'],
  ['external', 'http://[::]/', '', ':: is an unspecified address'],
  ['external', 'http://[fd12::1]/', '', 'fd12::1 is a private address'],
  ['external', 'http://[fd00:ec2::254]/', '', 'fd00:ec2::254 is a metadata address'],
  ['external', 'http://[fe80::1]/', '', 'fe80::1 is a link-local address'],
  ['external', 'http://[fec0::1]/', '', 'fec0::1 is a site-local address'],
  ['external', 'http://[ff02::1]/', '', 'ff02::1 is a multicast address'],
  ['external', 'http://[2001:db8::1]/', '', '2001:db8::1 is a documentation address'],
  ['external', 'http://[::ffff:127.0.0.1]/', '', '::ffff:7f00:1 is an IPv4-mapped address holding a loopback address'],
  ['external', 'http://[::ffff:a9fe:a9fe]/', '', '::ffff:a9fe:a9fe is an IPv4-mapped address holding a link-local address'],
  ['external', 'http://[::127.0.0.1]/', '', '::7f00:1 is an IPv4-compatible address'],
  ['external', 'http://[64:ff9b::169.254.169.254]/', '', '64:ff9b::a9fe:a9fe is a NAT64 address holding a link-local address'],
  ['external', 'http://[64:ff9b::8.8.8.8]/', '', 'allowed'],
  ['external', 'http://[64:ff9b:1::8.8.8.8]/', '', '64:ff9b:1::808:808 is a local NAT64 address'],
  ['external', 'http://[2002:7f00:1::]/', '', '2002:7f00:1:: is a 6to4 address holding a loopback address'],
  [
    'external',
    'http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/',
    '',
    '2001:0:4136:e378:8000:63bf:f5ff:fffe is a Teredo address holding a private address',
  ],
  [
    'external',
    'http://[2001:0:7f00:1:8000:63bf:f7f7:f7f7]/',
    '',
    '2001:0:7f00:1:8000:63bf:f7f7:f7f7 is a Teredo address holding a loopback address',
  ],

  // Names, and all that they resolve to.
  ['external', 'https://a.example/', '8.8.8.8', 'allowed'],
  ['external', 'https://a.example/', '8.8.8.8 2606:4700::1111', 'allowed'],
  ['external', 'https://bücher.example/', '8.8.8.8', 'allowed'],
  ['external', 'https://xn--bcher-kva.example/', '10.0.0.1', 'xn--bcher-kva.example has a private address'],
  ['external', 'https://a.example/', '10.0.0.1', 'a.example has a private address'],
  ['external', 'https://a.example./', '127.0.0.1', 'a.example has a loopback address'],
  ['external', 'https://a.example/', '8.8.8.8 10.0.0.1', 'a.example has a private address'],
  ['external', 'https://a.example/', '2606:4700::1111 8.8.8.8 ::1', 'a.example has a loopback address'],
  ['external', 'https://a.example/', '::ffff:10.0.0.1', 'a.example has an IPv4-mapped address holding a private address'],
  ['external', 'https://a.example/', 'fe80::1%eth0', 'a.example has an address with a zone'],
  ['external', 'https://a.example/', 'b.example', 'a.example has no usable address'],
  ['external', 'https://a.example/', '', 'a.example has no address'],
  ['external', 'http://localhost:3000/', '127.0.0.1', 'localhost has a loopback address'],
  ['external', 'http://LOCALHOST./', '8.8.8.8', 'localhost has a loopback address'],
  ['external', 'http://a.localhost/', '8.8.8.8', 'a.localhost has a loopback address'],
  ['external', 'http://localhost.example/', '8.8.8.8', 'allowed'],
  ['external', 'http://127.0.0.1.nip.example/', '127.0.0.1', '127.0.0.1.nip.example has a loopback address'],
  ['external', 'http://metadata.google.internal/', '169.254.169.254', 'metadata.google.internal has a link-local address'],

  // Wider and narrower policies.
  ['private', 'http://10.0.0.1/', '', 'allowed'],
  ['private', 'http://[::ffff:10.0.0.1]/', '', 'allowed'],
  ['private', 'http://[fd12::1]/', '', 'allowed'],
  ['private', 'http://8.8.8.8/', '', '8.8.8.8 is a public address'],
  ['private', 'http://127.0.0.1/', '', '127.0.0.1 is a loopback address'],
  ['private', 'http://100.100.100.200/', '', '100.100.100.200 is a metadata address'],
  ['private', 'http://[64:ff9b:1::8.8.8.8]/', '', '64:ff9b:1::808:808 is a local NAT64 address holding a public address'],
  ['external private', 'http://[64:ff9b:1::8.8.8.8]/', '', 'allowed'],
  ['external 64:ff9b:1::/48', 'http://[64:ff9b:1::8.8.8.8]/', '', 'allowed'],
  [
    'external 64:ff9b:1::/48',
    'http://[64:ff9b:1::7f00:1]/',
    '',
    '64:ff9b:1::7f00:1 is a local NAT64 address holding a loopback address',
  ],
  ['external private', 'https://a.example/', '8.8.8.8 10.0.0.1', 'allowed'],
  ['loopback', 'http://127.0.0.1:3000/', '', 'allowed'],
  ['loopback', 'http://localhost/', '::1 127.0.0.1', 'allowed'],
  ['loopback', 'http://0.0.0.0/', '', '0.0.0.0 is an unspecified address'],
  ['external private loopback', 'http://169.254.169.254/', '', '169.254.169.254 is a link-local address'],
  [
    'external private loopback',
    'http://[::ffff:169.254.169.254]/',
    '',
    '::ffff:a9fe:a9fe is an IPv4-mapped address holding a link-local address',
  ],
  ['*.corp.example', 'https://ci.corp.example/', '10.0.0.1', 'allowed'],
  ['*.corp.example', 'https://ci.corp.example/', '127.0.0.1 8.8.8.8 fd12::1', 'allowed'],
  ['*.corp.example', 'https://ci.corp.example/', '10.0.0.1 169.254.169.254', 'ci.corp.example has a link-local address'],
  ['*.corp.example', 'https://ci.corp.example/', '0.0.0.0', 'ci.corp.example has an unspecified address'],
  ['*.corp.example', 'https://corp.example.evil.test/', '10.0.0.1', 'corp.example.evil.test has a private address'],
  ['*.corp.example', 'https://a.example/', '8.8.8.8', 'a.example has a public address'],
  ['*.corp.example', 'http://10.0.0.1/', '', '10.0.0.1 is a private address'],
  ['*.corp.example 169.254.7.0/24', 'https://ci.corp.example/', '169.254.7.1', 'allowed'],
  ['*.corp.example 169.254.7.0/24', 'https://ci.corp.example/', '169.254.169.254', 'ci.corp.example has a link-local address'],
  ['10.1.0.0/16', 'http://10.1.255.255/', '', 'allowed'],
  ['10.1.0.0/16', 'http://10.2.0.0/', '', '10.2.0.0 is a private address'],
  ['10.1.0.0/16', 'http://[::ffff:10.1.0.1]/', '', 'allowed'],
  ['::ffff:10.1.0.0/112', 'http://10.1.0.1/', '', 'allowed'],
  ['127.0.0.2', 'http://127.0.0.2/', '', 'allowed'],
  ['127.0.0.2', 'http://127.0.0.1/', '', '127.0.0.1 is a loopback address'],
  ['fd12::/64', 'https://a.example/', 'fd12::5', 'allowed'],
  ['fd12::/64', 'https://a.example/', 'fd12:0:0:1::5', 'a.example has a private address'],
  ['169.254.0.0/16', 'http://169.254.169.254/', '', 'allowed'],
  ['fd00:ec2::254', 'http://[fd00:ec2::254]/', '', 'allowed'],
  ['fd00::/8', 'http://[fd00:ec2::254]/', '', 'fd00:ec2::254 is a metadata address'],
  ['0.0.0.0/0', 'http://127.0.0.1/', '', 'allowed'],
  ['0.0.0.0/0 ::/0', 'http://169.254.169.254/', '', '169.254.169.254 is a link-local address'],
  ['0.0.0.0/0 ::/0', 'http://[fe80::1]/', '', 'fe80::1 is a link-local address'],
  ['0.0.0.0/0 ::/0', 'http://[4000::1]/', '', '4000::1 is a reserved address'],
  ['::/0', 'http://[::ffff:10.0.0.1]/', '', '::ffff:a00:1 is an IPv4-mapped address holding a private address'],
]

for (const [policy, url, resolved, outcome] of cases) {
  const to = resolved ? ` at ${resolved}` : ''
  test(`with "${policy}", ${JSON.stringify(url)}${to} is ${outcome === 'allowed' ? 'allowed' : `refused: ${outcome}`}`, async () => {
    assert.equal(await outcomeOf(policy, url, resolved.split(' ').filter(Boolean)), outcome)
  })
}

async function outcomeOf(text: string, to: string, resolved: string[]) {
  const policy = readPolicy(text)
  const checked = checkUrl(to, policy)
  const literal = URL.parse(to)?.hostname ?? ''
  const refused = checkLiteral(policy, literal)
  if ('refused' in checked) {
    // Who skips the check of the URL is stopped by that of the socket.
    if (resolved.length === 0) assert.equal(refused?.message, checked.refused)
    return checked.refused
  }
  assert.equal(refused, undefined)
  if (literal.startsWith('[') || /^[\d.]+$/.test(literal)) return 'allowed'
  const lookup = checkedLookup(policy, (_, options, answer) => {
    assert.equal(options.all, true)
    answer(
      null,
      resolved.map((address) => ({ address, family: 4 })),
    )
  })
  return new Promise<string>((resolve) => {
    lookup(bareHost(checked.url.hostname), { all: true }, (error, addresses) => {
      if (!error) assert.deepEqual(Array.isArray(addresses) && addresses.map(({ address }) => address), resolved)
      resolve(error?.message ?? 'allowed')
    })
  })
}

test('the table has at least 80 cases, and no case twice', () => {
  assert.ok(cases.length >= 80)
  assert.equal(new Set(cases.map((row) => row.join('|'))).size, cases.length)
})
