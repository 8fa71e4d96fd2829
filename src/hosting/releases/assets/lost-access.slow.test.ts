import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, type Forge, injecting } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { sha256 } from '#test/lfs.ts'
import { until } from '#test/machine.ts'

async function openWithRelease() {
  const forge = await openWithEngine()
  await expect(201, await forge.ada.put(`${engine}/contents/a.txt`, { message: 'Begin', content: btoa('a') }))
  const release = await expect(201, await forge.ben.post(`${engine}/releases`, { tag_name: 'v1' }))
  return Object.assign(forge, { release })
}

type Scene = Awaited<ReturnType<typeof openWithRelease>> & { forge: Forge }

const inject = injecting(openWithRelease)
const contents = 'contents'
const part = (name: string, value: string, file = '') =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${file && `; filename="${file}"`}\r\n\r\n${value}\r\n`

/** The three ways to upload a file: what is sent before access ends, and after it. */
const ways: Record<
  string,
  (scene: Scene) => Promise<{ url: string; method: string; headers: object; first: string; rest: string }>
> = {
  'of Git LFS': async ({ web, ben }) => ({
    url: `${web}/ada/engine.git/info/lfs/objects/${sha256(contents)}`,
    ...{ method: 'PUT', headers: { authorization: `Bearer ${ben.token}` } },
    ...{ first: contents.slice(0, 4), rest: contents.slice(4) },
  }),
  'to a release by the API': async ({ ben, release }) => ({
    url: release.upload_url.replace('{?name,label}', '?name=a.zip'),
    ...{ method: 'POST', headers: ben.headers, first: contents.slice(0, 4), rest: contents.slice(4) },
  }),
  'to a release by its page': async ({ forge, web, release }) => {
    const guest = await signedIn(forge, 'ben')
    const path = `/ada/engine/releases/edit/${release.id}`
    await guest.get(path)
    const cookie = [...guest.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return {
      url: web + path,
      ...{ method: 'POST', headers: { cookie, 'content-type': 'multipart/form-data; boundary=x' } },
      first:
        part('csrf', guest.csrf) + part('tag_name', 'v1') + part('files', contents.repeat(20_000), 'a.zip').slice(0, -10_000),
      rest: `${part('files', contents.repeat(20_000), 'a.zip').slice(-10_000)}${part('action', 'publish')}--x--\r\n`,
    }
  },
}

for (const [way, prepare] of Object.entries(ways)) {
  for (const loses of [false, true]) {
    const rest = loses ? 'adds nothing when the access ends while it arrives' : 'may take long'
    test(`an upload ${way} ${rest}`, inject(async (scene) => {
      const { ada, belfry, release } = scene
      const upload = await prepare(scene)
      const sending = request(upload.url, { method: upload.method, headers: { ...upload.headers } })
      sending.write(upload.first)
      const begun = async () =>
        (await readdir(join(belfry.settings.BELFRY_DATA, 'lfs'), { recursive: true }).catch(() => [])).length > 0
      await until('the upload has begun', begun)
      if (loses) await expect(204, await ada.delete(`${engine}/collaborators/ben`))
      sending.end(upload.rest)
      const [response]: IncomingMessage[] = await once(sending, 'response')
      assert.ok(response)
      assert.equal((response.statusCode ?? 0) >= 400, loses, await text(response))
      const stored = await belfry.db.rows(sql`
        select oid from lfs_objects union all select oid from release_assets where release_id = ${release.id}`)
      assert.equal(stored.length, loses ? 0 : 1)
    }))
  }
}
