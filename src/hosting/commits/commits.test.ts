import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting, linesOf, pick } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

test('commits are listed newest first, by start, path, author, committer and time', async () => {
  await using opened = await openEngine()
  const { work, ada, forge } = opened
  await expect(409, await ada.get(`${engine}/commits`))
  const [first, second, third] = [
    await work.commit('First', { 'a.txt': '1\n' }),
    await work.commit('Second', { 'src/b.txt': '2\n' }),
    await work.commit('Third', { 'a.txt': '3\n' }),
  ]
  await work.git('checkout', '--quiet', '-b', 'feature/x')
  await work.git('commit', '--quiet', '--allow-empty', '-m', 'Other', '--author=Dot <DOT@example.org>')
  const other = await work.head()
  await work.push('main', 'feature/x')
  const list = async (query: string) => pick(await forge.nobody.read(`${engine}/commits?${query}`), 'sha')
  assert.deepEqual(await list(''), [third, second, first])
  assert.deepEqual(await list('sha=feature/x'), [other, third, second, first])
  assert.deepEqual(await list(`sha=${second}`), [second, first])
  assert.deepEqual(await list('path=a.txt'), [third, first])
  assert.deepEqual(await list('path=/src/'), [second])
  assert.deepEqual(await list('path=../a.txt'), [])
  assert.deepEqual(await list('path=*.txt'), [])
  assert.deepEqual(await list('sha=feature/x&author=dot@example.org'), [other])
  assert.deepEqual(await list('sha=feature/x&author=ADA'), [third, second, first])
  assert.deepEqual(await list('sha=feature/x&author=dot@example.org&committer=ada'), [other])
  assert.deepEqual(await list('sha=feature/x&author=dot@example.org&committer=dot@example.org'), [])
  assert.deepEqual(await list('author=.*@example.com'), [])
  assert.deepEqual(await list('author=nobody'), [])
  assert.deepEqual(await list('author=x%0A@'), [])
  const { author } = (await forge.nobody.read(`${engine}/commits/${second}`)).commit
  assert.deepEqual((await list(`until=${author.date}`)).slice(-1), [first])
  assert.deepEqual(await list('until=2001-01-01'), [])
  assert.deepEqual(await list('since=2001-01-01'), [third, second, first])
  await expect(404, await ada.get(`${engine}/commits?sha=gone`))
  await expect(404, await forge.nobody.get('/repos/ada/hidden/commits'))
})

test('a page of commits has the number of the last page, also past the end', async () => {
  await using opened = await openEngine()
  const { work, ada } = opened
  for (const name of ['1', '2', '3', '4', '5']) await work.commit(name, { [name === '3' ? 'b' : 'a']: name })
  await work.push()
  const pageOf = async (query: string) => {
    const answer = await ada.get(`${engine}/commits?${query}`)
    const rels = [...(answer.headers.get('link') ?? '').matchAll(/[?&]page=(\d+)>; rel="(\w+)"/g)].map(([, page, rel]) => [
      rel,
      page,
    ])
    return {
      messages: ((await answer.json()) as { commit: { message: string } }[]).map(({ commit }) => commit.message.trim()),
      rels,
    }
  }
  assert.deepEqual(await pageOf('per_page=2'), {
    messages: ['5', '4'],
    rels: [
      ['next', '2'],
      ['last', '3'],
    ],
  })
  assert.deepEqual(await pageOf('per_page=2&page=3'), {
    messages: ['1'],
    rels: [
      ['prev', '2'],
      ['first', '1'],
    ],
  })
  assert.deepEqual(await pageOf('per_page=2&path=a'), {
    messages: ['5', '4'],
    rels: [
      ['next', '2'],
      ['last', '2'],
    ],
  })
  assert.deepEqual((await pageOf('page=999999999')).messages, [])
})

