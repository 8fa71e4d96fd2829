import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartError } from '#platform/errors.ts'
import { policyWords, readPolicy, withLoopback } from './policy.ts'

test('an empty policy means external', () => {
  for (const text of ['', ' ', ',', ' ,\t\n, ']) {
    assert.ok(readPolicy(text).allowsAddress('a.example', '8.8.8.8'), JSON.stringify(text))
    assert.ok(!readPolicy(text).allowsAddress('a.example', '10.0.0.1'), JSON.stringify(text))
  }
})

test('words are separated by commas, spaces and line ends, in any case and order', () => {
  for (const text of ['private,external', 'external private', ' External ,\n PRIVATE\t', 'private,,external,']) {
    const policy = readPolicy(text)
    assert.deepEqual(
      ['8.8.8.8', '10.0.0.1', '127.0.0.1', '169.254.169.254'].map((ip) => policy.allowsAddress('a.example', ip)),
      [true, true, false, false],
      text,
    )
  }
})

test('a server on loopback may also connect to loopback, and to nothing else', () => {
  const policy = readPolicy('external, *.corp.example, 10.1.0.0/16')
  const wider = withLoopback(policy)
  assert.equal(policy.whyNot('127.0.0.1', '127.0.0.1'), '127.0.0.1 is a loopback address')
  assert.equal(wider.whyNot('127.0.0.1', '127.0.0.1'), undefined)
  assert.equal(wider.whyNot('::ffff:7f00:1', '::ffff:7f00:1'), undefined)
  for (const ip of ['8.8.8.8', '10.0.0.1', '10.1.0.1', '0.0.0.0', '::', '169.254.169.254']) {
    assert.equal(wider.whyNot('a.example', ip), policy.whyNot('a.example', ip))
  }
  assert.ok(wider.allowsAddress('a.corp.example', '10.0.0.1'))
  assert.ok(!policy.allowsAddress('127.0.0.1', '127.0.0.1'), 'the first policy is unchanged')
})

test('the reason shows a literal address, but not the address of a name', () => {
  const policy = readPolicy('external')
  assert.equal(policy.whyNot('169.254.169.254', '169.254.169.254'), '169.254.169.254 is a link-local address')
  assert.equal(policy.whyNot('db.corp.example.', '10.1.2.3'), 'db.corp.example has a private address')
  assert.equal(policy.whyNot('a.example', '64:ff9b::10.1.2.3'), 'a.example has a NAT64 address holding a private address')
})

test('text that is not an address is never allowed', () => {
  const policy = readPolicy('external private loopback *.example 0.0.0.0/0 ::/0')
  for (const ip of ['', 'a.example', '127.1', 'fe80::1%eth0', '8.8.8.8%1']) assert.ok(!policy.allowsAddress('a.example', ip), ip)
})

const matching: [glob: string, host: string, matches: boolean][] = [
  ['*.corp.example', 'ci.corp.example', true],
  ['*.corp.example', 'a.b.corp.example', true],
  ['*.corp.example', 'CI.Corp.Example.', true],
  ['*.CORP.example.', 'ci.corp.example', true],
  ['*.corp.example', 'corp.example', false],
  ['*.corp.example', 'evilcorp.example', false],
  ['*.corp.example', 'ci.corp.example.evil.test', false],
  ['*.corp.example', 'ciXcorp.example', false],
  ['ci-*.corp.example', 'ci-7.corp.example', true],
  ['ci-*.corp.example', 'db.corp.example', false],
  ['**.corp.example', 'ci.corp.example', true],
  ['ci.corp.example', 'ci.corp.example', true],
  ['ci.corp.example', 'x.ci.corp.example', false],
  ['ci.', 'ci', true],
  ['ci.', 'ci.corp.example', false],
  ['*.bücher.example', 'a.xn--bcher-kva.example', true],
  ['build_1.corp.example', 'build_1.corp.example', true],
  ['*.1.example', '127.0.0.1', false],
]
for (const [glob, host, matches] of matching) {
  test(`${glob} ${matches ? 'matches' : 'does not match'} ${host}`, () =>
    assert.equal(readPolicy(glob).allowsAddress(host, '10.0.0.1'), matches))
}

const unknown = [
  ...['extrenal', 'all', 'none', 'localhost', '*', '*.*', '**', 'corp.*', 'corp.ex*', '.', '..', '.example', 'a..b'],
  ...[
    '10.0.0.*',
    '127.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
  ],
  ...[
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/8x',
    '/8',
    '::/129',
    'fe80::1%eth0',
    '[::1]',
    'http://a.example',
    'a.example:80',
    'a.example/x',
  ],
  ...['!private', '-', 'external;private', 'a.example\0', '^.*$', `${'a'.repeat(64)}.example`],
]
for (const word of unknown) {
  test(`a policy with ${JSON.stringify(word)} is refused, and says what is allowed`, () =>
    assert.throws(
      () => readPolicy(`external ${word}`, 'BELFRY_WEBHOOK_ADDRESSES'),
      (error) =>
        error instanceof StartError &&
        error.message === `BELFRY_WEBHOOK_ADDRESSES has ${JSON.stringify(word)}: it may hold ${policyWords}.`,
    ))
}

for (const [word, why] of [
  ['10.0.0.1/8', /bits after its first 8/],
  ['fc00::1/7', /bits after its first 7/],
  ['::ffff:10.0.0.1/104', /bits after its first 8/],
  ['64:ff9b::/96', /judged by the IPv4 address in them/],
  ['2002:a00:1::/48', /judged by the IPv4 address in them/],
  ['2001::/32', /judged by the IPv4 address in them/],
] as const) {
  test(`a policy with ${word} is refused, because it would not do what it says`, () =>
    assert.throws(() => readPolicy(word), { message: why }))
}
