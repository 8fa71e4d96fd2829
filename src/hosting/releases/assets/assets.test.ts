import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sweepStore } from '#hosting/lfs/sweep.ts'
import { sql } from '#platform/database.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting, linesOf, openForge, type Person } from '#test/forge.ts'

const engine = '/repos/ada/engine'

const inject = injecting(async () => {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { auto_init: true })
  const release = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1/rc' }))
  const upload = (person: Person, name: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(release.upload_url.replace('{?name,label}', `?name=${encodeURIComponent(name)}&label=A+file`), {
      ...{ method: 'POST', body },
      headers: { ...person.headers, 'content-type': 'application/zip', ...headers },
    })
  return Object.assign(forge, { ada, ben, release, upload })
})

test('a file is uploaded to a release, and downloaded by everyone who sees the release', inject(async (forge) => {
  const { ada, nobody, release, upload, web } = forge
  assert.equal(release.upload_url, `${web}/api/uploads${engine}/releases/${release.id}/assets{?name,label}`)
  const contents = Buffer.from([0, 1, 2, 255, 128, 10])
  const asset = await expect(201, await upload(ada, 'our engine (1).zip', contents))
  assert.partialDeepStrictEqual(asset, {
    ...{ name: 'our.engine.1.zip', label: 'A file', state: 'uploaded', content_type: 'application/zip', size: 6 },
    ...{ download_count: 0, uploader: { login: 'ada' } },
    browser_download_url: `${web}/ada/engine/releases/download/v1/rc/our.engine.1.zip`,
  })
  const octets = nobody.with({ accept: 'application/octet-stream' })
  for (const answer of [await fetch(asset.browser_download_url), await octets.get(`${engine}/releases/assets/${asset.id}`)]) {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), contents)
  }
  const found = await nobody.read(`${engine}/releases/tags/v1/rc`)
  assert.deepEqual(linesOf(found.assets, 'name', 'download_count'), ['our.engine.1.zip 2'])
  assert.match(await (await fetch(`${web}/ada/engine/releases/tag/v1/rc`)).text(), /our\.engine\.1\.zip" download>A file/)
  const changed = await expect(200, await ada.patch(`${engine}/releases/assets/${asset.id}`, { name: 'new.zip' }))
  assert.equal(changed.name, 'new.zip')
  assert.equal((await fetch(asset.browser_download_url)).status, 404)
  assert.equal((await fetch(changed.browser_download_url)).status, 200)
  assert.equal((await fetch(changed.browser_download_url.replace('v1/rc', 'v2'))).status, 404, 'of another release')
  assert.equal((await ada.delete(`${engine}/releases/assets/${asset.id}`)).status, 204)
  assert.deepEqual(await nobody.read(`${engine}/releases/${release.id}/assets`), [])
}))

test('a name is taken once, and only users with push access upload', inject(async ({ ada, ben, nobody, upload, release }) => {
  await expect(201, await upload(ada, 'a.zip', 'one'))
  const { errors } = await expect(422, await upload(ada, 'a.zip', 'two'))
  assert.partialDeepStrictEqual(errors, [{ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' }])
  await expect(422, await upload(ada, '...', 'two'))
  assert.equal((await upload(ben, 'b.zip', 'two')).status, 403)
  assert.equal((await upload(ada, 'b.zip', 'two', { authorization: 'token wrong' })).status, 401)
  const [asset] = await nobody.read(`${engine}/releases/${release.id}/assets`)
  assert.equal((await ben.delete(`${engine}/releases/assets/${asset.id}`)).status, 403)
  await expect(200, await ada.patch(`${engine}/releases/${release.id}`, { draft: true }))
  for (const path of [`assets/${asset.id}`, `${release.id}/assets`])
    assert.equal((await ben.get(`${engine}/releases/${path}`)).status, 404, 'of a draft')
  assert.equal((await fetch(asset.browser_download_url)).status, 404)
  assert.equal((await ada.get(`${engine}/releases/assets/${asset.id}`)).status, 200)
}))

test('the sweep keeps the contents of files that a release has', inject(async ({ ada, upload, belfry }) => {
  const { id } = await expect(201, await upload(ada, 'a.zip', 'kept'))
  const later = new Date(Date.now() + 86_400_000)
  const sweep = () => sweepStore(belfry.db, belfry.files, later)
  const { oid } = await belfry.db.load<{ oid: string }>(sql`select oid from release_assets where id = ${id}`)
  await sweep()
  const read = () => ada.with({ accept: 'application/octet-stream' }).get(`${engine}/releases/assets/${id}`)
  assert.equal(await (await read()).text(), 'kept')
  await expect(204, await ada.delete(`${engine}/releases/assets/${id}`))
  assert.ok((await sweep()) > 0, oid)
}))

test('responses about files match the public documentation', inject(async ({ ada, upload, release }) => {
  const { id } = await expect(201, await upload(ada, 'a.zip', 'x'))
  await checkContracts(ada, (variant) => [
    ['repos/list-release-assets', 'get', `${engine}/releases/${release.id}/assets`],
    ['repos/get-release-asset', 'get', `${engine}/releases/assets/${id}`],
    ['repos/update-release-asset', 'patch', `${engine}/releases/assets/${id}`, { label: variant }],
    ['repos/get-release', 'get', `${engine}/releases/${release.id}`],
  ])
}))
