import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const openHome = () => openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })

/** The sentences of a page, without markup. */
const sentencesOf = (text: string) =>
  [...text.matchAll(/<p class="activity-sentence"><span>(.*?)<\/span> <a/gs)].map(([, line = '']) =>
    line.replaceAll(/<[^>]+>/g, ''),
  )

test('a visitor sees what the server is, public activity, and the addresses for programs', async () => {
  await using forge = await openHome()
  const ada = await forge.person('ada')
  await ada.owns('engine', { description: '"><img src=x onerror=alert(1)>' })
  await ada.owns('diary', { private: true })
  const { status, text } = await new Guest(forge).get('/')
  assert.equal(status, 200)
  assert.deepEqual(sentencesOf(text), ['ada created a repository ada/engine'])
  for (const part of ['href="/signup"', 'href="/login"', `value="${forge.web}/api/v3"`, 'href="/docs"', 'href="/timeline.atom"'])
    assert.ok(text.includes(part), part)
  assert.ok(!text.includes('diary') && !text.includes('<img src=x'))
})

test('when sign-up is off, the first page does not offer it', async () => {
  await using forge = await openForge({ settings: { BELFRY_SIGNUP: 'off' } })
  assert.ok(!(await new Guest(forge).get('/')).text.includes('href="/signup"'))
})

test('a new user is shown how to begin', async () => {
  await using forge = await openHome()
  await forge.person('ada')
  const { text } = await (await signedIn(forge, 'ada')).get('/')
  for (const href of ['/new', '/new/import', '/explore?tab=people', '/explore']) assert.ok(text.includes(`href="${href}"`), href)
  assert.match(text, /Welcome, ada/)
})

test('the timeline shows watched repositories and followed people, and can be narrowed', async () => {
  await using forge = await openHome()
  const [ada, ben, cleo] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cleo')]
  await ada.owns('engine')
  await ada.owns('diary', { private: true })
  await ben.owns('notes')
  await cleo.owns('hidden', { private: true })
  assert.equal((await ada.put('/user/following/cleo')).status, 204)
  assert.equal((await cleo.put('/user/starred/ben/notes')).status, 204)
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  const { number } = await expect(201, await ben.post('/repos/ada/engine/issues', { title: 'Slow <b>', body: 'So slow' }))
  const visitor = await signedIn(forge, 'ada')
  const show = async (address: string) => sentencesOf((await visitor.get(address)).text)

  const all = await show('/')
  assert.deepEqual(all.slice(0, 3), [
    `ben opened issue #${number} in ada/engine`,
    'ben starred ada/engine',
    'cleo starred ben/notes',
  ])
  assert.ok(all.includes('ada created a repository ada/diary'))
  assert.ok(!all.join().includes('hidden'), 'not what a followed person does in private')
  assert.deepEqual(await show('/?from=people'), ['cleo starred ben/notes'])
  assert.ok(!(await show('/?from=repositories')).includes('cleo starred ben/notes'))
  assert.deepEqual(await show('/?kind=stars'), ['ben starred ada/engine', 'cleo starred ben/notes'])
  assert.deepEqual(await show('/?by=ben&repo=ADA/engine&kind=stars'), ['ben starred ada/engine'])
  assert.deepEqual(await show('/?by=ben'), [
    `ben opened issue #${number} in ada/engine`,
    'ben starred ada/engine',
    'ben created a repository ben/notes',
  ])
  for (const address of ['/?repo=cleo/hidden', '/?repo=none', '/?by=nobody', '/?repo=%2F%00', '/?by=%01'])
    assert.match((await visitor.get(address)).text, /no such repository or person/, address)
  assert.match((await visitor.get('/?kind=releases')).text, /Nothing matches the filter/)
})

test('more events are a link, whose page does not change when something happens', async () => {
  await using forge = await openHome()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (let number = 1; number <= 31; number++)
    await expect(201, await ada.post('/repos/ada/engine/issues', { title: `Issue ${number}` }))
  const visitor = await signedIn(forge, 'ada')
  const { text } = await visitor.get('/')
  forge.clock.advance(1000)
  assert.equal(sentencesOf(text).length, 30)
  const more = /href="(\/\?until=\d+&amp;page=2)">/.exec(text)?.[1]?.replace('&amp;', '&') ?? ''
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Late' }))
  const rest = await visitor.get(more)
  assert.deepEqual(sentencesOf(rest.text), ['ada opened issue #1 in ada/engine', 'ada created a repository ada/engine'])
  for (const odd of ['/?page=999', '/?page=-1', '/?until=x&page=2', '/?until=99999999999999&page=2'])
    assert.equal((await visitor.get(odd)).status, 200, odd)
})

test('beside it are the repositories, unread threads and pull requests of the visitor', async () => {
  await using forge = await openHome()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ada.owns('notes')
  await ben.owns('secret', { private: true })
  await expect(201, await ben.post('/repos/ada/engine/issues', { title: 'Look at this', assignees: ['ada'] }))
  const visitor = await signedIn(forge, 'ada')
  const { text } = await visitor.get('/')
  const side = text.slice(text.indexOf('<aside'))
  assert.ok(side.includes('data-name="ada/engine"') && side.includes('data-name="ada/notes"') && !side.includes('secret'))
  assert.match(side, /<a class="side-title" href="\/ada\/engine\/issues\/1"><bdi>Look at this/)
  assert.match(side, /You have no open pull requests/)
  const found = (await visitor.get('/?find=NOT')).text
  assert.ok(found.includes('data-name="ada/notes"') && !found.includes('data-name="ada/engine"'))
})
