import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { expect, type Person } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { until } from '#test/machine.ts'

const engine = '/repos/ada/engine'
const locationOf = async (who: Pick<Person, 'get'>, path: string) => {
  const answer = await who.get(`${engine}/${path}`)
  assert.equal(answer.status, 302, await answer.text())
  return answer.headers.get('location') ?? ''
}
const unpack = (archive: ArrayBuffer) =>
  execFileSync('tar', ['-tz'], { input: Buffer.from(archive) })
    .toString()
    .trim()
    .split('\n')

test('archives of a branch, a tag or a commit are sent as git writes them', async () => {
  await using opened = await openEngine()
  const { work, ada, forge } = opened
  await expect(409, await ada.get(`${engine}/tarball/main`))
  const first = await work.commit('First', { 'a.txt': 'a\n', 'src/b.txt': 'b\n' })
  await work.git('tag', 'v1')
  await work.push('HEAD', 'HEAD:refs/heads/feature/x', '--tags')
  const folder = `ada-engine-${first.slice(0, 7)}`
  for (const path of ['tarball', 'tarball/', 'tarball/feature/x', 'tarball/refs/tags/v1', `tarball/${first}`]) {
    for (const client of [forge.nobody, forge.nobodyVersioned]) {
      const url = await locationOf(client, path)
      assert.ok(url.startsWith(`${forge.web}/ada/engine/legacy.tar.gz/`) && !url.includes('token'), url)
      const archive = await fetch(url)
      assert.equal(archive.headers.get('content-type'), 'application/x-gzip')
      assert.equal(archive.headers.get('content-disposition'), `attachment; filename=${folder}.tar.gz`)
      assert.deepEqual(unpack(await archive.arrayBuffer()), [
        `${folder}/`,
        `${folder}/a.txt`,
        `${folder}/src/`,
        `${folder}/src/b.txt`,
      ])
    }
  }
  const zip = await fetch(await locationOf(ada, 'zipball/v1'))
  assert.equal(zip.headers.get('content-type'), 'application/zip')
  assert.equal(
    Buffer.from(await zip.arrayBuffer())
      .subarray(0, 2)
      .toString(),
    'PK',
  )
  const page = `${forge.web}/ada/engine/archive/refs/heads/feature/x`
  assert.equal((await fetch(`${page}.tar.gz`)).status, 200)
  assert.equal((await fetch(`${page}.zip`, { method: 'HEAD' })).headers.get('etag'), `"${first}.zip"`)
  for (const path of ['archive/main', 'archive/gone.zip', 'legacy.zip/gone', 'legacy.zip/--all']) {
    assert.equal((await fetch(`${forge.web}/ada/engine/${path}`)).status, 404, path)
  }
  await expect(422, await ada.get(`${engine}/tarball/gone`))
})

test('the address of a private archive works without credentials, for a while and while the user has access', async () => {
  await using opened = await openEngine()
  const { work, ada, forge, id } = opened
  const ben = await forge.person('ben')
  await work.commit('First', { 'a.txt': 'a\n' })
  await work.push()
  await expect(200, await ada.patch(engine, { private: true }))
  const invitation = await expect(201, await ada.put(`${engine}/collaborators/ben`, { permission: 'pull' }))
  await expect(204, await ben.patch(`/user/repository_invitations/${invitation.id}`))
  await expect(404, await forge.nobody.get(`${engine}/tarball`))
  const statusOf = async (url: string, headers = {}) => {
    const answer = await fetch(url, { headers })
    await answer.arrayBuffer()
    return answer.status
  }
  const url = await locationOf(ben.versioned, 'tarball/main')
  const bare = url.replace(/\?.*/, '')
  assert.equal(await statusOf(url), 200)
  assert.equal(await statusOf(bare), 404)
  assert.equal(await statusOf(bare, ben.headers), 200)
  assert.equal(await statusOf(`${forge.web}/ada/engine/raw/main/a.txt`, ben.headers), 200)
  const stranger = await forge.person('dan')
  for (const path of [bare, `${forge.web}/ada/engine/raw/main/a.txt`]) assert.equal(await statusOf(path, stranger.headers), 404)
  assert.equal(await statusOf(bare, { authorization: 'Bearer wrong' }), 401)
  const me = await ada.read('/user')
  for (const wrong of [url.replace(/token=\d+/, `token=${me.id}`), `${url}x`, `${bare}?token=`, `${bare}?token=%00`]) {
    assert.equal(await statusOf(wrong), 404, wrong)
  }
  // A key that is not signed reveals neither the new name of a repository nor who may read it.
  await expect(200, await ada.patch(engine, { name: 'secret-name' }))
  const forged = [me.id, (await ben.read('/user')).id, stranger.token].flatMap((user) => [
    `${bare}?token=${user}.1.x`,
    `${bare}?token=${user}.${id}.99999999999999.x`,
  ])
  for (const address of forged) {
    const answer = await fetch(address, { redirect: 'manual' })
    assert.deepEqual([answer.status, answer.headers.get('location')], [404, null], address)
    assert.doesNotMatch(await answer.text(), /secret-name/)
  }
  await expect(200, await ada.patch('/repos/ada/secret-name', { name: 'engine' }))
  assert.ok(!forge.logged.some((line) => line.includes(url.split('token=')[1] ?? '')))
  forge.clock.advance(6 * 60_000)
  assert.equal(await statusOf(url), 404)
  const again = await locationOf(ben, 'tarball/main')
  await expect(204, await ada.delete(`${engine}/collaborators/ben`))
  assert.equal(await statusOf(again), 404)
  assert.equal(forge.belfry.storage.fetching.taken, 0, `${id}`)
})

test('a client that leaves ends the git of its archive or file, and frees its slot', async () => {
  await using opened = await openEngine()
  const { work, ada, forge } = opened
  await work.commit('Large', { 'large.bin': randomBytes(12 << 20) })
  await work.push()
  const { storage } = forge.belfry
  const raw = ada.with({ accept: 'application/vnd.github.raw' })
  for (const [url, slots, headers] of [
    [await locationOf(ada, 'tarball'), storage.fetching, {}],
    [`${ada.base}${engine}/contents/large.bin`, storage.reading, raw.headers],
  ] as const) {
    const leaving = new AbortController()
    const answer = await fetch(url, { headers, signal: leaving.signal })
    await answer.body?.getReader().read()
    assert.equal(slots.taken, 1)
    leaving.abort()
    await until('the slot is free', () => slots.taken === 0, 20_000)
  }
})
