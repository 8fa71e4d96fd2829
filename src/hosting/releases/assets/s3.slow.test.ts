import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { sweepStore } from '#hosting/lfs/sweep.ts'
import { expect, linesOf, openForge } from '#test/forge.ts'
import { bucket, openS3 } from '#test/s3.ts'

const s3 = await openS3()
after(() => s3[Symbol.asyncDispose]())
const engine = '/repos/ada/engine'

async function openRelease(more: Record<string, string> = {}) {
  const forge = await openForge({ settings: s3.settings(more) })
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true, private: true })
  const release = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  const upload = (name: string, body: Uint8Array<ArrayBuffer>) =>
    fetch(release.upload_url.replace('{?name,label}', `?name=${encodeURIComponent(name)}`), {
      method: 'POST',
      body,
      headers: ada.headers,
    })
  return Object.assign(forge, { ada, release, upload, octets: ada.with({ accept: 'application/octet-stream' }) })
}

test('files of a release are in the bucket, small and large, until they are deleted', async () => {
  await using forge = await openRelease()
  const { ada, upload, octets, belfry, release } = forge
  for (const contents of [Buffer.from('small'), randomBytes(12_000_000)]) {
    const { id } = await expect(201, await upload('a.zip', new Uint8Array(contents)))
    const found = await octets.get(`${engine}/releases/assets/${id}`)
    assert.deepEqual([found.status, found.headers.get('content-length')], [200, String(contents.length)])
    assert.ok(Buffer.from(await found.arrayBuffer()).equals(contents))
    assert.deepEqual([s3.keys().length, s3.uploads()], [1, []], 'no draft is left')
    await expect(204, await ada.delete(`${engine}/releases/assets/${id}`))
    assert.equal(await sweepStore(belfry.db, belfry.files, new Date(Date.now() + 86_400_000)), 1)
    assert.deepEqual(s3.keys(), [])
  }
  assert.deepEqual(await ada.read(`${engine}/releases/${release.id}/assets`), [])
})

test('downloads lead to presigned links, for those who may see the release', async () => {
  await using forge = await openRelease({ BELFRY_STORAGE_DOWNLOADS: 'presigned' })
  const { ada, nobody, upload, octets } = forge
  const { id, browser_download_url } = await expect(201, await upload('a+b.zip', new Uint8Array(Buffer.from('contents'))))
  const eve = await forge.person('eve')
  for (const client of [nobody, eve])
    assert.equal((await client.with({ accept: 'application/octet-stream' }).get(`${engine}/releases/assets/${id}`)).status, 404)
  assert.equal((await fetch(browser_download_url)).status, 404)
  await expect(200, await ada.patch(engine, { private: false }))
  const answers = [
    [302, await octets.get(`${engine}/releases/assets/${id}`)],
    [303, await fetch(browser_download_url, { redirect: 'manual' })],
  ] as const
  for (const [status, answer] of answers) {
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [status, 'no-store'])
    const location = answer.headers.get('location') ?? ''
    assert.ok(location.startsWith(`http://${s3.host}/${bucket}/belfry/lfs/`), location)
    const file = await fetch(location)
    assert.deepEqual([file.status, await file.text()], [200, 'contents'])
    assert.equal(file.headers.get('content-disposition'), 'attachment; filename="a+b.zip"')
  }
  const [asset] = await ada.read(`${engine}/releases/tags/v1`).then(({ assets }) => assets)
  assert.deepEqual(linesOf([asset], 'name', 'download_count'), ['a+b.zip 2'])
})

test('an upload that the storage does not take is 503, and leaves nothing', async () => {
  await using forge = await openRelease()
  const { ada, release, upload } = forge
  s3.failWith((incoming) => incoming.socket.destroy())
  const answer = await upload('a.zip', new Uint8Array(randomBytes(6_000_000)))
  s3.failWith(undefined)
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'])
  assert.match((await answer.json()).message, /storage of large files/)
  assert.deepEqual(await ada.read(`${engine}/releases/${release.id}/assets`), [])
})
