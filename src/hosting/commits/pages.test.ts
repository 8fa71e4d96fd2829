import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { seeding } from '#test/seeding.ts'

const hostile = '<script>alert(1)</script> "><img onerror=x>'

/** Ada's engine with a merge, and a commit whose message is hostile. */
const seed = seeding('ada', async (work) => {
  const root = await work.commit('Begin', { 'src/mill.txt': 'wheel\n' })
  await work.git('checkout', '--quiet', '-b', 'topic')
  const topic = await work.commit(`${hostile}\n\nWhy <b>not</b>`, { 'src/mill.txt': 'wheel\naxle\n', 'notes.txt': 'A note\n' })
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Describe', { 'readme.txt': 'Read me\n' })
  await work.git('merge', '--quiet', '--no-ff', '-m', 'Merge topic', 'topic')
  return { branches: { main: await work.head(), topic }, root }
})

const inject = injecting(async () => {
  const forge = await openWithEngine()
  const { branches, root } = await seed(forge, forge.ada)
  return Object.assign(forge, { ...branches, root, guest: new Guest(forge) })
})

const titles = (text: string) => [...text.matchAll(/class="commit-title" href="[^"]*">([^<]*)</g)].map(([, title]) => title)

test('commits are listed newest first by day, with a graph, their checks and comments', inject(async ({
  ada,
  dan,
  guest,
  main,
  topic,
}) => {
  await expect(201, await ada.post(`/repos/ada/engine/statuses/${main}`, { state: 'failure', context: 'ci' }))
  await expect(201, await dan.post(`/repos/ada/engine/commits/${main}/comments`, { body: 'Hm' }))
  const { status, text } = await guest.get('/ada/engine/commits/main')
  assert.equal(status, 200)
  assert.equal(titles(text).length, 4)
  assert.equal(titles(text)[0], 'Merge topic')
  assert.equal(text.match(/class="lane-\d merge"/g)?.length, 1)
  assert.match(text, /class="check-state failure" title="Checks failed: 0 of 1 succeeded"/)
  assert.match(text, new RegExp(`href="/ada/engine/commit/${main}#comments"`))
  assert.match(text, new RegExp(`data-copy="${topic}"`))
  assert.match(text, /<link rel="alternate"[^>]*href="\/ada\/engine\/commits\/main\.atom"/)
  assert.equal(titles((await guest.get('/ada/engine/commits/main?author=ada')).text).length, 4)
  for (const none of ['nobody-here', 'a%00b', hostile, 'x'.repeat(999)]) {
    const found = await guest.get(`/ada/engine/commits/main?author=${encodeURIComponent(none)}`)
    assert.match(found.text, /No commits by this author/)
    assert.doesNotMatch(found.text, /<script>alert/)
  }
  assert.match(text, /Why &lt;b&gt;not&lt;\/b&gt;/)
  assert.doesNotMatch(text, /<script>alert|<img onerror|<b>not/)
  for (const path of ['commits/none', 'commits/main%00', 'commits/-x'])
    assert.equal((await guest.get(`/ada/engine/${path}`)).status, 404, path)
}))

test('a commit shows its message, parents, files and comments, also as a text', inject(async ({
  dan,
  guest,
  main,
  topic,
  root,
}) => {
  const on = `/repos/ada/engine/commits/${topic}/comments`
  await expect(201, await dan.post(on, { body: 'On the axle', path: 'src/mill.txt', position: 2 }))
  await expect(201, await dan.post(on, { body: 'On a line that is not there', path: 'src/mill.txt', line: 99 }))
  const page = await guest.get(`/ada/engine/commit/${topic.slice(0, 8)}`)
  assert.equal(page.status, 200)
  assert.match(page.text, new RegExp(`href="/ada/engine/commit/${root}"`))
  assert.match(page.text, /<h1 dir="auto">&lt;script&gt;/)
  assert.doesNotMatch(page.text, /<script>alert|<img onerror/)
  const [files = '', comments = ''] = page.text.split('id="comments"')
  assert.match(files, /axle[\s\S]*On the axle/)
  assert.match(comments, /On a line that is not there/)
  assert.match((await guest.get(`/ada/engine/commit/${main}`)).text, /2 parents/)
  assert.match((await guest.get(`/ada/engine/commit/${root}`)).text, /The first commit[\s\S]*wheel/)
  assert.match((await guest.get(`/ada/engine/commit/${topic}.diff`)).text, /^diff --git/)
  assert.match((await guest.get(`/ada/engine/commit/${topic}.patch`)).text, new RegExp(`^From ${topic}`))
}))

test('a signed-in user comments on a commit; a refused comment is shown again', inject(async ({ forge, ada, guest, main }) => {
  const visitor = await signedIn(forge, 'dan')
  const path = `/ada/engine/commit/${main}`
  const { location } = await visitor.fill(path, { body: 'Well **done**' }, `${path}/comments`)
  assert.match(location ?? '', new RegExp(`^${path}#commitcomment-\\d+$`))
  assert.match((await guest.get(path)).text, /Well <strong>done<\/strong>/)
  const line = /href="([^"]*\?comment=(d\w+R2)#[^"]*)" class="comment-link" aria-label="Comment on line 2"/.exec(
    (await visitor.get(path)).text,
  )
  assert.doesNotMatch((await guest.get(path)).text, /comment-link/)
  const begun = await visitor.get((line?.[1] ?? '').replace(/#.*/, ''))
  const [, position = ''] = /name="position" value="(\d+)"/.exec(begun.text) ?? []
  assert.match(begun.text, /Comment on this line/)
  await visitor.post(`${path}/comments`, { body: 'On *this* line', path: 'src/mill.txt', position })
  assert.match((await guest.get(path)).text.split('id="comments"')[0] ?? '', /axle[\s\S]*On <em>this<\/em> line/)
  const empty = await visitor.post(`${path}/comments`, { body: '', path: 'src/mill.txt', position })
  assert.match(empty.text.split('id="comments"')[0] ?? '', /role="alert"[\s\S]*Comment on this line/)
  for (const odd of ['x', 'dffffffffffR1', `${line?.[2]}999`])
    assert.equal((await visitor.get(`${path}?comment=${odd}`)).status, 200)
  const refused = await visitor.post(`${path}/comments`, { body: '  ' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /role="alert"/)
  await expect(200, await ada.patch('/repos/ada/engine', { archived: true }))
  assert.equal((await visitor.post(`${path}/comments`, { body: 'Late' })).status, 403)
  assert.match((await visitor.get(path)).text, /archived, so nobody can comment/)
}))

test('the author and users with push access edit and delete a comment on its commit', inject(async ({
  forge,
  clock,
  ada,
  guest,
  main,
  root,
}) => {
  const [author, owner, stranger] = [await signedIn(forge, 'dan'), await signedIn(forge, 'ada'), await signedIn(forge, 'cy')]
  const path = `/ada/engine/commit/${main}`
  await author.fill(path, { body: 'Well done' }, `${path}/comments`)
  const post = /id="(commitcomment-\d+)"/.exec((await guest.get(path)).text)?.[1] ?? ''
  const asked = `${path}?edit=${post}`
  const versionIn = (text: string) => /name="version" value="(\w+)"/.exec(text)?.[1] ?? ''
  for (const other of [guest, stranger]) {
    assert.doesNotMatch((await other.get(asked)).text, /name="version"|>Edit</)
    assert.doesNotMatch((await other.get(`${path}?delete=${post}`)).text, /Delete this comment/)
  }
  const form = await author.get(asked)
  assert.match(form.text, /<textarea[^>]*>\s*Well done/)
  const version = versionIn(form.text)
  assert.match((await author.post(`${path}/edit`, { post, version, body: '*Look*', preview: 'yes' })).text, /<em>Look<\/em>/)
  assert.equal((await author.post(`${path}/edit`, { post: 'commitcomment-', version, body: 'New' })).status, 404)
  const empty = await author.post(`${path}/edit`, { post, version, body: ' ' })
  assert.equal(empty.status, 422)
  assert.match(empty.text, /role="alert"[\s\S]*name="version"/)
  clock.advance(1000)
  const saved = await author.post(`${path}/edit`, { post, version, body: hostile })
  assert.equal(saved.location, `${path}#${post}`)
  const shown = (await guest.get(path)).text
  assert.match(shown, />edited</)
  assert.doesNotMatch(shown, /<script>alert|<img onerror/)
  const late = await author.post(`${path}/edit`, { post, version, body: 'Mine' })
  assert.equal(late.status, 422)
  assert.match(late.text, /Somebody changed this text[\s\S]*>\s*Mine/)
  await stranger.get(path)
  assert.equal((await stranger.post(`${path}/edit`, { post, version: versionIn(late.text), body: 'x' })).status, 403)
  assert.equal((await owner.fill(path, { post, version: versionIn(late.text), body: 'Ours' }, `${path}/edit`)).status, 303)
  assert.equal((await stranger.post(`${path}/delete`, { post })).status, 403)
  for (const odd of ['', 'commitcomment-0', 'issue-1'])
    assert.equal((await author.post(`${path}/delete`, { post: odd })).status, 404)
  assert.equal((await author.post(`/ada/engine/commit/${root}/delete`, { post })).status, 404, 'a comment on another commit')
  assert.match((await author.get(`${path}?delete=${post}`)).text, /Delete this comment\?/)
  await expect(200, await ada.patch('/repos/ada/engine', { archived: true }))
  assert.equal((await author.post(`${path}/delete`, { post })).status, 403)
  await expect(200, await ada.patch('/repos/ada/engine', { archived: false }))
  assert.match((await author.postAndFollow(`${path}/delete`, { post })).text, /The comment is deleted/)
  assert.doesNotMatch((await guest.get(path)).text, /commitcomment-/)
}))
