import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { adoptRefs } from '#hosting/pushes/pushes.ts'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { assertSettled } from '#test/git.ts'
import { signedIn } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const names = ['refs/heads/main', 'refs/tags/v9', 'refs/x', 'HEAD', 'a'.repeat(40), 'A0'.repeat(20), '0'.repeat(64)]
const message = /must not begin with refs\/, be HEAD, or be 40 or 64 hexadecimal digits/

test('git cannot create a branch or tag that looks like another name, and other refs of the push move', inject(async (scene) => {
  const { forge, id, work, topic } = scene
  for (const folder of ['heads', 'tags']) {
    const pushed = await work.attempt(
      'push',
      'origin',
      ...names.map((name) => `${topic}:refs/${folder}/${name}`),
      `${topic}:refs/tags/of-${folder}`,
    )
    assert.equal(pushed.status, 1)
    assert.equal(pushed.stderr.match(new RegExp(message, 'g'))?.length, names.length, pushed.stderr)
    assert.doesNotMatch(pushed.stderr, /Protected branch/)
  }
  const there = [...(await forge.belfry.storage.refsOf(id)).keys()]
  assert.deepEqual(there, ['refs/heads/main', 'refs/heads/topic', 'refs/tags/of-heads', 'refs/tags/of-tags'])
  await work.git('push', '--quiet', 'origin', `${topic}:refs/heads/heads/main`, `${topic}:refs/heads/head`)
  await assertSettled(forge, id)
}))

test('neither do the API and the pages create them', inject(async ({ forge, ada, main, topic }) => {
  const refs = async () => (await ada.read(`${engine}/git/refs`)).map(({ ref }: { ref: string }) => ref)
  const before = await refs()
  const guest = await signedIn(forge, 'ada')
  for (const name of names) {
    for (const folder of ['heads', 'tags'])
      assert.match(
        (await expect(422, await ada.post(`${engine}/git/refs`, { ref: `refs/${folder}/${name}`, sha: topic }))).message,
        message,
      )
    const renamed = await expect(422, await ada.post(`${engine}/branches/topic/rename`, { new_name: name }))
    assert.match(JSON.stringify(renamed), message)
    const released = await expect(422, await ada.post(`${engine}/releases`, { tag_name: name, target_commitish: main }))
    assert.match(JSON.stringify(released), message)
    assert.match((await guest.fill('/ada/engine/branches', { name, from: 'main' })).text, message)
  }
  assert.deepEqual(await refs(), before)
}))

test('full names stand for themselves only, also in repositories that have such branches', inject(async (scene) => {
  const { forge, ada, id, work, main, topic } = scene
  const path = forge.belfry.storage.pathOf(id)
  await work.push(`${main}:refs/tags/v9`)
  // As they may have been pushed before.
  for (const name of ['refs/heads/main', 'refs/tags/v9', 'refs/tags/v10', 'HEAD', 'refs/heads/gone', main])
    await git(['-C', path, 'update-ref', `refs/heads/${name}`, topic])
  const { db, storage } = forge.belfry
  const disk = await storage.refsOf(id)
  await db.transaction((transaction) => adoptRefs(transaction, id, disk))
  for (const ref of ['refs/heads/main', 'refs/tags/v9', 'HEAD', main, 'main', 'v9', 'heads/main', 'tags/v9']) {
    assert.equal((await ada.read(`${engine}/commits/${ref}`)).sha, main, ref)
    assert.deepEqual((await ada.read(`${engine}/contents?ref=${ref}`)).length, 1, ref)
    await expect(200, await ada.get(`${engine}/commits/${ref}/status`))
    assert.equal((await ada.read(`${engine}/commits/${ref}/status`)).sha, main, ref)
    const archive = await fetch(`${forge.web}/ada/engine/legacy.tar.gz/${ref}`)
    assert.match(archive.headers.get('content-disposition') ?? '', new RegExp(main.slice(0, 7)), ref)
  }
  for (const ref of ['refs/tags/v10', 'refs/heads/gone']) {
    await expect(422, await ada.get(`${engine}/commits/${ref}`))
    await expect(404, await ada.get(`${engine}/contents/readme.txt?ref=${ref}`))
    assert.equal((await fetch(`${forge.web}/ada/engine/raw/${ref}/notes.txt`)).status, 404)
    assert.equal((await fetch(`${forge.web}/ada/engine/archive/${ref}.zip`)).status, 404)
  }
  for (const ref of ['refs/heads/main', 'refs/tags/v9', 'HEAD', main]) {
    assert.equal((await fetch(`${forge.web}/ada/engine/raw/${ref}/readme.txt`)).status, 200, ref)
    assert.equal((await fetch(`${forge.web}/ada/engine/raw/${ref}/notes.txt`)).status, 404, ref)
  }
  const deployed = await expect(
    201,
    await ada.post(`${engine}/deployments`, { ref: 'refs/tags/v9', auto_merge: false, required_contexts: [] }),
  )
  assert.equal(deployed.sha, main)
  const release = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v9' }))
  assert.equal(new URL(release.tarball_url).pathname, '/api/v3/repos/ada/engine/tarball/refs/tags/v9')
  // They can be deleted.
  await work.git('push', '--quiet', 'origin', ':refs/heads/refs/tags/v9', ':refs/heads/HEAD')
}))
