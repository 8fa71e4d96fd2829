import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareHost, checkUrl } from './check-url.ts'
import { readPolicy } from './policy.ts'

const external = readPolicy('external')

const good: [url: string, href: string][] = [
  ['http://a.example', 'http://a.example/'],
  ['HTTPS://A.Example:443/x?y#z', 'https://a.example/x?y#z'],
  ['http://a.example:8080/', 'http://a.example:8080/'],
  ['https://a.example:65535/', 'https://a.example:65535/'],
  ['https://a.example./', 'https://a.example./'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://ｅｘａｍｐｌｅ.test/', 'https://example.test/'],
  ['https://build_1.example/', 'https://build_1.example/'],
  ['http://134744072/', 'http://8.8.8.8/'],
  ['http://[2606:4700:0::1111]:3000/', 'http://[2606:4700::1111]:3000/'],
  ['http://@a.example/', 'http://a.example/'],
]
for (const [text, href] of good) {
  test(`${text} is taken as ${href}`, () => {
    const checked = checkUrl(text, external)
    assert.ok('url' in checked, JSON.stringify(checked))
    assert.equal(checked.url.href, href)
  })
}

const notUrl = 'the address is not a URL'
const scheme = 'the address must begin with http:// or https://'
const credentials = 'the address must not hold a user name or password'
const host = 'the address has no valid host name'
const bad: [url: string, refused: string][] = [
  ...[
    '',
    'a.example',
    '/x',
    'http://',
    'http:///',
    'http://a b/',
    'http://a.example:65536/',
    'http://a.example:x/',
    'http://[::1',
  ].map(of(notUrl)),
  ...[
    'http://256.1.1.1/',
    'http://1.2.3.4.5/',
    'http://0xffffffffff/',
    'http://[fe80::1%25eth0]/',
    'http://a%00b/',
    'http://a%2fb/',
  ].map(of(notUrl)),
  ...[' ', ' http://a.example/', 'http://a.example/\r\n'].map(of('the address has control characters, or spaces at its ends')),
  ...[
    'ftp://a.example/',
    'file:///etc/passwd',
    'gopher://a.example/',
    'javascript:1',
    'data:,x',
    'ws://a.example/',
    'belfry:listen',
  ].map(of(scheme)),
  ...['http://u@a.example/', 'http://u:p@a.example/', 'http://:p@a.example/', 'http://8.8.8.8@127.0.0.1/'].map(of(credentials)),
  ...[
    'http://./',
    'http://../',
    'http://a..example/',
    'http://.a.example/',
    'http://127.0.0.1../',
    'http://a*b.example/',
    "http://a'b.example/",
  ].map(of(host)),
  [`http://${'a'.repeat(64)}.example/`, host],
  [`http://${'a.'.repeat(130)}example/`, host],
]
function of(refused: string) {
  return (url: string): [string, string] => [url, refused]
}
for (const [text, refused] of bad) {
  test(`${JSON.stringify(text).slice(0, 60)} is refused: ${refused}`, () =>
    assert.deepEqual(checkUrl(text, external), { refused }))
}

test('ports of other protocols are refused, with http and https alike', () => {
  for (const port of [0, 1, 22, 25, 53, 110, 143, 389, 587, 993, 2049, 6000, 6667, 10080]) {
    for (const scheme of ['http', 'https']) {
      assert.deepEqual(checkUrl(`${scheme}://a.example:${port}/`, external), { refused: `port ${port} is not for HTTP` })
    }
  }
  for (const port of [80, 443, 81, 444, 1024, 3000, 8000, 8443, 9200, 65535]) {
    assert.ok('url' in checkUrl(`http://a.example:${port}/`, external), `${port}`)
  }
})

test('a backslash does not hide the host from the check', () => {
  assert.deepEqual(checkUrl('http:\\\\127.0.0.1\\@a.example/', external), { refused: '127.0.0.1 is a loopback address' })
  assert.deepEqual(checkUrl('http://127.0.0.1\\@a.example/', external), { refused: '127.0.0.1 is a loopback address' })
})

test('brackets are for URLs only', () => {
  assert.deepEqual(['[::1]', '::1', 'a.example'].map(bareHost), ['::1', '::1', 'a.example'])
})

test('hosts of other protocols are normalized like those of http', () => {
  const check = (text: string) => checkUrl(text, external, ['http:', 'svn:'])
  const cases: [url: string, href: string][] = [
    ['svn://A.Example:80/Path/', 'svn://a.example:80/Path/'],
    ['svn://134744072', 'svn://8.8.8.8/'],
    ['svn://bücher.example/x?y#z', 'svn://xn--bcher-kva.example/x'],
    ['http://a.example/', 'http://a.example/'],
  ]
  for (const [text, href] of cases) {
    const checked = check(text)
    assert.equal('url' in checked && checked.url.href, href, text)
  }
  for (const text of [
    'https://a.example/',
    'svn://0x7f.1/',
    'svn://%31%30.0.0.1/',
    'svn://a:b@a.example/',
    'svn:/x',
    'svn:x',
    'svn://a.example:25/',
  ]) {
    assert.ok('refused' in check(text), text)
  }
})
