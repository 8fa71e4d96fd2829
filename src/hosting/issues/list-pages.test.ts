import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { parseTemplate } from './templates.ts'
import { stateIn, withState, withToggled, withValue } from './views/list-query.ts'

const inject = injecting(openWithEngine)
const list = '/ada/engine/issues'

test('a list is searched with the syntax of the search, within its repository', inject(async (forge) => {
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'good first issue', color: '7057ff' }))
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  await forge.open({ title: 'Leaking boiler', labels: ['good first issue'], milestone: 1 })
  await forge.open({ title: 'Broken wheel', assignees: ['ben'] })
  await forge.open({ title: 'Boiler paint' }, forge.dan)
  await expect(200, await forge.ada.patch(`${engine}/issues/2`, { state: 'closed' }))
  await forge.ada.owns('other')
  await expect(201, await forge.ada.post('/repos/ada/other/issues', { title: 'Boiler elsewhere' }))
  const nobody = new Guest(forge)
  const titles = async (q: string) => {
    const { text, status } = await nobody.get(`${list}?${new URLSearchParams({ q })}`)
    assert.equal(status, 200, q)
    return [...text.matchAll(/class="issue-title"[^>]*><bdi>([^<]*)</g)].map(([, title]) => title)
  }
  assert.deepEqual(await titles('is:issue is:open'), ['Boiler paint', 'Leaking boiler'])
  assert.deepEqual(await titles('is:issue'), ['Boiler paint', 'Broken wheel', 'Leaking boiler'])
  assert.deepEqual(await titles('is:issue is:open sort:created-asc'), ['Leaking boiler', 'Boiler paint'])
  assert.deepEqual(await titles('boiler author:dan'), ['Boiler paint'])
  assert.deepEqual(await titles('label:"good first issue"'), ['Leaking boiler'])
  assert.deepEqual(await titles('milestone:Steam'), ['Leaking boiler'])
  assert.deepEqual(await titles('no:assignee no:label'), ['Boiler paint'])
  assert.deepEqual(await titles('assignee:ben is:closed'), ['Broken wheel'])
  assert.deepEqual(await titles('boiler repo:ada/other sort:created-asc'), ['Leaking boiler', 'Boiler paint'])
  assert.deepEqual(await titles('nothing-like-this'), [])
  const counted = (await nobody.get(list)).text
  assert.match(counted, /<span>Open<\/span><span class="counter">2<\/span>.*<span>Closed<\/span><span class="counter">1<\/span>/)
  const refused = await nobody.get(`${list}?q=is%3Ablue`)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /role="alert".*is:blue is not supported/is)
  assert.match(refused.text, /value="is:blue "/)
}))

test('menus write the query', () => {
  const q = 'is:issue is:open "two words"'
  assert.equal(withValue(q, 'author', 'ada'), `${q} author:ada`)
  assert.equal(withValue(`${q} author:ada`, 'author', null), q)
  assert.equal(withToggled(q, 'label', 'good first issue'), `${q} label:"good first issue"`)
  assert.equal(withToggled(`${q} label:"Good first issue" label:bug`, 'label', 'good first issue'), `${q} label:bug`)
  assert.equal(withToggled(q, 'label', 'a"b'), `${q} label:"ab"`)
  assert.equal(withState('is:issue is:open boiler', 'closed'), 'is:issue is:closed boiler')
  assert.deepEqual([stateIn('is:closed'), stateIn('state:open'), stateIn('boiler')], ['closed', 'open', undefined])
})

