import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markupIn, subscribe } from '#test/feeds.ts'
import { expect, openForge } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'

const hostile = `<script>alert("1 & 2")</script> ]]> &amp; it's`
const escaped = '&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt; ]]&gt; &amp;amp; it&apos;s'

/** Ada's repository `engine`. */
async function openEngine(options: Record<string, unknown> = {}) {
  const forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const ada = await forge.person('ada')
  await ada.owns('engine', options)
  const write = (path: string, message: string, content = path) =>
    ada.put(`/repos/ada/engine/contents/${path}`, { message, content: btoa(content) })
  const read = async () => (await subscribe(`${forge.web}/ada.atom`)).feed.items
  return Object.assign(forge, { ada, write, read, repo: `${forge.web}/ada/engine` })
}

test('every type of event has a sentence, a link and an author', async () => {
  await using forge = await openEngine()
  const { ada, web, repo } = forge
  const [ben, cleo] = [await forge.person('ben'), await forge.person('cleo')]
  const { commit: first } = await expect(201, await forge.write('one', 'First\n\nand more'))
  const { commit: second } = await expect(201, await forge.write('two', 'Second'))
  await expect(201, await ada.post('/repos/ada/engine/git/refs', { ref: 'refs/heads/x/y', sha: first.sha }))
  await expect(201, await ada.post('/repos/ada/engine/git/refs', { ref: 'refs/tags/old', sha: first.sha }))
  assert.equal((await ada.delete('/repos/ada/engine/git/refs/tags/old')).status, 204)
  await expect(201, await ada.post('/repos/ada/engine/releases', { tag_name: 'v1', name: 'The <first>' }))
  await expect(202, await cleo.post('/repos/ada/engine/forks'))
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  const { id } = await expect(201, await ada.put('/repos/ada/engine/collaborators/ben'))
  assert.equal((await ben.patch(`/user/repository_invitations/${id}`)).status, 204)
  await ada.owns('diary', { private: true })
  await expect(200, await ada.patch('/repos/ada/diary', { private: false }))

  const { feed, text } = await subscribe(`${web}/timeline.atom`)
  // If two entries have the same title, use the newer.
  const told = new Map(feed.items.toReversed().map((item) => [item.title ?? '', item]))
  const links: Record<string, string> = {
    'ada made ada/diary public': `${web}/ada/diary`,
    'ada added ben to ada/engine': repo,
    'ben starred ada/engine': repo,
    'cleo forked ada/engine to cleo/engine': `${web}/cleo/engine`,
    'ada published release v1 in ada/engine': `${repo}/releases/tag/v1`,
    'ada created a tag v1 in ada/engine': `${repo}/tree/v1`,
    'ada deleted a tag old in ada/engine': repo,
    'ada created a tag old in ada/engine': `${repo}/tree/old`,
    'ada created a branch x/y in ada/engine': `${repo}/tree/x/y`,
    'ada pushed 1 commit to main in ada/engine': `${repo}/compare/${first.sha.slice(0, 10)}...${second.sha.slice(0, 10)}`,
    'ada created a branch main in ada/engine': `${repo}/tree/main`,
    'ada created a repository ada/engine': repo,
  }
  for (const [title, link] of Object.entries(links)) assert.equal(told.get(title)?.url, link, `${title}: ${[...told.keys()]}`)
  const starred = told.get('ben starred ada/engine')
  assert.deepEqual(starred?.authors, [{ name: 'ben', email: null, url: `${web}/ben` }])
  assert.equal(starred?.image?.url, `${web}/avatars/${(await forge.nobody.read('/users/ben')).id}`)
  assert.ok(markupIn(text, 'content').some((content) => content.endsWith('<p>The &lt;first&gt;</p>')))
  const pushed = told.get('ada pushed 1 commit to main in ada/engine')
  const item = `<ul><li><code><a href="${repo}/commit/${second.sha}">${second.sha.slice(0, 7)}</a></code> Second</li></ul>`
  assert.ok(pushed?.content?.endsWith(item), pushed?.content ?? '')
  assert.ok(!feed.items.some(({ content }) => content?.includes('and more')), 'a commit is told by its first line')
})

