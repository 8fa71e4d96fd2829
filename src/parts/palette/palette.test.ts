import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

interface Answer {
  groups: { title: string; items: { text: string; href: string; icon: string; detail?: string; post?: object }[] }[]
  icons: Record<string, string>
}

const ask = async (who: Guest, q: string, here = ''): Promise<Answer> => {
  const { status, text, headers } = await who.get(`/search/palette?${new URLSearchParams({ q, here })}`)
  assert.equal(status, 200, q)
  assert.match(headers.get('content-type') ?? '', /json/)
  return JSON.parse(text)
}

/** The addresses of a group. */
const hrefsOf = ({ groups }: Answer, title: string) =>
  groups.find((group) => group.title === title)?.items.map(({ href }) => href) ?? []

test('the palette finds repositories, people, issues by number, pages and actions', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await ada.owns('diary', { private: true })
  await ben.owns('engine-notes')
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: '<b>First' }))
  await expect(201, await ada.post('/repos/ada/diary/issues', { title: 'Secret' }))
  const visitor = await signedIn(forge, 'ada')
  const nothing = await ask(visitor, '')
  assert.deepEqual(new Set(hrefsOf(nothing, 'Repositories')), new Set(['/ada/diary', '/ada/engine']))
  assert.ok(hrefsOf(nothing, 'Pages').includes('/settings/security') && hrefsOf(nothing, 'Actions').includes('/new'))
  const engine = await ask(visitor, 'engine')
  assert.deepEqual(hrefsOf(engine, 'Repositories'), ['/ada/engine', '/ben/engine-notes'])
  assert.deepEqual(hrefsOf(engine, 'Search'), ['/search?q=engine'])
  assert.deepEqual(hrefsOf(await ask(visitor, 'ben/eng'), 'Repositories'), ['/ben/engine-notes'])
  assert.deepEqual(hrefsOf(await ask(visitor, '@be'), 'People'), ['/ben'])
  const numbered = 'Issues and pull requests'
  for (let count = 1; count <= 4; count++) await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'A worn cog' }))
  assert.equal(hrefsOf(await ask(visitor, 'cog'), numbered).length, 3, 'the rest is on the page of the search')
  assert.deepEqual(new Set(hrefsOf(await ask(visitor, '#1'), numbered)), new Set(['/ada/engine/issues/1', '/ada/diary/issues/1']))
  assert.deepEqual(hrefsOf(await ask(visitor, '#1', 'ada/engine'), numbered), ['/ada/engine/issues/1'])
  const named = await ask(visitor, 'ADA/engine#1')
  assert.deepEqual(named.groups[0]?.items[0], {
    text: 'ada/engine#1',
    detail: '<b>First',
    icon: 'issue-opened',
    href: '/ada/engine/issues/1',
  })
  const commands = await ask(visitor, '>new', 'ada/engine')
  assert.deepEqual(hrefsOf(commands, 'Actions').slice(0, 2), ['/ada/engine/issues/new', '/new'])
  assert.deepEqual(hrefsOf(await ask(visitor, '>', 'ada/engine'), 'ada/engine').slice(0, 2), [
    '/ada/engine',
    '/ada/engine/issues',
  ])
  assert.ok(named.icons['issue-opened']?.startsWith('<svg'))
})

test('the palette shows nothing that the visitor may not see, and takes any text', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await forge.person('ben')
  await ada.owns('diary', { private: true })
  await expect(201, await ada.post('/repos/ada/diary/issues', { title: 'Secret' }))
  for (const who of [await signedIn(forge, 'ben'), new Guest(forge)])
    for (const [q, here] of [['diary'], ['#1'], ['#1', 'ada/diary'], ['ada/diary#1'], ['>', 'ada/diary'], ['']] as [
      string,
      string?,
    ][])
      assert.ok(
        !/diary"|Secret/.test(JSON.stringify((await ask(who, q, here)).groups.filter(({ title }) => title !== 'Search'))),
        `${q} ${here}`,
      )
  const guest = new Guest(forge)
  for (const odd of ['\0', '#', '#999999999', '"', "'--", 'is:open', 'repo:x', '%', '/', '>', '@', 'x'.repeat(5000), '💥', '\\'])
    await ask(guest, odd, odd)
})