test('users with triage access close and label selected rows', inject(async (forge) => {
  for (const title of ['One', 'Two', 'Three']) await forge.open({ title })
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug', color: 'd73a4a' }))
  const [cy, dan] = [await signedIn(forge, 'cy'), await signedIn(forge, 'dan')]
  assert.match((await cy.get(list)).text, /name="number" value="3"/)
  const closed = await cy.post(`${list}/bulk`, {
    number: ['1', '3'],
    state: 'closed not_planned',
    q: 'is:issue is:open',
    list: 'issues',
  })
  assert.match(closed.location ?? '', /^\/ada\/engine\/issues\?q=is%3Aissue\+is%3Aopen/)
  await cy.post(`${list}/bulk`, { number: '2', label: 'bug' })
  const all = await forge.ada.read(`${engine}/issues?state=all&direction=asc`)
  const facts = all.map(({ state, state_reason, labels }: Record<string, unknown[]>) => [state, state_reason, labels?.length])
  assert.deepEqual(facts, [
    ['closed', 'not_planned', 0],
    ['open', null, 1],
    ['closed', 'not_planned', 0],
  ])
  assert.equal((await dan.get(list)).text.includes('name="number"'), false)
  assert.equal((await dan.post(`${list}/bulk`, { number: '2', state: 'closed' })).status, 403)
  assert.equal((await cy.post(`${list}/bulk`, { state: 'closed' })).status, 422)
  assert.equal((await cy.post(`${list}/bulk`, { number: '99', state: 'closed' })).status, 404)
}))

test('a new issue gets labels, assignees and a milestone from those who may set them', inject(async (forge) => {
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug', color: 'd73a4a' }))
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  const fields = { title: 'Smoke', body: 'Text', label: 'bug', assignee: 'ben', milestone: '1' }
  const [cy, dan] = [await signedIn(forge, 'cy'), await signedIn(forge, 'dan')]
  assert.equal((await cy.fill(`${list}/new`, fields)).location, `${list}/1`)
  assert.equal((await dan.fill(`${list}/new`, fields)).location, `${list}/2`)
  const facts = async (number: number) => {
    const { labels, assignees, milestone } = await forge.ada.read(`${engine}/issues/${number}`)
    return [labels.length, assignees.length, milestone?.number ?? null]
  }
  assert.deepEqual(
    [await facts(1), await facts(2)],
    [
      [1, 1, 1],
      [0, 0, null],
    ],
  )
  const shown = await cy.post(`${list}/new`, { ...fields, title: '<b>', body: '**x**', preview: 'yes' })
  assert.match(shown.text, /value="&lt;b&gt;".*<strong>x<\/strong>/s)
  assert.match(shown.text, /value="bug" checked/)
  assert.match((await dan.get(`${list}/new?title=A%26B&body=Hi`)).text, /value="A&amp;B".*\nHi<\/textarea>/s)
}))

test('templates of the default branch begin new issues', inject(async (forge) => {
  const text =
    '---\nname: "Bug: report"\nabout: Something <b>broke</b>\ntitle: \'[bug] \'\nlabels: bug, "help wanted"\nassignees:\n  - ben\n---\n\n**What happened?**\n'
  const content = Buffer.from(text).toString('base64')
  await expect(201, await forge.ada.put(`${engine}/contents/.github/ISSUE_TEMPLATE/bug.md`, { message: 'Add', content }))
  const dan = await signedIn(forge, 'dan')
  const choose = await dan.get(`${list}/new`)
  assert.match(choose.text, /Bug: report.*Something &lt;b&gt;broke&lt;\/b&gt;.*new\?template=bug\.md.*Blank issue/s)
  assert.match((await dan.get(`${list}/new?template=bug.md`)).text, /value="\[bug\] ".*\*\*What happened\?\*\*<\/textarea>/s)
  assert.match((await dan.get(`${list}/new?blank`)).text, /id="body"/)
  const { name, labels, assignees, title } = parseTemplate('bug.md', text)
  assert.deepEqual(
    { name, labels, assignees, title },
    { name: 'Bug: report', labels: ['bug', 'help wanted'], assignees: ['ben'], title: '[bug] ' },
  )
  assert.equal(parseTemplate('plain.md', 'Just text').body, 'Just text')
}))
