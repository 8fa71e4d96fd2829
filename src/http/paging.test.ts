import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge, type Person } from '#test/forge.ts'
import { linkHeader, readPage } from './paging.ts'

async function withRepositories(person: Person, count: number) {
  for (let number = 1; number <= count; number++) await person.owns(`r${String(number).padStart(2, '0')}`)
}

test('Link has prev, next, last and first, keeps other parameters, and ends in page', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await withRepositories(ada, 5)
  for (const client of [ada, ada.versioned]) {
    const link = async (query: string) => (await client.get(`/users/ada/repos?${query}`)).headers.get('link')
    const to = (page: number, rel: string) =>
      `<${client.base}/users/ada/repos?per_page=2&sort=created&page=${page}>; rel="${rel}"`
    assert.equal(await link('per_page=2&sort=created'), [to(2, 'next'), to(3, 'last')].join(', '))
    assert.equal(
      await link('page=2&per_page=2&sort=created'),
      [to(1, 'prev'), to(3, 'next'), to(3, 'last'), to(1, 'first')].join(', '),
    )
    assert.equal(await link('per_page=2&page=3&sort=created'), [to(2, 'prev'), to(1, 'first')].join(', '))
    assert.equal(await link('per_page=5'), null)
    assert.equal(await link(''), null)
  }
})

test('following next reaches everything once, and past the end is an empty list', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await withRepositories(ada, 5)
  const seen: string[] = []
  let next: string | undefined = `${ada.base}/user/repos?per_page=2`
  while (next) {
    const answer = await ada.get(next)
    seen.push(...((await answer.json()) as { name: string }[]).map((repo) => repo.name))
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  assert.deepEqual(seen, ['r01', 'r02', 'r03', 'r04', 'r05'])
  const beyond = await ada.get('/user/repos?per_page=2&page=9')
  assert.deepEqual([beyond.status, await beyond.json()], [200, []])
})

test('per_page is 30 by default and 100 at most, and junk means the default', () => {
  const sizes = { '': 30, 'per_page=7': 7, 'per_page=100': 100, 'per_page=101': 100, 'per_page=99999999999999999999': 100 }
  for (const [query, size] of Object.entries(sizes)) assert.equal(readPage(new URLSearchParams(query)).size, size, query)
  for (const junk of ['0', '-5', '1.5', 'ten', '', '0x10'])
    assert.equal(readPage(new URLSearchParams({ per_page: junk })).size, 30, junk)
  for (const query of ['page=0', 'page=-1', 'page=x', 'page='])
    assert.equal(readPage(new URLSearchParams(query)).number, 1, query)
  assert.ok(Number.isSafeInteger(readPage(new URLSearchParams('page=99999999999999999999&per_page=100')).offset))
})

test('parameters that a client appends to the address of the last page do not change the page', () => {
  assert.equal(readPage(new URLSearchParams('per_page=2&page=3?per_page=2&labels=task')).number, 3)
})

test('a list of exactly one full page has no Link', () => {
  const page = readPage(new URLSearchParams('per_page=10'))
  assert.equal(linkHeader('http://x/y', new URLSearchParams('per_page=10'), page, 10), undefined)
  assert.ok(linkHeader('http://x/y', new URLSearchParams('per_page=10'), page, 11))
  assert.equal(linkHeader('http://x/y', new URLSearchParams(), readPage(new URLSearchParams()), 0), undefined)
})

test('a Link that clients would refuse as too long is left out', () => {
  const query = new URLSearchParams({ sort: 'x'.repeat(5000), page: '2' })
  assert.equal(linkHeader('http://x/y', query, readPage(query), 100), undefined)
})
