import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { openEmpty, path, present, start, vcs_url } from '#test/imports/import-states.ts'

/** Refused addresses, and a word of the reason. */
const addresses: [url: string, says: RegExp][] = [
  ['', /blank/],
  ['   ', /blank/],
  ['engine', /begin with/],
  ['/etc/passwd', /begin with/],
  ['../../engine', /begin with/],
  ['file:///etc/passwd', /begin with/],
  ['file://localhost/etc/passwd', /must begin with http/],
  ['ext::sh -c "touch /tmp/owned"', /characters/],
  ['ext::sh%20-c', /begin with/],
  ['-oProxyCommand=touch', /begin with/],
  ['--upload-pack=touch', /begin with/],
  ['ssh://git@source.example/engine', /must begin with http/],
  ['ssh://-oProxyCommand=touch/engine', /begin with/],
  ['git@source.example:engine.git', /begin with/],
  ['git://source.example/engine', /must begin with http/],
  ['svn+ssh://source.example/engine', /begin with/],
  ['svn+evil://source.example/engine', /begin with/],
  ['bundle:../engine.hg', /begin with/],
  ['union:a+b', /begin with/],
  ['static-http://source.example/', /begin with/],
  ['hg::https://source.example/', /begin with/],
  ['fd::7', /begin with/],
  ['ftp://source.example/engine', /must begin with http/],
  ['javascript:alert(1)', /begin with/],
  ['http://', /begin with/],
  ['http:///engine', /begin with/],
  ['https://source.example\\@10.0.0.1/', /characters/],
  ['https://source.example/en\tgine', /characters/],
  ['https://source.example/\r\nHost: inner', /characters/],
  ['https://source.example/a b', /characters/],
  ['https://source.example/\u202egnp.exe', /characters/],
  ['https://source.example/%0d%0aHost:inner', /control characters/],
  ['https://source.example/%00', /control characters/],
  ['https://source.example/x?service=git', /leave out/],
  ['https://source.example/x#y', /leave out/],
  ['https://%ff:x@source.example/', /user name or password/],
  ['https://a%0ab:x@source.example/', /user name or password/],
  ['https://source.example:99999/', /not a URL/],
  ['https://source.example:25/', /port 25/],
  ['https://sour ce.example/', /characters/],
  ['https://[::ffff:10.0.0.1]/', /./],
  ['http://10.1.2.3/', /10\.1\.2\.3 is a private address/],
  ['http://0xa.1/', /10\.0\.0\.1 is a private address/],
  ['http://167772161/', /10\.0\.0\.1 is a private address/],
  ['http://１０.0.0.1/', /10\.0\.0\.1 is a private address/],
  ['http://169.254.169.254/latest', /169\.254\.169\.254 is/],
  ['http://0.0.0.0/', /0\.0\.0\.0 is/],
  ['http://[fe80::1]/', /./],
  ['svn://10.1.2.3/engine', /10\.1\.2\.3 is a private address/],
  ['svn://0xa.1/engine', /10\.0\.0\.1 is a private address/],
  ['svn://a:b@192.168.0.1:80/', /192\.168\.0\.1 is a private address/],
  ['svn://%31%30.0.0.1/', /10\.0\.0\.1 is a private address/],
  ['http://127.0.0.1:8080/', /127\.0\.0\.1 is a loopback address/],
  ['http://localhost/', /localhost has a loopback address/],
  ['svn://localhost./', /localhost has a loopback address/],
]

test('an ambiguous or forbidden address is refused', async () => {
  await using forge = await openEmpty({ BELFRY_HOST: '0.0.0.0' })
  for (const [url, says] of addresses) {
    const { message, errors } = await expect(422, await forge.ada.put(path, { vcs_url: url }))
    assert.deepEqual(
      [message, errors.length, errors[0].resource, errors[0].field],
      ['Validation Failed', 1, 'Import', 'vcs_url'],
      url,
    )
    assert.match(errors[0].message, says, url)
  }
  for (const vcs of ['git', 'mercurial', 'tfvc']) {
    const { errors } = await expect(422, await forge.ada.put(path, { vcs, vcs_url: 'svn://source.example/' }))
    assert.match(errors[0].message, /must begin with http:\/\/ or https:\/\/$/)
  }
  await expect(404, await forge.ada.get(path))
})

