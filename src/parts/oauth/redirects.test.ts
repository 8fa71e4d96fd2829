import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCallback, isSameAddress, redirectTarget, withParameters } from './redirects.ts'

const yes = true
const no = false

/** callback, redirect_uri, whether it may go there */
const cases: [callback: string, asked: string, allowed: boolean][] = [
  // The same address, in other spellings of the same thing
  ['https://example.com/cb', 'https://example.com/cb', yes],
  ['https://example.com/cb', 'https://EXAMPLE.com/cb', yes],
  ['https://example.com/cb', 'HTTPS://example.com/cb', yes],
  ['https://example.com/cb', 'https://example.com:443/cb', yes],
  ['https://example.com:443/cb', 'https://example.com/cb', yes],
  ['http://example.com:80/cb', 'http://example.com/cb', yes],
  ['https://example.com', 'https://example.com/', yes],
  ['https://example.com/', 'https://example.com', yes],
  // Below the path
  ['https://example.com', 'https://example.com/anything', yes],
  ['https://example.com/', 'https://example.com/a/b/c', yes],
  ['https://example.com/cb', 'https://example.com/cb/', yes],
  ['https://example.com/cb', 'https://example.com/cb/deeper', yes],
  ['https://example.com/cb/', 'https://example.com/cb/deeper', yes],
  ['https://example.com/cb', 'https://example.com/cb//double', yes],
  ['https://example.com/cb', 'https://example.com/cb/%20space', yes],
  // Beside or above it
  ['https://example.com/cb', 'https://example.com/', no],
  ['https://example.com/cb', 'https://example.com', no],
  ['https://example.com/cb', 'https://example.com/other', no],
  ['https://example.com/cb', 'https://example.com/cb-evil', no],
  ['https://example.com/cb', 'https://example.com/cb.evil', no],
  ['https://example.com/cb', 'https://example.com/cbb', no],
  ['https://example.com/cb/', 'https://example.com/cb', no],
  ['https://example.com/cb', 'https://example.com/CB', no],
  ['https://example.com/cb', 'https://example.com/c%62', no],
  ['https://example.com/cb', 'https://example.com/cb;x=1', no],
  // Tricks with the path
  ['https://example.com/cb', 'https://example.com/cb/../evil', no],
  ['https://example.com/cb', 'https://example.com/cb/..', no],
  ['https://example.com/cb', 'https://example.com/cb/./x', no],
  ['https://example.com/cb', 'https://example.com/x/../cb', no],
  ['https://example.com/cb', 'https://example.com/cb/%2e%2e/evil', no],
  ['https://example.com/cb', 'https://example.com/cb/%2E%2E/evil', no],
  ['https://example.com/cb', 'https://example.com/cb/.%2e/evil', no],
  ['https://example.com/cb', 'https://example.com/cb%2fevil', no],
  ['https://example.com/cb', 'https://example.com/cb/%2Fevil', no],
  ['https://example.com/cb', 'https://example.com/cb/..%2fevil', no],
  ['https://example.com/cb', 'https://example.com/cb/%5c..', no],
  ['https://example.com/cb', 'https://example.com/cb\\evil', no],
  ['https://example.com/cb', 'https:\\\\example.com\\cb', no],
  ['https://example.com/cb', 'https://example.com/cb/%00', no],
  // Other hosts
  ['https://example.com/cb', 'https://evil.com/cb', no],
  ['https://example.com/cb', 'https://sub.example.com/cb', no],
  ['https://example.com/cb', 'https://example.com.evil.com/cb', no],
  ['https://example.com/cb', 'https://notexample.com/cb', no],
  ['https://example.com/cb', 'https://example.com./cb', no],
  ['https://example.com./cb', 'https://example.com/cb', no],
  ['https://example.com/cb', 'https://example.com@evil.com/cb', no],
  ['https://example.com/cb', 'https://user@example.com/cb', no],
  ['https://example.com/cb', 'https://user:pass@example.com/cb', no],
  ['https://example.com/cb', 'https://evil.com\\@example.com/cb', no],
  ['https://example.com/cb', 'https://evil.com/https://example.com/cb', no],
  ['https://example.com/cb', '//example.com/cb', no],
  ['https://example.com/cb', '/cb', no],
  ['https://example.com/cb', '', no],
  ['https://example.com/cb', 'https:///example.com/cb', no],
  ['https://example.com/cb', 'https://', no],
  // Unicode hosts are compared as the names they stand for
  ['https://bücher.example/cb', 'https://xn--bcher-kva.example/cb', yes],
  ['https://xn--bcher-kva.example/cb', 'https://BÜCHER.example/cb', yes],
  ['https://example.com/cb', 'https://exаmple.com/cb', no],
  ['https://example.com/cb', 'https://ｅｘａｍｐｌｅ.com/cb', yes],
  ['myapp://bücher/cb', 'myapp://xn--bcher-kva/cb/x', yes],
  ['myapp://xn--bcher-kva/cb', 'myapp://BÜCHER/cb', yes],
  ['myapp://bücher/cb', 'myapp://bucher/cb', no],
  ['myapp://a%2fb/cb', 'myapp://a%2Fc/cb', no],
  // Ports and schemes
  ['https://example.com/cb', 'https://example.com:8443/cb', no],
  ['https://example.com:8443/cb', 'https://example.com/cb', no],
  ['https://example.com:8443/cb', 'https://example.com:8443/cb/x', yes],
  ['https://example.com/cb', 'http://example.com/cb', no],
  ['http://example.com/cb', 'https://example.com/cb', no],
  ['https://example.com/cb', 'ftp://example.com/cb', no],
  ['https://example.com/cb', 'javascript://example.com/cb', no],
  ['https://example.com/cb', 'https://example.com:99999/cb', no],
  ['myapp://callback/done', 'myapp://callback/done/x', yes],
  ['myapp://callback/done', 'other://callback/done', no],
  // This machine, at any port
  ['http://localhost/cb', 'http://localhost:1234/cb', yes],
  // …when it names one: the spec's exception is for a localhost URL with a port
  ['http://localhost:3000/cb', 'http://localhost/cb', no],
  ['http://127.0.0.1:3000/cb', 'http://127.0.0.1/cb', no],
  ['http://localhost:3000/cb', 'http://localhost:/cb', no],
  ['http://localhost:3000/cb', 'http://localhost:80/cb', yes],
  ['http://localhost/cb', 'http://localhost/cb/x', yes],
  ['http://localhost:3000/cb', 'http://localhost:4000/cb/x', yes],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:55555/cb', yes],
  ['http://[::1]/cb', 'http://[::1]:55555/cb', yes],
  ['http://[::1]/cb', 'http://[0:0:0:0:0:0:0:1]:55555/cb', yes],
  ['http://localhost/cb', 'http://localhost:1234/other', no],
  ['http://localhost/cb', 'https://localhost:1234/cb', no],
  ['http://localhost/cb', 'http://127.0.0.1:1234/cb', no],
  ['http://localhost/cb', 'http://localhost.evil.com:1234/cb', no],
  ['http://127.0.0.1/cb', 'http://127.0.0.2:1234/cb', no],
  ['https://example.com/cb', 'http://localhost:1234/cb', no],
  // Query, fragment, space
  ['https://example.com/cb', 'https://example.com/cb?next=/x', yes],
  ['https://example.com/cb?app=1', 'https://example.com/cb?app=2', yes],
  ['https://example.com/cb', 'https://example.com/cb?next=%2fx', yes],
  ['https://example.com/cb', 'https://example.com/cb?code=x', no],
  ['https://example.com/cb', 'https://example.com/cb?a=1&state=x', no],
  ['https://example.com/cb', 'https://example.com/cb?%65rror=x', no],
  ['https://example.com/cb', 'https://example.com/cb?codes=x', yes],
  ['https://example.com/cb', 'https://example.com/cb#fragment', no],
  ['https://example.com/cb', 'https://example.com/cb#', no],
  ['https://example.com/cb', ' https://example.com/cb', no],
  ['https://example.com/cb', 'https://example.com/cb\n', no],
  ['https://example.com/cb', 'https://example.com/cb\t/x', no],
]

