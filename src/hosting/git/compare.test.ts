import assert from 'node:assert/strict'
import { chmod, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { compare } from '#git/compare.ts'
import { Refusal } from '#platform/errors.ts'
import { type Bare, openBare } from '#test/bare.ts'
import { injecting, linesOf } from '#test/forge.ts'

const inject = injecting(openBare)
const page = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('')

async function branch({ work }: Bare, name: string, from = 'main') {
  await work.git('checkout', '--quiet', '-b', name, from)
}

test('a comparison has the number of commits ahead and behind, and the merge base', inject(async (bare) => {
  const { storage, work } = bare
  const begin = await work.commit('Begin')
  await branch(bare, 'head')
  const one = await work.commit('One', { 'one.txt': '1\n' })
  const two = await work.commit('Two\n\nWith a body \u{1F514}', { 'two.txt': '2\n' })
  await work.git('push', '--quiet', 'origin', 'main', 'head')

  const ahead = await compare(storage, 1, 'main', 'head')
  assert.deepEqual([ahead.base, ahead.head, ahead.merge_base], [begin, two, begin])
  assert.deepEqual([ahead.status, ahead.ahead_by, ahead.behind_by, ahead.total_commits], ['ahead', 2, 0, 2])
  assert.deepEqual(
    ahead.commits.map(({ sha, parents, message }) => [sha, parents, message]),
    [
      [one, [begin], 'One\n'],
      [two, [one], 'Two\n\nWith a body \u{1F514}\n'],
    ],
  )
  const [first] = ahead.commits
  assert.equal(first?.tree, await work.git('rev-parse', `${one}^{tree}`))
  assert.deepEqual(first?.author, first?.committer)
  assert.deepEqual(first?.author.name, 'ada')
  assert.equal(`${first?.author.date.getTime()}`, `${await work.git('log', '-1', '--format=%at', one)}000`)

  const behind = await compare(storage, 1, 'head', 'main')
  assert.deepEqual([behind.status, behind.ahead_by, behind.behind_by, behind.merge_base], ['behind', 0, 2, begin])
  assert.deepEqual([behind.commits, behind.files, behind.changed_files], [[], [], 0])

  const same = await compare(storage, 1, two, 'refs/heads/head')
  assert.deepEqual([same.status, same.ahead_by, same.behind_by, same.files], ['identical', 0, 0, []])

  await work.git('checkout', '--quiet', 'main')
  await work.commit('Ours', { 'ours.txt': 'ours\n' })
  await work.push('main')
  const diverged = await compare(storage, 1, 'main', 'head')
  assert.deepEqual([diverged.status, diverged.ahead_by, diverged.behind_by, diverged.merge_base], ['diverged', 2, 1, begin])
  assert.deepEqual(linesOf(diverged.files, 'filename'), ['one.txt', 'two.txt'])
}))

test('a comparison lists the change of each file, as git does', inject(async (bare) => {
  const { storage, work } = bare
  await work.commit('Begin', {
    'changed.txt': page(1, 20),
    'removed.txt': 'gone\nsoon\n',
    'moved.txt': page(1, 20),
    'moved and changed.txt': page(30, 60),
    'image.bin': Buffer.from([0, 1, 2]),
    'run.sh': 'true\n',
    'becomes-link': 'a file\n',
    'no-end.txt': 'no end',
  })
  await work.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor`)
  await work.git('commit', '--quiet', '-m', 'Vendor')
  await branch(bare, 'head')
  for (const [from, to] of Object.entries({ 'moved.txt': 'a/moved.txt', 'moved and changed.txt': 'ünï \u{1F514}.txt' })) {
    await work.commit('Prepare', { 'a/keep.txt': 'keep\n' })
    await work.git('mv', from, to)
  }
  await work.git('update-index', '--add', '--cacheinfo', `160000,${'2'.repeat(40)},vendor`)
  await chmod(join(work.folder, 'run.sh'), 0o755)
  await rm(join(work.folder, 'becomes-link'))
  await rm(join(work.folder, 'removed.txt'))
  await symlink('changed.txt', join(work.folder, 'becomes-link'))
  const files = {
    'changed.txt': page(1, 20).replace('line 3\n', 'three\nand more\n'),
    'ünï \u{1F514}.txt': page(31, 60),
    'image.bin': Buffer.from([0, 1, 3]),
    'no-end.txt': 'no end, still',
    'new\n"file".txt': 'diff --git a/x b/x\n@@ -1 +1 @@\n',
    'empty.txt': '',
    'latin.txt': Buffer.from('\xfc\n', 'latin1'),
  }
  for (const [name, contents] of Object.entries(files)) await writeFile(join(work.folder, name), contents)
  await work.git('add', '--', ...Object.keys(files), 'run.sh', 'becomes-link', 'removed.txt')
  await work.git('commit', '--quiet', '-m', 'Change')
  await work.git('push', '--quiet', 'origin', 'main', 'head')

  const told = await compare(storage, 1, 'main', 'head')
  const by = new Map(told.files.map((file) => [file.filename, file]))
  const brief = told.files.map(({ status, filename, additions, deletions, previous_filename }) => [
    status,
    filename,
    additions,
    deletions,
    ...(previous_filename === undefined ? [] : [previous_filename]),
  ])
  assert.deepEqual(brief, [
    ['added', 'a/keep.txt', 1, 0],
    ['renamed', 'a/moved.txt', 0, 0, 'moved.txt'],
    ['modified', 'becomes-link', 1, 1],
    ['modified', 'changed.txt', 2, 1],
    ['added', 'empty.txt', 0, 0],
    ['modified', 'image.bin', 0, 0],
    ['added', 'latin.txt', 1, 0],
    ['added', 'new\n"file".txt', 2, 0],
    ['modified', 'no-end.txt', 1, 1],
    ['removed', 'removed.txt', 0, 2],
    ['modified', 'run.sh', 0, 0],
    ['modified', 'vendor', 1, 1],
    ['renamed', 'ünï \u{1F514}.txt', 0, 1, 'moved and changed.txt'],
  ])
  assert.ok(told.files.every((file) => file.changes === file.additions + file.deletions))
  const sum = (pick: 'additions' | 'deletions') => told.files.reduce((total, file) => total + file[pick], 0)
  assert.deepEqual([told.changed_files, told.additions, told.deletions], [13, sum('additions'), sum('deletions')])
  const patchless = told.files.filter(({ patch }) => patch === undefined)
  assert.deepEqual(linesOf(patchless, 'filename'), ['a/moved.txt', 'empty.txt', 'image.bin', 'run.sh'])
  assert.equal(by.get('becomes-link')?.patch, '@@ -1 +0,0 @@\n-a file\n@@ -0,0 +1 @@\n+changed.txt\n\\ No newline at end of file')
  assert.equal(by.get('new\n"file".txt')?.patch, '@@ -0,0 +1,2 @@\n+diff --git a/x b/x\n+@@ -1 +1 @@')
  assert.equal(by.get('latin.txt')?.patch, '@@ -0,0 +1 @@\n+\ufffd')
  assert.equal(by.get('removed.txt')?.patch, '@@ -1,2 +0,0 @@\n-gone\n-soon')
  const whole = await work.git('diff', 'main', 'head', '--', 'changed.txt')
  assert.equal(by.get('changed.txt')?.patch, whole.slice(whole.indexOf('@@')))
  assert.equal(by.get('changed.txt')?.sha, await work.git('rev-parse', 'head:changed.txt'))
  assert.equal(by.get('removed.txt')?.sha, await work.git('rev-parse', 'main:removed.txt'))
  assert.equal(by.get('vendor')?.sha, '2'.repeat(40))
}))

test('lists are limited, and counts include everything', inject(async ({ storage, bare }) => {
  const author = { name: 'Ada', email: 'ada@example.com' }
  const commit = (index: number, files: Record<string, string>) => ({
    author,
    at: new Date(1_700_000_000_000 + index * 1000),
    message: `${index}`,
    files,
  })
  await storage.commit(1, 'main', [commit(0, { 'README.md': '#\n' })])
  await bare('branch', 'start', 'main')
  const many = Object.fromEntries(
    Array.from({ length: 310 }, (_, index) => [`many/${String(index).padStart(3, '0')}.txt`, `${index}\n`]),
  )
  await storage.commit(1, 'main', [
    ...Array.from({ length: 258 }, (_, index) => commit(index + 1, { 'count.txt': `${index}\n` })),
    commit(259, { ...many, 'aaa-long.txt': page(1, 20_000), 'aab-wide.txt': 'x'.repeat(1_000_000) }),
    commit(260, { 'aac.txt': 'short\n' }),
  ])
  const told = await compare(storage, 1, 'start', 'main')
  assert.deepEqual([told.ahead_by, told.total_commits, told.commits.length], [260, 260, 250])
  assert.deepEqual([told.commits[0]?.message, told.commits.at(-1)?.message], ['11', '260'])
  assert.deepEqual(
    [told.changed_files, told.files.length, told.additions, told.deletions],
    [314, 300, 310 + 20_000 + 1 + 1 + 1, 0],
  )
  assert.deepEqual(
    told.files.slice(0, 4).map(({ filename, additions, patch }) => [filename, additions, patch]),
    [
      ['aaa-long.txt', 20_000, undefined],
      ['aab-wide.txt', 1, undefined],
      ['aac.txt', 1, '@@ -0,0 +1 @@\n+short'],
      ['count.txt', 1, '@@ -0,0 +1 @@\n+257'],
    ],
  )
  assert.deepEqual([told.files.at(-1)?.filename, told.files.at(-1)?.patch], ['many/295.txt', '@@ -0,0 +1 @@\n+295'])
}))

test('commits follow their parents, whatever their dates', inject(async ({ storage, work }) => {
  const start = await work.commit('Start')
  const tree = await work.git('rev-parse', 'HEAD^{tree}')
  const commit = async (year: number, ...parents: string[]) => {
    const who = `Ada <ada@example.com> ${Date.UTC(year, 0) / 1000} +0000`
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${who}`,
      `committer ${who}`,
      '',
      `${year}`,
    ]
    await writeFile(join(work.folder, 'commit'), lines.join('\n'))
    return work.git('hash-object', '-w', '-t', 'commit', 'commit')
  }
  const first = await commit(2015, start)
  const merge = await commit(2025, await commit(2020, first), await commit(1980, first))
  await work.push('main', `${merge}:refs/heads/head`)
  const { commits } = await compare(storage, 1, 'main', 'head')
  assert.deepEqual(linesOf(commits, 'message'), ['2015', '1980', '2020', '2025'])
}))

