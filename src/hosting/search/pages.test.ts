import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

async function openSearch() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('steam-engine', { description: `Of brass ${hostile}`, auto_init: true })
  await ada.owns('secret-steam', { private: true })
  await expect(200, await ada.put('/repos/ada/steam-engine/topics', { names: ['brass'] }))
  await expect(201, await ada.post('/repos/ada/steam-engine/issues', { title: `Steam leaks ${hostile}` }))
  await expect(201, await ada.post('/repos/ada/secret-steam/issues', { title: 'Steam in secret' }))
  await expect(
    201,
    await ada.put('/repos/ada/steam-engine/contents/a.txt', { message: 'Add boiler', content: btoa('the boiler\n') }),
  )
  await expect(204, await ben.put('/user/starred/ada/steam-engine'))
  return Object.assign(forge, { ada, ben, guest: new Guest(forge) })
}

/** The tabs of a page with their counts. */
const countsOf = (text: string) =>
  Object.fromEntries(
    [...(/<nav class="tabs".*?<\/nav>/s.exec(text)?.[0] ?? '').matchAll(/&amp;type=(\w+)"[^>]*>.*?<\/li>/g)].map(
      ([whole, type]) => [type, /counter">(\w+)</.exec(whole)?.[1]],
    ),
  )

test('a search shows each kind of results, and counts the others', async () => {
  await using forge = await openSearch()
  const { guest } = forge
  const repositories = await guest.get('/search?q=steam')
  assert.deepEqual(countsOf(repositories.text), {
    repositories: '1',
    issues: '1',
    pulls: '0',
    users: '0',
    commits: undefined,
    code: undefined,
  })
  assert.match(repositories.text, /href="\/ada\/steam-engine"/)
  const cases: [address: string, ...parts: (RegExp | string)[]][] = [
    ['/search?q=leaks', '1 issue', 'href="/ada/steam-engine/issues/1"'],
    ['/search?q=ada&type=users', '1 person', 'href="/ada"'],
    ['/search?q=repo:ada/steam-engine+boiler&type=commits', '1 commit', /<mark>boiler<\/mark>/],
    ['/search?q=repo:ada/steam-engine+boiler&type=code', '1 file', /the <mark>boiler<\/mark>/, /\/blob\/\w{40}\/a\.txt/],
    ['/search?q=topic:brass&type=repositories&sort=stars', '1 repository'],
    ['/search?q=steam&type=pulls', 'No pull requests match', 'review-requested:@me'],
  ]
  for (const [address, ...parts] of cases) {
    const { status, text } = await guest.get(address)
    assert.equal(status, 200, address)
    for (const part of parts) assert.ok(typeof part === 'string' ? text.includes(part) : part.test(text), `${address} ${part}`)
    assert.ok(!text.includes('<script>alert') && !text.includes('<img src=x'), address)
  }
})

test('a search finds what the visitor may see, and nothing else', async () => {
  await using forge = await openSearch()
  const counts = async (who: Guest) => countsOf((await who.get('/search?q=steam&type=issues')).text)
  assert.equal((await counts(forge.guest)).issues, '1')
  assert.equal((await counts(await signedIn(forge, 'ben'))).issues, '1')
  const own = await counts(await signedIn(forge, 'ada'))
  assert.deepEqual([own.repositories, own.issues], ['2', '2'])
  const hidden = await forge.guest.get('/search?q=repo:ada/secret-steam+x&type=code')
  assert.match(hidden.text, /does not exist, or you cannot see it/)
})

test('a query that is not understood is explained, and odd input is no error', async () => {
  await using forge = await openSearch()
  const { guest } = forge
  const refused: [address: string, RegExp][] = [
    ['/search?q=mirror:true&type=repositories', /The qualifier mirror is not supported/],
    ['/search?q=boiler&type=code', /Name one repository/],
    ['/search?q=stars:many&type=repositories', /stars:many is not a range/],
  ]
  for (const [address, message] of refused) {
    const { status, text } = await guest.get(address)
    assert.equal(status, 422, address)
    assert.match(text, message)
    assert.match(text, /Qualifiers of this search/)
  }
  for (const query of [
    '',
    'q=',
    'q=%00',
    'q=%22',
    'q=-',
    'q=steam&type=banana',
    'q=steam&page=999',
    `q=${'x'.repeat(2000)}`,
    'q=steam&sort=toString',
  ])
    assert.equal((await guest.get(`/search?${query}`)).status, 200, query)
})

test('exploring shows public repositories in several orders, topics and people', async () => {
  await using forge = await openSearch()
  const { guest, ben } = forge
  await ben.owns('toys')
  forge.clock.advance(1000)
  await expect(201, await forge.ada.put('/repos/ada/steam-engine/contents/b.txt', { message: 'Add', content: btoa('b') }))
  const names = async (address: string) =>
    [...(await guest.get(address)).text.matchAll(/class="repository-name">.*?<strong>(.*?)<\/strong>/gs)].map(([, name]) => name)
  assert.deepEqual(await names('/explore?sort=stars'), ['steam-engine', 'toys'])
  assert.deepEqual(await names('/explore?sort=newest'), ['toys', 'steam-engine'])
  assert.deepEqual(await names('/explore'), ['steam-engine', 'toys'])
  assert.match((await guest.get('/explore')).text, /topic%3Abrass/)
  assert.match((await guest.get('/explore?tab=people')).text, /href="\/ben"/)
  for (const odd of ['/explore?page=99', '/explore?tab=people&page=99', '/explore?sort=toString'])
    assert.equal((await guest.get(odd)).status, 200)
})