test('addresses are stored in normal form', async () => {
  await using forge = await openEmpty({ BELFRY_IMPORT_ADDRESSES: 'external, 10.0.0.0/8' })
  const cases: [url: string, stored: string][] = [
    ['HTTPS://Source.Example:443/A/../B/', 'https://source.example/B/'],
    ['http://0xa.1/x', 'http://10.0.0.1/x'],
    ['svn://Source.Example:80/Project/', 'svn://source.example:80/Project/'],
    ['SVN://u:p@source.example', 'svn://source.example/'],
    ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    ['  https://source.example/x  ', 'https://source.example/x'],
    ['http://127.0.0.1:8080/x', 'http://127.0.0.1:8080/x'],
  ]
  for (const [url, stored] of cases) {
    assert.equal((await start(forge.ada, { vcs_url: url })).vcs_url, stored, url)
    await expect(204, await forge.ada.delete(path))
  }
})

const bodies: [method: 'put' | 'patch', at: string, body: Record<string, unknown> | string, status: number][] = [
  ['put', '', '', 422],
  ['put', '', 'null', 422],
  ['put', '', '[]', 400],
  ['put', '', '{"vcs_url":', 400],
  ['put', '', {}, 422],
  ['put', '', { vcs_url: null }, 422],
  ['put', '', { vcs_url: [vcs_url] }, 422],
  ['put', '', { vcs_url: { toString: 'x' } }, 422],
  ['put', '', { vcs_url: `${vcs_url}/${'a'.repeat(2048)}` }, 422],
  ['put', '', { vcs_url: `${vcs_url}\u0000` }, 422],
  ['put', '', { vcs_url, vcs: 'cvs' }, 422],
  ['put', '', { vcs_url, vcs: '' }, 422],
  ['put', '', { vcs_url, vcs: null }, 422],
  ['put', '', { vcs_url, vcs_username: 7 }, 422],
  ['put', '', { vcs_url, vcs_username: 'a\nb' }, 422],
  ['put', '', { vcs_url, vcs_password: 'a\r\nb' }, 422],
  ['put', '', { vcs_url, vcs_password: 'a'.repeat(1025) }, 422],
  ['put', '', { vcs_url, vcs_password: ['a'] }, 422],
  ['put', '', { vcs_url, tfvc_project: '../x' }, 422],
  ['put', '', { vcs_url, tfvc_project: '' }, 422],
  ['put', '', { vcs_url, tfvc_project: 'a\\b' }, 422],
  ['put', '', { vcs_url, svn_ignore: 'true' }, 422],
  ['put', '', { vcs_url, svn_ignore: null }, 422],
  ['put', '', { vcs_url, gitattributes: 'true' }, 422],
  ['patch', '', '{"vcs"}', 400],
  ['patch', '', { vcs: 'svn' }, 422],
  ['patch', '', { vcs_username: {} }, 422],
  ['patch', '', { vcs_password: '\u0007' }, 422],
  ['patch', '', { tfvc_project: 'a/b' }, 422],
  ['patch', '', { svn_root: 1 }, 422],
  ['patch', '', { svn_ignore: 1 }, 422],
  ['patch', '', { gitattributes: null }, 422],
  ['patch', '', { human_name: 'x'.repeat(3000) }, 422],
  ['patch', '/lfs', 'true', 400],
  ['patch', '/lfs', { use_lfs: 'opt_in\u0000' }, 422],
  ['patch', '/authors/1', { name: ['x'] }, 422],
  ['patch', '/authors/1', '[]', 400],
  ['patch', '/authors/1e3', { name: 'x' }, 404],
  ['patch', '/authors/%00', { name: 'x' }, 404],
  ['patch', '/authors/..%2f..', { name: 'x' }, 404],
]

test('invalid bodies change nothing', async () => {
  await using forge = await openEmpty()
  const { ada } = forge
  for (const [method, , body, status] of bodies.filter(([method]) => method === 'put')) {
    const { message, documentation_url } = await expect(status, await ada[method](path, body))
    assert.ok(message && documentation_url, JSON.stringify(body))
  }
  await expect(404, await ada.get(path))
  await start(ada)
  const before = await present(forge)
  for (const [method, at, body, status] of bodies) await expect(status, await ada[method](`${path}${at}`, body))
  assert.deepEqual(await present(forge), before)
  assert.deepEqual(
    forge.logged.filter((line) => /"level":(50|60)/.test(line)),
    [],
  )
})
