import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDocumented } from '#test/documented.ts'
import { type Client, errorsOf, expect, injecting, linesOf, withPeople } from '#test/forge.ts'

const open = async () => {
  const forge = await withPeople('ada', 'ben', 'eve')()
  const { ada, ben } = forge
  const engine = await ada.owns('steam-engine', { description: 'Of brass and coal', auto_init: true })
  await ada.owns('secret-steam', { private: true })
  await ben.owns('Toys')
  await expect(202, await ben.post('/repos/ada/steam-engine/forks', { name: 'steam-fork' }))
  await expect(200, await ada.put('/repos/ada/steam-engine/topics', { names: ['brass', 'machines'] }))
  await expect(200, await ada.put('/repos/ada/secret-steam/topics', { names: ['brassy'] }))
  await expect(204, await ben.put('/user/starred/ada/steam-engine'))
  await expect(200, await ada.patch('/user', { name: 'Augusta King', location: 'London' }))
  const found = async (kind: string, q: string, who: Client = forge.eve) =>
    (await who.read(`/search/${kind}?q=${encodeURIComponent(q)}`)).items
  return Object.assign(forge, { engine, found })
}
const inject = injecting(open)

test('repositories are found by the beginnings of their words, and narrowed by qualifiers', inject(async ({ ada, found }) => {
  const cases: Record<string, string[]> = {
    steam: ['ada/steam-engine'],
    'eng brass': ['ada/steam-engine'],
    'steam fork:true': ['ada/steam-engine', 'ben/steam-fork'],
    'steam fork:only': ['ben/steam-fork'],
    'coal in:name': [],
    'coal in:description,topics': ['ada/steam-engine'],
    'machin in:topics': ['ada/steam-engine'],
    'topic:Brass': ['ada/steam-engine'],
    'stars:>=1': ['ada/steam-engine'],
    'stars:0 user:ben': ['ben/Toys'],
    'steam -brass': [],
    'user:ada user:ben created:>2000-01-01': ['ada/steam-engine', 'ben/Toys'],
    'is:private steam': [],
    'archived:true toys': [],
  }
  for (const [q, names] of Object.entries(cases)) assert.deepEqual(linesOf(await found('repositories', q), 'full_name'), names, q)
  assert.deepEqual(linesOf(await found('repositories', 'steam is:private', ada), 'full_name'), ['ada/secret-steam'])
  const sorted = await ada.read('/search/repositories?q=user:ada+user:ben&sort=stars&order=desc&per_page=1')
  assert.deepEqual([sorted.total_count, sorted.items[0].full_name], [3, 'ada/steam-engine'])
  assert.equal((await ada.get('/search/repositories?q=mirror:true')).status, 422)
}))

test('users are found by login and name, and never by a hidden address', inject(async ({ ada, found }) => {
  const cases: Record<string, string[]> = {
    ad: ['ada', 'admin'],
    ada: ['ada'],
    king: ['ada'],
    'king in:login': [],
    'augusta king in:name': ['ada'],
    'ada@example.com in:email': [],
    'repos:>0 sort:joined type:user': ['ada', 'ben'],
    'location:london': ['ada'],
    'type:org': [],
    'fullname:Augusta': ['ada'],
  }
  for (const [q, logins] of Object.entries(cases)) assert.deepEqual(linesOf(await found('users', q), 'login'), logins, q)
  assert.equal((await ada.get('/search/users?q=king+in:login,shoes')).status, 422)
  await expect(200, await ada.patch('/user/email/visibility', { visibility: 'public' }))
  assert.deepEqual(linesOf(await found('users', 'ada@example.com in:email'), 'login'), ['ada'])
}))

test('labels and topics are found', inject(async ({ ada, eve, nobody, engine, found }) => {
  for (const name of ['bug', 'big bug', 'wish']) {
    await expect(
      201,
      await ada.post('/repos/ada/steam-engine/labels', { name, description: name === 'wish' ? 'Not a bug' : null }),
    )
  }
  const labels = `/search/labels?repository_id=${engine.id}`
  assert.deepEqual(linesOf((await eve.read(`${labels}&q=bug`)).items, 'name'), ['big bug', 'bug', 'wish'])
  assert.deepEqual(linesOf((await eve.read(`${labels}&q=big+bug`)).items, 'name'), ['big bug'])
  assert.equal((await eve.get(labels)).status, 422)
  assert.equal((await eve.get('/search/labels?q=bug&repository_id=x')).status, 404)
  const { id } = await ada.read('/repos/ada/secret-steam')
  assert.equal((await nobody.get(`/search/labels?q=bug&repository_id=${id}`)).status, 404)
  assert.deepEqual(linesOf(await found('topics', 'brass'), 'name', 'repository_count'), ['brass 1'])
  assert.deepEqual(linesOf(await found('topics', 'brass', ada), 'name'), ['brass', 'brassy'])
  assert.deepEqual(await found('topics', 'brass repositories:>1'), [])
}))

