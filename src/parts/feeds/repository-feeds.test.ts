import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFeed } from '@rowanmanning/feed-parser'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'

test('a repository has feeds of its activity, commits, releases, tags and issues', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  await work.commit('First\n\nWith <b>details</b>')
  await work.commit('Second')
  await work.push('HEAD', 'HEAD:refs/heads/feature/x')
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke & fire', body: '**Now**' }))
  await expect(201, await ada.post('/repos/ada/engine/releases', { tag_name: 'v1', name: 'One', body: '*New*' }))
  const read = async (path: string) => {
    const answer = await fetch(`${forge.web}/ada/engine${path}`)
    assert.equal(answer.status, 200, path)
    assert.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
    const etag = answer.headers.get('etag') ?? ''
    assert.equal((await fetch(answer.url, { headers: { 'if-none-match': etag } })).status, 304)
    return parseFeed(await answer.text())
  }
  const titles = async (path: string) => (await read(path)).items.map(({ title }) => title)
  for (const path of ['/commits.atom', '/commits/main.atom', '/commits/feature/x.atom'])
    assert.deepEqual(await titles(path), ['Second', 'First'])
  assert.equal((await read('/commits.atom')).items[0]?.authors[0]?.name, 'ada')
  const text = await (await fetch(`${forge.web}/ada/engine/commits.atom`)).text()
  assert.ok(text.includes('With &amp;lt;b&amp;gt;details'), 'a message is no markup')
  assert.deepEqual(await titles('/issues.atom'), ['Smoke & fire'])
  assert.deepEqual(await titles('/releases.atom'), ['One'])
  assert.match((await read('/releases.atom')).items[0]?.content ?? '', /<em>New<\/em>/)
  assert.deepEqual(await titles('/tags.atom'), ['v1'])
  assert.match((await titles('.atom')).join('\n'), /ada published release v1[\s\S]*ada opened/)
  const page = await (await fetch(`${forge.web}/ada/engine/commits/feature/x`)).text()
  assert.match(page, />Second<\/a>[\s\S]*>First<\/a>/)
  for (const path of ['/commits/gone.atom', '/commits/gone', '/nothing.atom', '/commits/%00.atom'])
    assert.equal((await fetch(`${forge.web}/ada/engine${path}`)).status, 404, path)
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  assert.equal((await fetch(`${forge.web}/ada/engine/tags.atom`)).url, `${forge.web}/ada/motor/tags.atom`)
})

test('feeds of a private repository need a feed key or a token of someone with access', async () => {
  await using engine = await openEngine()
  const { ada, forge } = engine
  const ben = await forge.person('ben')
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  const keyOf = async (person: typeof ada) => (await expect(201, await person.post('/user/feed_keys', { name: 'Reader' }))).token
  const status = async (query: string, headers: Record<string, string> = {}) =>
    (await fetch(`${forge.web}/ada/engine/commits.atom${query}`, { headers })).status
  assert.equal(await status(''), 404)
  assert.equal(await status(`?token=${await keyOf(ben)}`), 404)
  assert.equal(await status('?token=bfd_wrong'), 404)
  assert.equal(await status('', { authorization: `token ${ben.token}` }), 404)
  assert.equal(await status('', { authorization: 'token wrong' }), 404)
  const answer = await fetch(`${forge.web}/ada/engine/commits.atom?token=${await keyOf(ada)}`)
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'private, no-cache'])
  assert.equal(await status('', { authorization: `token ${ada.token}` }), 200)
})
