import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { seeding } from '#test/seeding.ts'

const hostile = '<script>alert(1)</script> "><img onerror=x>'
const releases = '/repos/ada/engine/releases'

const seed = seeding('ada', async (work) => ({ branches: { main: await work.commit('Begin') } }))

/** Ada's engine with a commit; Ben may push, Dan is a stranger. */
const inject = injecting(async () => {
  const forge = await openWithEngine()
  const { branches } = await seed(forge, forge.ada)
  return Object.assign(forge, { ...branches, guest: new Guest(forge), editor: await signedIn(forge, 'ben') })
})

const titles = (text: string) => [...text.matchAll(/<article class="release" aria-label="([^"]*)"/g)].map(([, title]) => title)

test('releases are listed newest first, drafts only for those who may push', inject(async ({
  ada,
  guest,
  editor,
  main,
  clock,
}) => {
  assert.match((await guest.get('/ada/engine/releases')).text, /No releases yet/)
  for (const release of [
    { tag_name: 'v1', name: 'First', body: `Notes ${hostile}` },
    { tag_name: 'v2/final', name: hostile },
    { tag_name: 'v3', prerelease: true },
    { tag_name: 'v4', name: 'Draft of v4', draft: true },
  ]) {
    clock.advance(1000)
    await expect(201, await ada.post(releases, release))
  }
  const seen = await guest.get('/ada/engine/releases')
  assert.deepEqual(titles(seen.text).length, 3)
  assert.doesNotMatch(seen.text, /<script>alert|<img onerror|Draft of v4|New release/)
  assert.match(seen.text, /<link rel="alternate"[^>]*href="\/ada\/engine\/releases\.atom"/)
  assert.match(seen.text, /href="\/ada\/engine\/compare\/v1\.\.\.v2\/final"/)
  assert.match(seen.text, new RegExp(`href="/ada/engine/commit/${main}"`))
  assert.match(seen.text, /Pre-release[\s\S]*Latest/)
  assert.deepEqual(titles((await editor.get('/ada/engine/releases')).text)[0], 'Draft of v4')
  const page = await guest.get('/ada/engine/releases/tag/v2/final')
  assert.match(page.text, /Changes since v1/)
  assert.doesNotMatch(page.text, /<script>alert/)
  assert.equal((await guest.get('/ada/engine/archive/refs/tags/v2/final.zip')).status, 200)
  assert.equal((await guest.get('/ada/engine/releases/latest')).location, '/ada/engine/releases/tag/v2/final')
  assert.equal((await guest.get('/ada/engine/releases/tag/v4')).status, 404)
  assert.match((await editor.get('/ada/engine/releases/tag/v4')).text, /Draft of v4/)
}))

test('tags are listed with archives, and a tag without a release has a page', inject(async ({ ada, guest, editor, main }) => {
  assert.match((await guest.get('/ada/engine/tags')).text, /No tags yet/)
  await expect(201, await ada.post('/repos/ada/engine/git/refs', { ref: 'refs/tags/bare', sha: main }))
  await expect(201, await ada.post(releases, { tag_name: 'v1' }))
  const { text } = await guest.get('/ada/engine/tags')
  assert.match(text, /href="\/ada\/engine\/archive\/refs\/tags\/bare\.tar\.gz"/)
  assert.match(text, /href="\/ada\/engine\/releases\/tag\/v1"/)
  assert.doesNotMatch(text, /Create a release/)
  assert.match((await editor.get('/ada/engine/tags')).text, /href="\/ada\/engine\/releases\/new\?tag=bare"/)
  assert.equal((await guest.get('/ada/engine/releases/tag/bare')).status, 200)
  assert.equal((await guest.get('/ada/engine/releases/tag/none')).status, 404)
}))