test('a commit has its files in pages, and is sent as a diff, a patch and an id', async () => {
  await using opened = await openEngine()
  const { work, ada } = opened
  const names = Array.from({ length: 320 }, (_, index) => `f${String(index).padStart(3, '0')}`)
  const first = await work.commit('Begin', Object.fromEntries(names.map((name) => [name, `${name}\n`])))
  await work.git('mv', 'f000', 'moved')
  const second = await work.commit('Move and change', { f001: 'f001\nmore\n', 'ü.bin': Buffer.from([0, 1]) })
  await work.push('HEAD', 'HEAD:refs/heads/feature/x')
  const root = await ada.get(`${engine}/commits/${first}`)
  assert.match(root.headers.get('link') ?? '', /page=2>; rel="next", .*page=2>; rel="last"/)
  const { stats, files, parents } = await expect(200, root)
  assert.deepEqual([stats, files.length, parents], [{ total: 320, additions: 320, deletions: 0 }, 300, []])
  assert.match(files[0].patch, /^@@ -0,0 \+1 @@\n\+f000/)
  const rest = (await ada.read(`${engine}/commits/${first}?page=2`)).files
  assert.deepEqual([rest.length, rest[0].filename, rest[0].patch], [20, 'f300', '@@ -0,0 +1 @@\n+f300'])
  assert.deepEqual((await ada.read(`${engine}/commits/${first}?page=999999999`)).files, [])
  await expect(201, await ada.post(`${engine}/commits/${second}/comments`, { body: 'Well' }))
  const commit = await ada.read(`${engine}/commits/feature/x`)
  assert.deepEqual(linesOf(commit.files, 'status', 'filename', 'changes'), [
    'modified f001 1',
    'renamed moved 0',
    'added ü.bin 0',
  ])
  assert.deepEqual([commit.commit.comment_count, commit.author.login, commit.parents[0].sha], [1, 'ada', first])

  const as = (medium: string, headers = {}) =>
    ada.with({ accept: `application/vnd.github.v3.${medium}`, ...headers }).get(`${engine}/commits/feature/x`)
  const diff = await as('diff')
  assert.equal(diff.headers.get('content-type'), 'application/vnd.github.v3.diff; charset=utf-8')
  assert.match(await diff.text(), /^diff --git a\/f001 b\/f001\n[\s\S]*rename to moved/)
  assert.equal((await as('diff', { 'if-none-match': diff.headers.get('etag') })).status, 304)
  assert.match(await (await as('patch')).text(), new RegExp(`^From ${second} [\\s\\S]*Subject: \\[PATCH\\] Move and change`))
  assert.equal(await (await as('sha')).text(), second)
  assert.equal((await as('sha', { 'if-none-match': `"${second}"` })).status, 304)
})

test('the pull requests of a commit are the one that brought it, and open ones', inject(async ({
  ada,
  work,
  propose,
  follow,
  main,
  topic,
}) => {
  const pullsOf = async (sha: string) => pick(await ada.read(`${engine}/commits/${sha}/pulls`), 'number')
  await propose()
  assert.deepEqual([await pullsOf(topic), await pullsOf(main)], [[1], []])
  assert.deepEqual(pick(await ada.read(`${engine}/commits/${topic}/branches-where-head`), 'name'), ['topic'])
  const { sha: merge } = await expect(200, await ada.put(`${engine}/pulls/1/merge`))
  await follow()
  assert.deepEqual([await pullsOf(topic), await pullsOf(merge), await pullsOf(main)], [[1], [1], []])
  await work.git('pull', '--quiet', 'origin', 'main')
  await work.git('checkout', '--quiet', '-b', 'second')
  const [one, two] = [await work.commit('One', { one: '1' }), await work.commit('Two', { two: '2' })]
  await work.push('second')
  await propose({ head: 'second' })
  assert.deepEqual(await pullsOf('second'), [2])
  await expect(200, await ada.put(`${engine}/pulls/2/merge`, { merge_method: 'rebase' }))
  await follow()
  const listed = await ada.read(`${engine}/commits?per_page=2`)
  assert.deepEqual(await Promise.all(pick(listed, 'sha').map((sha) => pullsOf(sha as string))), [[2], [2]])
  assert.deepEqual([await pullsOf(topic), (await pullsOf(one)).length, (await pullsOf(two)).length], [[1], 0, 0])
}))

test('every response about commits matches the public documentation, on both variants', inject(async ({
  ada,
  propose,
  topic,
}) => {
  await propose()
  await checkContracts(ada, () => [
    ['repos/list-commits', 'get', `${engine}/commits?sha=topic`],
    ['repos/get-commit', 'get', `${engine}/commits/topic`],
    ['repos/get-commit', 'get', `${engine}/commits/main`],
    ['repos/list-branches-for-head-commit', 'get', `${engine}/commits/${topic}/branches-where-head`],
    ['repos/list-pull-requests-associated-with-commit', 'get', `${engine}/commits/${topic}/pulls`],
  ])
}))
