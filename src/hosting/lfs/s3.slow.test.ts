import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from '#platform/database.ts'
import { certificateFile } from '#test/certificates.ts'
import { expect, openForge } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { batch, filters, get, put, sha256, useLfs } from '#test/lfs.ts'
import { until } from '#test/machine.ts'
import { bucket, openS3 } from '#test/s3.ts'
import { lfsTasks } from './jobs.ts'

const s3 = await openS3()
after(() => s3[Symbol.asyncDispose]())

const keyOf = (contents: string | Buffer) => {
  const oid = sha256(contents)
  return `belfry/lfs/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`
}

async function openStore(more: Record<string, string> = {}) {
  s3.failWith(undefined)
  const forge = await openForge({ settings: s3.settings(more) })
  const ada = await forge.person('ada')
  await ada.owns('open', { auto_init: true })
  await ada.owns('closed', { auto_init: true, private: true })
  return Object.assign(forge, { ada })
}

for (const [name, downloads] of Object.entries({ 'through Belfry': 'streamed', 'by presigned links': 'presigned' })) {
  test(`the LFS client pushes into a bucket, and fetches ${name}`, async () => {
    await using engine = await openEngine({ settings: s3.settings({ BELFRY_STORAGE_DOWNLOADS: downloads }) })
    const { ada, desk, work } = engine
    await useLfs(work)
    const large = randomBytes(12_000_000)
    await work.git('lfs', 'track', '*.bin')
    await work.commit('Add large files', { 'large.bin': large, 'small.bin': 'small', 'empty.bin': '' })
    await work.push()
    for (const contents of [large, 'small']) assert.ok(s3.keys().includes(keyOf(contents)))
    assert.deepEqual(s3.uploads(), [])
    s3.seen.length = 0
    for (const who of [null, ada]) {
      const clone = await desk.clone(who, 'ada/engine', ...filters.flatMap(([name, value]) => ['-c', `${name}=${value}`]))
      assert.ok(readFileSync(join(clone.folder, 'large.bin')).equals(large))
      assert.equal(await clone.git('status', '--porcelain'), '')
    }
    const signed = s3.seen.filter((line) => line.includes('X-Amz-Signature=')).length
    assert.equal(signed, downloads === 'presigned' ? 4 : 0)
  })
}

test('a link is signed after access is checked, for some minutes, and leads to a download', async () => {
  await using forge = await openStore({ BELFRY_STORAGE_DOWNLOADS: 'presigned' })
  const { ada } = forge
  const eve = await forge.person('eve')
  assert.equal((await put(forge, ada.token, 'ada/closed', 'contents')).status, 200)
  const wanted = [{ oid: sha256('contents'), size: 8 }]
  assert.equal((await batch(forge, eve.token, 'ada/closed', 'download', wanted)).status, 404)
  assert.equal((await batch(forge, null, 'ada/closed', 'download', wanted)).status, 401)
  const [other] = JSON.parse((await batch(forge, ada.token, 'ada/open', 'download', wanted)).text).objects
  assert.equal(other.error.code, 404, 'an object of another repository')
  const [object] = JSON.parse((await batch(forge, ada.token, 'ada/closed', 'download', wanted)).text).objects
  const { href, expires_in } = object.actions.download
  assert.deepEqual([object.authenticated, expires_in], [true, 600])
  const url = new URL(href)
  assert.deepEqual([url.host, url.searchParams.get('X-Amz-Expires')], [s3.host, '600'])
  assert.ok(!href.includes('secret') && !href.includes(ada.token))
  const answer = await fetch(href)
  assert.deepEqual([answer.status, await answer.text()], [200, 'contents'])
  assert.equal(answer.headers.get('content-disposition'), 'attachment')
  assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
  url.searchParams.set('response-content-type', 'text/html')
  assert.equal((await fetch(url)).status, 403, 'a changed link')
  assert.equal((await fetch(href.split('?')[0] ?? '')).status, 403, 'without a signature')
})

test('links lead to the address at which clients reach the storage', async () => {
  await using forge = await openStore({ BELFRY_STORAGE_DOWNLOADS: 'https://files.example' })
  await put(forge, forge.ada.token, 'ada/open', 'contents')
  const answer = await batch(forge, null, 'ada/open', 'download', [{ oid: sha256('contents'), size: 8 }])
  const { href } = JSON.parse(answer.text).objects[0].actions.download
  assert.ok(href.startsWith(`https://files.example/${bucket}/${keyOf('contents')}?`), href)
})