test('user input is escaped in titles, links and content, in the feed and on the page', async () => {
  await using forge = await openEngine({ description: hostile })
  await expect(201, await forge.write('one', hostile))
  const { commit } = await expect(201, await forge.write('two', `${hostile} 🔔`))
  const branch = `a<b>&"c'/%20🔔`
  await expect(201, await forge.ada.post('/repos/ada/engine/git/refs', { ref: `refs/heads/${branch}`, sha: commit.sha }))
  const { feed, text } = await subscribe(`${forge.web}/ada.atom`)
  const made = feed.items.find(({ title }) => title === `ada created a branch ${branch} in ada/engine`)
  assert.equal(decodeURIComponent(made?.url ?? ''), `${forge.repo}/tree/${branch}`)
  const told = 'ada created a branch a&lt;b&gt;&amp;&quot;c&apos;/%20🔔 in ada/engine'
  assert.ok(markupIn(text, 'title').includes(told), markupIn(text, 'title').join('\n'))
  const contents = markupIn(text, 'content')
  assert.ok(contents.some((content) => content.includes(`</a></code> ${escaped} 🔔</li>`)))
  assert.ok(
    contents.some((content) => content.endsWith(`<p>${escaped}</p>`)),
    'the description',
  )
  assert.ok(!text.includes('<script'))
  const page = await new Guest(forge).get('/ada')
  assert.ok(page.text.includes(escaped.replaceAll('&apos;', '&#39;')) && !page.text.includes('<script>'))
})

test('characters that XML cannot represent are removed', async () => {
  await using forge = await openEngine({ description: 'one\u0001\b\u000b two\ufffe\uffff\u001b \ud800three\ttab\r\nend🔔' })
  const { text } = await subscribe(`${forge.web}/ada.atom`)
  assert.ok(!/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text))
  assert.match(text, /one two \ufffd?three\ttab&amp;#13;\nend🔔/)
})

test('an unchanged feed is a 304', async () => {
  await using forge = await openEngine()
  const url = `${forge.web}/ada.atom`
  const first = await fetch(url)
  const etag = first.headers.get('etag') ?? ''
  assert.match(etag, /^"\w{40}"$/)
  for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
    const again = await fetch(url, { headers: { 'if-none-match': tags } })
    assert.equal(again.status, 304)
    assert.equal(await again.text(), '')
    assert.equal(again.headers.get('etag'), etag)
    assert.equal(again.headers.get('content-type'), null)
  }
  const head = await fetch(url, { method: 'HEAD' })
  assert.equal(head.headers.get('etag'), etag)
  await forge.ada.owns('mill')
  const later = await fetch(url, { headers: { 'if-none-match': etag, 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' } })
  assert.equal(later.status, 200)
})

test('If-Modified-Since gives a 304 only when no earlier entry can still appear', async () => {
  await using forge = await openEngine()
  const ask = (since: string | null) => fetch(`${forge.web}/ada.atom`, { headers: { 'if-modified-since': since ?? '' } })
  const early = (await ask(null)).headers.get('last-modified')
  assert.equal((await ask(early)).status, 200, 'another act may still come before this one')
  forge.clock.advance(61_000)
  const settled = await ask(early)
  assert.equal(settled.status, 200)
  const date = settled.headers.get('last-modified')
  assert.equal(date, 'Tue, 03 Feb 2026 04:05:06 GMT')
  assert.equal((await ask(date)).status, 304)
  await forge.ada.owns('mill')
  assert.equal((await ask(date)).status, 200)
  forge.clock.advance(61_000)
  const newer = (await ask(date)).headers.get('last-modified')
  assert.equal((await ask(newer)).status, 304)
  await expect(200, await forge.ada.patch('/repos/ada/mill', { private: true }))
  const after = await ask(newer)
  assert.equal(after.status, 200, 'its newest entry was taken back')
  assert.ok(!(await after.text()).includes('mill'))
  for (const junk of ['yesterday', '0', 'Fri, 01 Jan 2100 00:00:00 GMT']) assert.equal((await ask(junk)).status, 200)
})