for (const [callback_url, asked, allowed] of cases) {
  test(`redirect to ${JSON.stringify(asked)} is ${allowed ? 'allowed' : 'refused'} for ${callback_url}`, () => {
    assert.equal(redirectTarget({ callback_url, strict_redirect: false }, asked), allowed ? asked : undefined)
  })
}

test('without an address it is the registered one', () => {
  assert.equal(
    redirectTarget({ callback_url: 'https://a.example/cb', strict_redirect: false }, undefined),
    'https://a.example/cb',
  )
})

test('a strict application is sent to the very address it registered', () => {
  const strict = { callback_url: 'http://localhost:3000/cb', strict_redirect: true }
  assert.equal(redirectTarget(strict, 'http://localhost:3000/cb'), strict.callback_url)
  assert.equal(redirectTarget(strict, undefined), strict.callback_url)
  for (const asked of [
    'http://localhost:3000/cb/x',
    'http://localhost:3001/cb',
    'http://LOCALHOST:3000/cb',
    'http://localhost:3000/cb?x=1',
  ]) {
    assert.equal(redirectTarget(strict, asked), undefined, asked)
  }
})

test('only an absolute address that no browser would run can be registered', () => {
  for (const good of ['https://a.example', 'http://localhost:3000/cb?x=1', 'myapp://callback']) assert.ok(isCallback(good), good)
  for (const bad of [
    '',
    'a.example/cb',
    '/cb',
    'javascript://x/%0aalert(1)',
    'data://text',
    'file:///etc/passwd',
    'https://u@a.example',
    'https://a.example/#x',
    'https://a.example/?code=1',
    'https://a.example/?x=1&state',
  ]) {
    assert.ok(!isCallback(bad), bad)
  }
})

test('two spellings of a host are one address, and nothing else is', () => {
  const address = 'https://bücher.example/cb?x=1'
  for (const same of [address, 'https://xn--bcher-kva.example/cb?x=1', 'https://BÜCHER.example:443/cb?x=1']) {
    assert.ok(isSameAddress(address, same), same)
  }
  for (const other of ['https://bücher.example/cb', 'https://bucher.example/cb?x=1', 'http://bücher.example/cb?x=1', '']) {
    assert.ok(!isSameAddress(address, other), other)
  }
})

test('the query that was there is kept, and comes first', () => {
  assert.equal(withParameters('https://a.example/cb', { code: 'x', state: 'a b' }), 'https://a.example/cb?code=x&state=a+b')
  assert.equal(
    withParameters('https://a.example/cb?next=1', { code: 'x', state: undefined }),
    'https://a.example/cb?next=1&code=x',
  )
  assert.equal(withParameters('https://a.example/cb?', { code: 'x' }), 'https://a.example/cb?code=x')
})

test('an answer in an address that was registered earlier is dropped', () => {
  for (const address of ['https://a.example/cb?code=y&error=z', 'https://a.example/cb?st%61te=y'])
    assert.equal(withParameters(address, { code: 'x' }), 'https://a.example/cb?code=x')
  assert.equal(withParameters('https://a.example/cb?code=y&a=1', { code: 'x' }), 'https://a.example/cb?a=1&code=x')
})