test('users with push access delete a tag; its release stays', inject(async ({ forge, ada, guest, editor, main }) => {
  for (const name of ['bare', 'part/one']) {
    await expect(201, await ada.post('/repos/ada/engine/git/refs', { ref: `refs/tags/${name}`, sha: main }))
  }
  await expect(201, await ada.post(releases, { tag_name: 'v1' }))
  const stranger = await signedIn(forge, 'dan')
  for (const other of [guest, stranger]) assert.doesNotMatch((await other.get('/ada/engine/tags')).text, /Delete/)
  assert.equal((await stranger.post('/ada/engine/tags/delete', { tag: 'bare' })).status, 403)
  const { text } = await editor.get('/ada/engine/tags')
  assert.equal(text.match(/It has a release, which stays/g)?.length, 1)
  for (const tag of ['part/one', 'v1']) {
    const gone = await editor.postAndFollow('/ada/engine/tags/delete', { tag })
    assert.match(gone.text, new RegExp(`The tag ${tag} is deleted`))
    assert.doesNotMatch(gone.text, new RegExp(`tree/${tag}"`))
  }
  assert.equal((await guest.get('/ada/engine/releases/tag/v1')).status, 200)
  for (const tag of ['v1', '', '../heads/main', 'x..y', hostile]) {
    const refused = await editor.post('/ada/engine/tags/delete', { tag })
    assert.equal(refused.status, 422, tag)
    assert.match(refused.text, /role="alert"[\s\S]*tree\/bare"/)
  }
  await expect(200, await ada.patch('/repos/ada/engine', { archived: true }))
  assert.doesNotMatch((await editor.get('/ada/engine/tags')).text, /Delete/)
  assert.equal((await editor.post('/ada/engine/tags/delete', { tag: 'bare' })).status, 403)
}))

test('a release is drafted with generated notes, published, changed and deleted on its pages', inject(async ({
  guest,
  editor,
  ben,
}) => {
  const fields = { tag_name: 'v1', target_commitish: 'main', name: 'First', body: 'Hello', prerelease: 'yes' }
  const filled = await editor.fill('/ada/engine/releases/new', { ...fields, action: 'generate' })
  assert.match(filled.text, /Hello\n\n\*\*Full Changelog\*\*/)
  assert.match(
    (await editor.post('/ada/engine/releases/new', { ...fields, preview: 'yes' })).text,
    /aria-label="Preview"><div[^>]*><p>Hello/,
  )
  const drafted = await editor.postAndFollow('/ada/engine/releases/new', { ...fields, action: 'draft' })
  assert.match(drafted.text, /The draft of v1 is saved/)
  const [{ id }] = await ben.read(releases)
  assert.deepEqual(titles((await guest.get('/ada/engine/releases')).text), [])
  const published = await editor.fill(`/ada/engine/releases/edit/${id}`, { ...fields, action: 'publish' })
  assert.match(published.location ?? '', /^\/ada\/engine\/releases\/tag\/v1\?flash=/)
  assert.partialDeepStrictEqual(await ben.read(`${releases}/tags/v1`), {
    id,
    body: 'Hello',
    prerelease: true,
    author: { login: 'ben' },
  })
  const again = await editor.fill('/ada/engine/releases/new', { ...fields, name: 'Kept text', action: 'publish' })
  assert.equal(again.status, 422)
  assert.match(again.text, /value="Kept text"/)
  for (const wrong of [
    { tag_name: '' },
    { tag_name: 'a b' },
    { tag_name: 'v9', target_commitish: 'none' },
    { tag_name: 'v9', name: 'x'.repeat(300) },
  ]) {
    assert.equal(
      (await editor.post('/ada/engine/releases/new', { ...fields, ...wrong, action: 'publish' })).status,
      422,
      JSON.stringify(wrong),
    )
  }
  const deleted = await editor.postAndFollow(`/ada/engine/releases/delete/${id}`, {})
  assert.match(deleted.text, /is deleted\. Its tag remains/)
  assert.match((await guest.get('/ada/engine/tags')).text, /tree\/v1"/)
}))

test('only users who may push release, and not in an archived repository', inject(async ({ forge, ada, guest, editor }) => {
  await expect(201, await ada.post(releases, { tag_name: 'v1' }))
  const [{ id }] = await ada.read(releases)
  const stranger = await signedIn(forge, 'dan')
  for (const path of ['new', `edit/${id}`]) {
    assert.match((await guest.get(`/ada/engine/releases/${path}`)).location ?? '', /^\/login/)
    assert.equal((await stranger.get(`/ada/engine/releases/${path}`)).status, 403)
  }
  for (const path of ['new', `edit/${id}`, `delete/${id}`]) {
    assert.equal((await stranger.post(`/ada/engine/releases/${path}`, { tag_name: 'v2', action: 'publish' })).status, 403)
  }
  assert.equal((await editor.get('/ada/engine/releases/edit/999999')).status, 404)
  await expect(200, await ada.patch('/repos/ada/engine', { archived: true }))
  assert.equal((await editor.post('/ada/engine/releases/new', { tag_name: 'v2', action: 'publish' })).status, 403)
  assert.equal((await ada.read(releases)).length, 1)
}))