test('histories with nothing in common have no merge base', inject(async ({ storage, work }) => {
  await work.commit('Begin', { 'a.txt': 'a\n' })
  await work.git('checkout', '--quiet', '--orphan', 'other')
  await work.commit('Elsewhere', { 'b.txt': 'b\n' })
  await work.git('push', '--quiet', 'origin', 'main', 'other')
  const told = await compare(storage, 1, 'main', 'other')
  assert.deepEqual([told.merge_base, told.status, told.ahead_by, told.behind_by], [null, 'diverged', 1, 1])
  assert.deepEqual(linesOf(told.files, 'status', 'filename'), ['added b.txt'])
}))

test('names that are not commits are refused, and so is an empty repository', inject(async ({ storage, work }) => {
  const refused = (reason: string) => (error: unknown) => error instanceof Refusal && error.reason === reason
  await assert.rejects(compare(storage, 1, 'main', 'main'), refused('conflict'))
  await assert.rejects(compare(storage, 2, 'main', 'main'), refused('conflict'))
  await work.commit('Begin')
  await work.push('main')
  for (const name of [
    '',
    '--all',
    '--output=/tmp/x',
    'main..main',
    '^main',
    'main:notes.txt',
    'a\nb',
    'main\0',
    '0'.repeat(40),
  ]) {
    await assert.rejects(compare(storage, 1, 'main', name), refused('missing'), name)
    await assert.rejects(compare(storage, 1, name, 'main'), refused('missing'), name)
  }
}))