test('code and commits are searched in one repository that the caller sees', inject(async ({ forge, ada, eve, found }) => {
  const put = async (repo: string, path: string, text: string, message: string) =>
    expect(201, await ada.put(`/repos/ada/${repo}/contents/${path}`, { message, content: btoa(text) }))
  await put('steam-engine', 'src/boiler.ts', 'export const heat = 1\nconst Valve = heat\n', 'Add the boiler')
  await put('steam-engine', 'docs/heat.md', 'About HEAT.\n', 'Describe heat, and the "boiler"')
  await put('secret-steam', 'plan.txt', 'heat\n', 'Hide the heat')
  const here = 'repo:ada/steam-engine'
  const paths = async (q: string) => linesOf(await found('code', `${q} ${here}`), 'path')
  assert.deepEqual(await paths('heat'), ['docs/heat.md', 'src/boiler.ts'])
  assert.deepEqual(await paths('heat valve'), ['src/boiler.ts'])
  assert.deepEqual(await paths('heat extension:md'), ['docs/heat.md'])
  assert.deepEqual(await paths('heat path:src'), ['src/boiler.ts'])
  assert.deepEqual(await paths('heat in:path'), ['docs/heat.md'])
  assert.deepEqual(await paths('filename:boiler.ts'), ['src/boiler.ts'])
  assert.deepEqual(await paths('"--no-index"'), [])
  const matching = eve.with({ accept: 'application/vnd.github.v3.text-match+json' })
  const [file] = (await matching.read(`/search/code?q=valve+${here}`)).items
  assert.partialDeepStrictEqual(file.text_matches, [
    { property: 'content', fragment: 'const Valve = heat', matches: [{ text: 'Valve' }] },
  ])
  assert.equal((await eve.read(file.url)).sha, file.sha)
  const messages = async (q: string) => linesOf(await found('commits', `${q} ${here}`), 'commit.message')
  assert.deepEqual(await messages('BOILER'), ['Describe heat, and the "boiler"', 'Add the boiler'])
  assert.deepEqual(await messages('boiler describe'), ['Describe heat, and the "boiler"'])
  assert.deepEqual(await messages('boiler author:ada committer-date:>2000-01-01'), await messages('boiler'))
  assert.deepEqual(await messages('boiler author:ben'), [])
  assert.deepEqual(await messages('boiler merge:true'), [])
  for (const q of ['heat', 'heat repo:ada/secret-steam', 'heat repo:ada/no', `heat ${here} language:c`, `NOT heat ${here}`]) {
    for (const kind of ['code', 'commits']) {
      if (kind === 'commits' && q.includes('language')) continue
      assert.equal((await eve.get(`/search/${kind}?q=${encodeURIComponent(q)}`)).status, 422, `${kind} ${q}`)
    }
  }
  assert.deepEqual(linesOf(await found('code', 'heat repo:ada/secret-steam', ada), 'path'), ['plan.txt'])
  assert.deepEqual(await found('code', 'heat repo:ben/Toys'), [], 'an empty repository')
  assert.deepEqual(errorsOf(forge), [])
}))

test('responses of searches match the public documentation', inject(async ({ ada, engine }) => {
  await expect(201, await ada.post('/repos/ada/steam-engine/labels', { name: 'bug' }))
  for (const variant of ['self-hosted', 'versioned'] as const) {
    await assertDocumented(ada, variant, [
      ['search/repos', 'get', '/search/repositories?q=steam'],
      ['search/users', 'get', '/search/users?q=ada'],
      ['search/labels', 'get', `/search/labels?q=bug&repository_id=${engine.id}`],
      ['search/topics', 'get', '/search/topics?q=brass'],
      ['search/commits', 'get', '/search/commits?q=initial+repo:ada/steam-engine'],
      ['search/code', 'get', '/search/code?q=steam+repo:ada/steam-engine'],
    ])
  }
}))
