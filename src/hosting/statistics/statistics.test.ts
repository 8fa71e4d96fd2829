import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, linesOf } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'

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
