import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const inject = injecting(openWithEngine)
const page = '/ada/engine/issues/1'

/** The text of a page without markup, with single spaces. */
const plain = (text: string) => text.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ')

const bodyOf = (path: string, who: { read(path: string): Promise<{ body: string }> }) => who.read(path).then(({ body }) => body)

test('one timeline has comments and events in their order', inject(async (forge) => {
  await forge.open()
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug', color: 'd73a4a' }))
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  forge.clock.advance(120_000)
  await expect(201, await forge.ada.post(`${engine}/issues/1/comments`, { body: 'First words' }))
  forge.clock.advance(120_000)
  await expect(200, await forge.ada.patch(`${engine}/issues/1`, { labels: ['bug', 'new one'], assignees: ['ada'], milestone: 1 }))
  forge.clock.advance(120_000)
  await expect(201, await forge.dan.post(`${engine}/issues/1/comments`, { body: 'Second words' }))
  forge.clock.advance(120_000)
  await expect(200, await forge.ada.patch(`${engine}/issues/1`, { title: '<i>Fire</i>' }))
  forge.clock.advance(120_000)
  await expect(200, await forge.ada.patch(`${engine}/issues/1`, { labels: ['bug'], assignees: ['ben', 'cy'] }))
  forge.clock.advance(120_000)
  await expect(204, await forge.ada.put(`${engine}/issues/1/lock`, { lock_reason: 'resolved' }))
  forge.clock.advance(120_000)
  await expect(200, await forge.ada.patch(`${engine}/issues/1`, { state: 'closed', state_reason: 'not_planned' }))
  forge.clock.advance(120_000)
  await expect(200, await forge.ada.patch(`${engine}/issues/1`, { state: 'open' }))
  const shown = plain((await new Guest(forge).get(page)).text)
  const parts = [
    'First words',
    'ada added this to the milestone Steam',
    'ada self-assigned this',
    'ada added bug new one',
    'Second words',
    'changed the title from Smoke to &lt;i&gt;Fire&lt;/i&gt;',
    'ada assigned ben cy and unassigned ada',
    'ada removed new one',
    'ada locked this as resolved',
    'ada closed this as not planned',
    'ada reopened this',
  ]
  const places = parts.map((part) => shown.indexOf(part))
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
    parts.filter((_, index) => (places[index] ?? -1) < 0).join(),
  )
  assert.ok((places[0] ?? -1) > 0)
  assert.match(shown, /2 participants/)
}))

test('titles and texts are edited in place by those who may, and a text that changed meanwhile is not overwritten', inject(async (forge) => {
  const { id } = await forge.open({ body: 'Old body' })
  const said = await expect(201, await forge.dan.post(`${engine}/issues/1/comments`, { body: 'Old words' }))
  const [ada, dan] = [await signedIn(forge, 'ada'), await signedIn(forge, 'dan')]
  const post = `issuecomment-${said.id}`
  assert.equal((await ada.get(`${page}?edit=title`)).text.includes('Save title'), true)
  assert.equal((await dan.get(`${page}?edit=title`)).text.includes('Save title'), false)
  assert.equal((await ada.post(`${page}/title`, { title: 'Fire' })).location, page)
  assert.match((await ada.post(`${page}/title`, { title: ' ' })).text, /Title is missing\..*id="title"/s)
  assert.equal((await dan.post(`${page}/title`, { title: 'Mine' })).status, 403)
  const versionIn = (text: string) => /name="version" value="(\w+)"/.exec(text)?.[1] ?? ''
  const editing = await dan.get(`${page}?edit=${post}`)
  assert.match(editing.text, /Old words<\/textarea>/)
  assert.equal((await dan.get(`${page}?edit=issue-${id}`)).text.includes('Old body</textarea>'), false)
  const version = versionIn(editing.text)
  assert.equal((await dan.post(`${page}/edit`, { post, version, body: 'New words' })).location, `${page}#${post}`)
  const late = await ada.post(`${page}/edit`, { post, version, body: 'Other words' })
  assert.match(late.text, /Somebody changed this text.*Other words<\/textarea>/s)
  assert.equal(await bodyOf(`${engine}/issues/comments/${said.id}`, forge.ada), 'New words')
  assert.equal((await ada.post(`${page}/edit`, { post, version: versionIn(late.text), body: 'Other words' })).status, 303)
  assert.match((await dan.get(page)).text, /Other words[\s\S]*?<\/article>/)
  const preview = await ada.post(`${page}/edit`, { post, version, body: '**bold**', preview: 'yes' })
  assert.match(preview.text, /aria-label="Preview"><div class="markdown"><p><strong>bold<\/strong>/)
  assert.equal((await ada.post(`${page}/edit`, { post: 'other', version, body: 'x', preview: 'yes' })).status, 404)
  assert.equal(
    (
      await dan.post(`${page}/edit`, {
        post: `issue-${id}`,
        version: versionIn((await ada.get(`${page}?edit=issue-${id}`)).text),
        body: 'x',
      })
    ).status,
    403,
  )
  assert.match((await dan.get(`${page}?delete=${post}`)).text, /Delete this comment\?/)
  assert.equal((await dan.post(`${page}/delete`, { post })).status, 303)
  assert.equal((await forge.ada.get(`${engine}/issues/comments/${said.id}`)).status, 404)
  assert.equal((await dan.post(`${page}/delete`, { post })).status, 404)
  assert.equal((await dan.post(`${page}/delete`, { post: `issue-${id}` })).status, 404)
}))