test('wrong contents are not stored, and ranges are read', async () => {
  await using forge = await openStore()
  const { token } = forge.ada
  const large = randomBytes(11_000_000)
  for (const contents of ['other', large]) {
    const oid = sha256(randomBytes(8))
    assert.equal((await put(forge, token, 'ada/open', contents, oid)).status, 422)
    assert.ok(!s3.keys().some((key) => key.endsWith(oid)))
  }
  assert.deepEqual(s3.uploads(), [])
  for (const contents of ['', large]) {
    assert.equal((await put(forge, token, 'ada/open', contents)).status, 200)
    assert.ok((await get(forge, null, 'ada/open', sha256(contents))).bytes.equals(Buffer.from(contents)))
  }
  const part = await get(forge, null, 'ada/open', sha256(large), { range: 'bytes=7000000-7000009' })
  assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 7000000-7000009/11000000'])
  assert.ok(part.bytes.equals(large.subarray(7_000_000, 7_000_010)))
})

test('a client that leaves aborts its upload', async () => {
  await using forge = await openStore()
  const large = randomBytes(16_000_000)
  const { hostname, port } = new URL(forge.web)
  const headers = { authorization: `Bearer ${forge.ada.token}`, 'content-length': large.length }
  const sending = request({
    ...{ hostname, port, headers, method: 'PUT' },
    path: `/ada/open.git/info/lfs/objects/${sha256(large)}`,
  })
  sending.on('error', () => {})
  sending.write(large.subarray(0, 12_000_000))
  await until('a part is stored', () => s3.uploads().length === 1)
  sending.destroy()
  await until('the upload is aborted', () => s3.uploads().length === 0)
  assert.ok(!s3.keys().includes(keyOf(large)))
  assert.deepEqual(await forge.belfry.db.rows(sql`select from lfs_objects`), [])
})

test('requests that fail for a moment are repeated', async () => {
  await using forge = await openStore()
  const { token } = forge.ada
  const large = randomBytes(12_000_000)
  let requests = 0
  // Each first attempt fails: with an error of the server, or with a broken connection.
  s3.failWith((incoming, response, pass) => {
    const turn = requests++
    if (turn % 2) return pass()
    incoming.resume()
    if (turn % 4) return incoming.socket.destroy()
    return incoming.on('end', () => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'))
  })
  assert.equal((await put(forge, token, 'ada/open', large)).status, 200)
  assert.ok((await get(forge, null, 'ada/open', sha256(large))).bytes.equals(large))
  assert.deepEqual(s3.uploads(), [])
  assert.equal(forge.logged.filter((line) => line.includes('storage')).length, 0, 'nothing is logged')
})

test('a download goes on where the connection to the storage broke', async () => {
  await using forge = await openStore()
  const large = randomBytes(6_000_000)
  await put(forge, forge.ada.token, 'ada/open', large)
  let breaks = 2
  s3.failWith((incoming, response, pass) => {
    if (incoming.method === 'GET' && breaks-- > 0) {
      let sent = 0
      const write = response.write.bind(response)
      response.write = ((chunk: Buffer) => {
        sent += chunk.length
        const more = write(chunk)
        if (sent > 1_000_000) incoming.socket.destroy()
        return more
      }) as typeof response.write
    }
    pass()
  })
  s3.seen.length = 0
  assert.ok((await get(forge, null, 'ada/open', sha256(large))).bytes.equals(large))
  assert.equal(s3.seen.length, 3)
})

test('a storage that dies gives 503 until it is back, and /readyz tells', async () => {
  await using forge = await openStore()
  const { token } = forge.ada
  const large = randomBytes(12_000_000)
  await put(forge, token, 'ada/open', 'before')
  let parts = 0
  s3.failWith((incoming, _, pass) => {
    if (incoming.url?.includes('partNumber=1&') && parts++ === 0) return pass()
    return incoming.socket.destroy()
  })
  const answers = [await put(forge, token, 'ada/open', large), await get(forge, null, 'ada/open', sha256('before'))]
  for (const { status, headers, text } of answers) {
    assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
    assert.match(text, /storage of large files does not work/)
  }
  const ready = await fetch(`${forge.web}/readyz`)
  assert.equal(ready.status, 200, 'all but large files can be served')
  assert.match((await ready.json()).storage, /^not usable: /)
  const logged = forge.logged.filter((line) => line.includes('the storage of large files fails'))
  assert.equal(logged.length, 1, 'once')
  assert.ok(!forge.logged.some((line) => line.includes('S3RVER')), 'without credentials')
  assert.equal(forge.logged.filter((line) => JSON.parse(line).level >= 50).length, 1)
  s3.failWith(undefined)
  assert.equal((await get(forge, null, 'ada/open', sha256('before'))).text, 'before')
  assert.ok(forge.logged.some((line) => line.includes('works again')))
  assert.equal((await put(forge, token, 'ada/open', large)).status, 200)
})

test('a wrong secret, an unknown key and a missing bucket give 503, and the log says which', async () => {
  const wrong = {
    SignatureDoesNotMatch: `s3://S3RVER:hunter2@${s3.host}/${bucket}?tls=off`,
    InvalidAccessKeyId: `s3://hunter2:hunter2@${s3.host}/${bucket}?tls=off`,
    NoSuchBucket: `s3://S3RVER:S3RVER@${s3.host}/other-bucket?tls=off`,
  }
  for (const [fault, BELFRY_STORAGE_URL] of Object.entries(wrong)) {
    await using forge = await openStore({ BELFRY_STORAGE_URL })
    const answer = await put(forge, forge.ada.token, 'ada/open', 'contents')
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], fault)
    assert.match((await (await fetch(`${forge.web}/readyz`)).json()).storage, new RegExp(fault))
    assert.ok(forge.logged.some((line) => line.includes(fault)))
    assert.ok(![...forge.logged, answer.text].some((line) => line.includes('hunter2')))
  }
})

