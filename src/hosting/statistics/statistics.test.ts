import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, linesOf, type Person } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { runJobs } from '#test/jobs.ts'
import { statisticsTasks } from './jobs.ts'

test('languages are counted by bytes, without data, prose and code of others', async () => {
  await using opened = await openEngine()
  const { work, ada, forge } = opened
  assert.deepEqual(await forge.nobody.read(`${engine}/languages`), {})
  await work.commit('Begin', {
    'a.ts': 'x'.repeat(10),
    'src/b.TSX': 'x'.repeat(5),
    'c.py': 'x'.repeat(20),
    Makefile: 'all:',
    'README.md': 'prose',
    'data.json': '{}',
    'node_modules/x/index.js': 'x',
    'lib.min.js': 'x',
    'a file without an ending': 'x',
  })
  await work.push()
  assert.deepEqual(Object.entries(await forge.nobody.read(`${engine}/languages`)), [
    ['Python', 20],
    ['TypeScript', 15],
    ['Makefile', 4],
  ])
  await checkContracts(ada, () => [['repos/list-languages', 'get', `${engine}/languages`]])
})

test('contributors are the accounts of all their addresses, and on request authors without one', async () => {
  await using opened = await openEngine()
  const { work, ada, id, forge } = opened
  assert.equal((await ada.get(`${engine}/contributors`)).status, 204)
  const me = await ada.read('/user')
  for (const [author, count] of [
    ['Ada <ADA@example.com>', 1],
    [`ada <${me.id}+ada@users.noreply.localhost>`, 2],
    ['Eve <eve@example.org>', 4],
    ['Odd <>', 1],
  ] as const) {
    for (let made = 0; made < count; made++) await work.git('commit', '--quiet', '--allow-empty', '-m', 'x', `--author=${author}`)
  }
  await work.push()
  assert.deepEqual(linesOf(await forge.nobody.read(`${engine}/contributors`), 'login', 'type', 'contributions'), ['ada User 3'])
  const all = await ada.read(`${engine}/contributors?anon=1`)
  assert.deepEqual(linesOf(all, 'type', 'contributions', 'email'), ['Anonymous 4 eve@example.org', 'User 3 ', 'Anonymous 1 '])
  const second = await ada.get(`/repositories/${id}/contributors?anon=true&per_page=1&page=2`)
  assert.match(second.headers.get('link') ?? '', /page=3>; rel="last"/)
  assert.deepEqual(linesOf(await expect(200, second), 'login'), ['ada'])
  await checkContracts(ada, () => [['repos/list-contributors', 'get', `${engine}/contributors?anon=1`]])
})

test('a repository shows the main language and the license of its default branch', async () => {
  await using opened = await openEngine()
  const { work, ada, id, forge } = opened
  const ben = await forge.person('ben')
  const { db, storage } = forge.belfry
  const described = async (path = engine) => {
    await runJobs(forge, { ...statisticsTasks(db, storage), ...repositoryTasks(db, storage) })
    const { language, license } = await forge.nobody.read(path)
    return [language, license?.spdx_id ?? null]
  }
  assert.deepEqual(await described(), [null, null])
  const { body } = await ada.read('/licenses/mit')
  await work.commit('Begin', { 'a.ts': 'x', 'c.py': 'x'.repeat(20), LICENSE: body })
  await work.push()
  assert.deepEqual(await described(), ['Python', 'MIT'])
  await checkContracts(ada, () => [
    ['repos/get', 'get', engine],
    ['repos/list-for-authenticated-user', 'get', '/user/repos'],
    ['search/repos', 'get', '/search/repositories?q=language:python+license:MIT'],
  ])
  const { license } = await ada.read(engine)
  assert.equal((await ada.read(license.url)).body, body)

  const fork = await expect(202, await ben.post(`${engine}/forks`))
  assert.deepEqual([fork.language, fork.license.key], ['Python', 'mit'])
  assert.deepEqual(await described('/repos/ben/engine'), ['Python', 'MIT'])
  const [forked] = (await ada.read(`${engine}/events`)).filter(({ type }: { type: string }) => type === 'ForkEvent')
  assert.deepEqual([forked.payload.forkee.language, forked.payload.forkee.license.key], ['Python', 'mit'])

  await work.git('checkout', '--quiet', '-b', 'other')
  await work.commit('Own terms', { 'a.ts': 'x'.repeat(50), LICENSE: 'All rights reserved.' })
  await work.push('other')
  assert.deepEqual(await described(), ['Python', 'MIT'], 'another branch changes nothing')
  await expect(200, await ada.patch(engine, { default_branch: 'other' }))
  assert.deepEqual(await described(), ['TypeScript', 'NOASSERTION'])
  const found = async (q: string, kind = 'repositories') => (await ada.read(`/search/${kind}?q=${q}`)).total_count
  await expect(201, await ada.post(`${engine}/issues`, { title: 'Steam' }))
  assert.deepEqual([await found('language:TYPESCRIPT'), await found('steam+language:typescript', 'issues')], [1, 1])
  assert.deepEqual([await found('language:python+fork:true'), await found('steam+language:python', 'issues')], [1, 0])
  assert.deepEqual([await found('license:other'), await found('license:gpl'), await found('-license:mit+user:ada')], [1, 0, 1])
  await expect(
    200,
    await ada.delete(`${engine}/contents/LICENSE`, { message: 'No terms', branch: 'other', sha: await shaOf(ada) }),
  )
  assert.deepEqual(await described(), ['TypeScript', null])
  await checkContracts(ada, () => [['repos/get', 'get', `/repositories/${id}`]])
})

const shaOf = async (ada: Person) => (await ada.read(`${engine}/contents/LICENSE?ref=other`)).sha