test('a text can be quoted, and previewed before it is sent', inject(async (forge) => {
  await forge.open()
  const said = await expect(201, await forge.ada.post(`${engine}/issues/1/comments`, { body: 'One\n\nTwo' }))
  await forge.open({ title: 'Other' })
  const dan = await signedIn(forge, 'dan')
  assert.match((await dan.get(`${page}?quote=issuecomment-${said.id}`)).text, /&gt; One\n&gt; \n&gt; Two\n\n<\/textarea>/)
  assert.equal((await dan.get(`/ada/engine/issues/2?quote=issuecomment-${said.id}`)).text.includes('&gt; One'), false)
  const shown = await dan.post(`${page}/comments`, { body: 'See #2 <b>', preview: 'yes' })
  assert.match(
    shown.text,
    /<a href="\/ada\/engine\/issues\/2">#2<\/a> &lt;b&gt;.*See #2 &lt;b&gt;<\/textarea>|See #2 &lt;b&gt;<\/textarea>.*<a href="\/ada\/engine\/issues\/2">/s,
  )
  assert.equal((await forge.ada.read(`${engine}/issues/1/comments`)).length, 1)
  const part = await dan.post('/ada/engine/preview', { body: '*it* @ada' })
  assert.equal(part.text, '<p><em>it</em> <a href="/ada">@ada</a></p>\n')
  assert.equal(part.headers.get('content-security-policy'), 'sandbox')
}))

test('reactions are added and taken back, and only with push access in a locked conversation', inject(async (forge) => {
  const { id } = await forge.open()
  const said = await expect(201, await forge.ada.post(`${engine}/issues/1/comments`, { body: 'Hello' }))
  const dan = await signedIn(forge, 'dan')
  await dan.get(page)
  const react = (post: string, content: string) => dan.post(`${page}/reactions`, { post, content })
  assert.equal((await react(`issue-${id}`, 'heart')).location, `${page}#issue-${id}`)
  await react(`issuecomment-${said.id}`, '+1')
  const counts = async () => [
    (await forge.ada.read(`${engine}/issues/1`)).reactions.heart,
    (await forge.ada.read(`${engine}/issues/comments/${said.id}`)).reactions['+1'],
  ]
  assert.deepEqual(await counts(), [1, 1])
  assert.match((await dan.get(page)).text, /value="heart" aria-pressed="true"/)
  await react(`issue-${id}`, 'heart')
  assert.deepEqual(await counts(), [0, 1])
  for (const [post, content] of [
    ['issue-9999', 'heart'],
    [`issue-${id}`, 'poke'],
    ['x', 'heart'],
  ] as const) {
    assert.equal((await react(post, content)).status, 404, post)
  }
  await expect(204, await forge.ada.put(`${engine}/issues/1/lock`))
  assert.equal((await react(`issue-${id}`, 'heart')).status, 403)
}))