test('a storage with TLS is used if BELFRY_CA has its authority', async () => {
  await using secured = await openS3({ certificate: 'signed' })
  const settings = secured.settings({ BELFRY_STORAGE_DOWNLOADS: 'presigned' })
  {
    await using forge = await openStore({ ...settings, BELFRY_CA: certificateFile('authority') })
    const large = randomBytes(6_000_000)
    for (const contents of [large, 'small']) {
      assert.equal((await put(forge, forge.ada.token, 'ada/open', contents)).status, 200)
      assert.ok((await get(forge, null, 'ada/open', sha256(contents))).bytes.equals(Buffer.from(contents)))
    }
    const answer = await batch(forge, null, 'ada/open', 'download', [{ oid: sha256('small'), size: 5 }])
    assert.ok(JSON.parse(answer.text).objects[0].actions.download.href.startsWith(`https://${secured.host}/${bucket}/`))
  }
  await using forge = await openStore(settings)
  assert.equal((await put(forge, forge.ada.token, 'ada/open', 'contents')).status, 503)
  assert.match((await (await fetch(`${forge.web}/readyz`)).json()).storage, /UNABLE_TO_VERIFY_LEAF_SIGNATURE/)
})

test('credentials come from the environment too', async () => {
  const BELFRY_STORAGE_URL = `s3://${s3.host}/${bucket}/env?tls=off&region=eu-north-1`
  await using forge = await openStore({ BELFRY_STORAGE_URL, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' })
  assert.equal((await put(forge, forge.ada.token, 'ada/open', 'contents')).status, 200)
  assert.ok(s3.keys().includes(keyOf('contents').replace('belfry/', 'env/')))
})

test('the sweep deletes old objects without a repository, and unfinished uploads', async () => {
  await using forge = await openStore({ BELFRY_STORAGE_URL: `s3://S3RVER:S3RVER@${s3.host}/${bucket}/swept?tls=off` })
  const { ada, belfry, clock } = forge
  const kept = () => s3.keys().filter((key) => key.startsWith('swept/'))
  await put(forge, ada.token, 'ada/open', 'shared')
  for (const contents of ['shared', 'alone']) await put(forge, ada.token, 'ada/closed', contents)
  await expect(204, await ada.delete('/repos/ada/closed'))
  // Neither the upload nor its end reach the storage: the process might have been killed.
  s3.failWith((incoming, _, pass) => (incoming.method === 'DELETE' ? incoming.socket.destroy() : pass()))
  await belfry.files.storeContents(rejecting(randomBytes(11_000_000)), 20_000_000).catch(() => {})
  s3.failWith(undefined)
  assert.equal(s3.uploads().length, 1)
  const sweep = lfsTasks(belfry.db, belfry.files).sweep_lfs as () => Promise<void>
  // The storage has the time of the machine.
  clock.advance(Date.now() - clock.now().getTime())
  await sweep()
  assert.deepEqual([kept().length, s3.uploads().length], [2, 1], 'recent ones stay')
  clock.advance(8 * 86_400_000)
  await sweep()
  assert.deepEqual(s3.uploads(), [])
  assert.deepEqual(kept(), [keyOf('shared').replace('belfry/', 'swept/')])
  assert.equal((await get(forge, null, 'ada/open', sha256('shared'))).text, 'shared')
})

async function* rejecting(contents: Buffer) {
  yield contents
  throw new Error('the client left')
}