test('labels, assignees, milestone and lock are changed beside the conversation, without losing what others changed', inject(async (forge) => {
  await forge.open()
  for (const name of ['bug', 'easy', 'late'])
    await expect(201, await forge.ada.post(`${engine}/labels`, { name, color: 'ededed' }))
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  const [ada, cy, dan] = [await signedIn(forge, 'ada'), await signedIn(forge, 'cy'), await signedIn(forge, 'dan')]
  await cy.get(page)
  await cy.post(`${page}/labels`, { label: ['bug', 'easy'] })
  await expect(200, await forge.ada.post(`${engine}/issues/1/labels`, { labels: ['late'] }))
  await cy.post(`${page}/labels`, { had: ['bug', 'easy'], label: ['easy'] })
  await cy.post(`${page}/assignees`, { assignee: ['cy', 'ben'] })
  await cy.post(`${page}/milestone`, { milestone: '1' })
  const facts = async () => {
    const { labels, assignees, milestone, locked, active_lock_reason } = await forge.ada.read(`${engine}/issues/1`)
    const names = [labels.map(({ name }: { name: string }) => name), assignees.map(({ login }: { login: string }) => login)]
    return [...names, milestone?.title ?? null, locked, active_lock_reason]
  }
  assert.deepEqual(await facts(), [['easy', 'late'], ['ben', 'cy'], 'Steam', false, null])
  const refused = await cy.post(`${page}/assignees`, { assignee: 'dan' })
  assert.match(refused.text, /&#39;dan&#39; cannot be assigned here/)
  await cy.post(`${page}/milestone`, { milestone: '' })
  assert.equal((await cy.post(`${page}/lock`, { lock: 'yes' })).status, 403, 'a lock needs push access')
  await ada.get(page)
  await ada.post(`${page}/lock`, { lock: 'yes', reason: 'spam' })
  assert.deepEqual(await facts(), [['easy', 'late'], ['ben', 'cy'], null, true, 'spam'])
  await ada.post(`${page}/lock`, { lock: 'no' })
  await dan.get(page)
  for (const verb of ['labels', 'assignees', 'milestone', 'lock'])
    assert.equal((await dan.post(`${page}/${verb}`, { label: 'bug' })).status, 403, verb)
  assert.deepEqual(await facts(), [['easy', 'late'], ['ben', 'cy'], null, false, null])
  assert.equal((await dan.get(page)).text.includes('Change: Labels'), false)
}))

test('an issue is closed with a reason, and a task of its text is checked', inject(async (forge) => {
  const body = 'To do:\n\n- [ ] one\n- [x] two\n\n```\n- [ ] no task\n```\n1. [ ] three'
  const { id } = await forge.open({ body })
  const [ada, dan] = [await signedIn(forge, 'ada'), await signedIn(forge, 'dan')]
  const shown = (await ada.get(page)).text
  const version = /data-version="(\w+)"/.exec(shown)?.[1] ?? ''
  const check = (guest: Guest, task: string, done: string) =>
    guest.post(`${page}/tasks`, { post: `issue-${id}`, version, task, done })
  assert.equal((await check(ada, '2', 'yes')).status, 303)
  assert.equal(await bodyOf(`${engine}/issues/1`, forge.ada), body.replace('1. [ ] three', '1. [x] three'))
  assert.equal((await check(ada, '0', 'yes')).status, 409, 'the text has changed')
  const again = (await ada.get(page)).text
  assert.equal(
    (
      await ada.post(`${page}/tasks`, {
        post: `issue-${id}`,
        version: /data-version="(\w+)"/.exec(again)?.[1] ?? '',
        task: '7',
        done: 'yes',
      })
    ).status,
    409,
  )
  assert.equal((await dan.get(page)).text.includes('data-tasks'), false)
  assert.equal((await check(dan, '0', 'yes')).status >= 400, true)
  await ada.post(`${page}/comments`, { state: 'closed duplicate' })
  const { state, state_reason } = await forge.ada.read(`${engine}/issues/1`)
  assert.deepEqual([state, state_reason], ['closed', 'duplicate'])
  assert.match((await dan.get(page)).text, /Closed as a duplicate/)
}))

test('an issue shows who mentions it elsewhere, to those who may see that place', inject(async (forge) => {
  await forge.open()
  const other = await forge.open({ title: 'Other <b>', body: 'Like #1 and #1, not `#1`, and #99.' }, forge.dan)
  await forge.ada.owns('secret', { private: true })
  await expect(
    201,
    await forge.ada.post('/repos/ada/secret/issues', { title: 'Hidden', body: 'See ada/engine#1 and ada/secret#1' }),
  )
  await expect(201, await forge.dan.post(`${engine}/issues/1/comments`, { body: 'I mean #1 and #2' }))
  const said = await expect(201, await forge.ben.post(`${engine}/issues/2/comments`, { body: 'Hello' }))
  await forge.open({ title: 'Third', body: '> #1' })
  await expect(200, await forge.ben.patch(`${engine}/issues/comments/${said.id}`, { body: 'Again #3' }))
  const mentions = async (guest: Guest, number: number) => {
    const { text } = await guest.get(`/ada/engine/issues/${number}`)
    return [...text.matchAll(/class="timeline-reference">.*?href="([^"]*)"/gs)].map(([, href]) => href)
  }
  const nobody = new Guest(forge)
  assert.deepEqual(await mentions(nobody, 1), ['/ada/engine/issues/2'])
  assert.deepEqual(await mentions(await signedIn(forge, 'ada'), 1), ['/ada/engine/issues/2', '/ada/secret/issues/1'])
  const [answer] = await forge.ada.read(`${engine}/issues/1/comments`)
  assert.deepEqual(await mentions(nobody, 2), [`/ada/engine/issues/1#issuecomment-${answer.id}`])
  assert.deepEqual(await mentions(nobody, 3), [`/ada/engine/issues/2#issuecomment-${said.id}`])
  assert.match((await nobody.get(page)).text, /Other &lt;b&gt;/)
  assert.equal(other.number, 2)
  await expect(204, await forge.ben.delete(`${engine}/issues/comments/${said.id}`))
  assert.deepEqual(await mentions(nobody, 3), [])
}))
