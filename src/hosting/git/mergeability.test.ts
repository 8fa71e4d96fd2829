import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isMergeable, type Merge, merge } from '#git/merge.ts'
import { Refusal } from '#platform/errors.ts'
import { type Bare, openBare } from '#test/bare.ts'
import { injecting } from '#test/forge.ts'

const inject = injecting(openPair)

const asked: Merge = {
  base: 'main',
  head: 'head',
  method: 'merge',
  author: { name: 'Ada', email: 'ada@example.com' },
  committer: { name: 'Grace', email: 'grace@example.com' },
  at: new Date('2026-03-01T12:00:00.900Z'),
  message: 'Merge\n',
}

/** Two branches that fit together. */
async function openPair() {
  const bare = await openBare()
  const { work } = bare
  await work.commit('Begin', { 'list.txt': 'a\nb\nc\n' })
  await work.git('checkout', '--quiet', '-b', 'head')
  await work.commit('Theirs', { 'theirs.txt': 'theirs\n' })
  await work.git('checkout', '--quiet', 'main')
  await work.commit('Ours', { 'ours.txt': 'ours\n' })
  await work.git('push', '--quiet', 'origin', 'main', 'head')
  return bare
}

const refused = (reason: string, message: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.reason === reason && message.test(error.message)

async function made(bare: Bare, more: Partial<Merge>) {
  const merged = await merge(bare.storage, 1, { ...asked, ...more })
  assert.ok('sha' in merged, JSON.stringify(merged))
  return merged.sha
}

test('a merge has the given author, date and message, and is deterministic', inject(async (bare) => {
  const message = 'Überschrift \u{1F514}\n\n# no comment\n\n---\ntree 0\n"quotes" $HOME \\ \r\n'
  const more = { message, author: { name: 'A\n<b>\0 Ünal', email: '<a@b>\n' } }
  const sha = await made(bare, more)
  assert.equal(await made(bare, more), sha)
  assert.equal(
    await bare.bare('cat-file', 'commit', sha),
    [
      `tree ${await bare.bare('rev-parse', `${sha}^{tree}`)}`,
      `parent ${await bare.bare('rev-parse', 'main')}`,
      `parent ${await bare.bare('rev-parse', 'head')}`,
      'author Ab Ünal <a@b> 1772366400 +0000',
      'committer Grace <grace@example.com> 1772366400 +0000',
      '',
      message.trimEnd(),
    ].join('\n'),
  )
  const empty = await made(bare, { message: '', method: 'squash' })
  assert.equal(await bare.bare('log', '-1', '--format=%P %B', empty), await bare.bare('rev-parse', 'main'))
  const cut = await made(bare, { message: 'a\0b \ud800', method: 'squash' })
  assert.equal(await bare.bare('log', '-1', '--format=%B', cut), 'ab \ufffd')
  await bare.bare('fsck', '--strict', '--no-dangling', sha, empty, cut)
}))

test('a rebase keeps authors, dates and messages, and sets the committer', inject(async (bare) => {
  const { work } = bare
  await work.git('checkout', '--quiet', 'head')
  await writeFile(join(work.folder, 'latin.txt'), 'x')
  await work.git('add', '--all')
  await writeFile(join(work.folder, 'message'), Buffer.from('Gr\xfc\xdfe\n\n  # kept\n\n\n', 'latin1'))
  const dated = ['--author=J\xf6rg <j@example.com>', '--date=2001-02-03T04:05:06 +0530']
  await work.git('-c', 'i18n.commitEncoding=ISO-8859-1', 'commit', '--quiet', '--cleanup=verbatim', '-F', 'message', ...dated)
  assert.match(await work.git('cat-file', 'commit', 'HEAD'), /^encoding ISO-8859-1$/m)
  await writeFile(join(work.folder, 'odd.txt'), 'odd')
  await work.git('add', 'odd.txt')
  const head = `tree ${await work.git('write-tree')}\nparent ${await work.head()}\nauthor nobody\ncommitter C <c@d> 5 +0000\n`
  await writeFile(join(work.folder, 'commit'), `${head}gpgsig -----BEGIN\n author X <x@y> 1 +0000\n -----END\n\nOdd\n`)
  const last = await work.git('hash-object', '-w', '-t', 'commit', '--literally', 'commit')
  await work.git('push', '--quiet', '--force', 'origin', `${last}:refs/heads/head`)

  const sha = await made(bare, { method: 'rebase' })
  const log = await bare.bare('log', '--reverse', '--format=%an <%ae> %ai|%cn %ct|%s', `main..${sha}`)
  const lines = log.split('\n')
  assert.equal(lines.length, 3)
  assert.match(lines[0] ?? '', /^ada <ada@example.com> .*\|Grace 1772366400\|Theirs$/)
  assert.match(lines[1] ?? '', /<j@example.com> 2001-02-03 04:05:06 \+0530\|Grace 1772366400\|Grüße$/)
  assert.match(lines[2] ?? '', /^nobody <> 1970-01-01 00:00:00 \+0000\|Grace 1772366400\|Odd$/)
  assert.doesNotMatch(await bare.bare('cat-file', 'commit', `${sha}~1`), /^encoding/m)
  assert.match(await bare.bare('cat-file', 'commit', `${sha}~1`), /\n\nGrüße\n\n {2}# kept$/)
  assert.doesNotMatch(await bare.bare('cat-file', 'commit', sha), /gpgsig/)
  const ours = (await bare.bare('rev-list', `main..${sha}`)).split('\n')
  const { stderr } = await work.attempt('--git-dir', bare.path, 'fsck', '--strict', sha)
  assert.deepEqual(
    ours.filter((each) => stderr.includes(each)),
    [],
    stderr,
  )
}))

test('a merge without changes returns nothing', inject(async ({ bare, storage }) => {
  for (const method of ['merge', 'squash', 'rebase'] as const) {
    for (const head of ['main', await bare('rev-parse', 'main~1')]) {
      assert.deepEqual(await merge(storage, 1, { ...asked, head, method }), { nothing: true })
      assert.deepEqual(await isMergeable(storage, 1, 'main', head), { state: 'nothing' })
    }
  }
}))

test('a squash or rebase of changes that the base has creates no commit', inject(async (bare) => {
  await bare.work.git('cherry-pick', 'head')
  await bare.work.push('main')
  for (const method of ['squash', 'rebase'] as const) {
    assert.deepEqual(await merge(bare.storage, 1, { ...asked, method }), { nothing: true })
  }
  assert.equal((await bare.bare('rev-list', '--parents', '-1', await made(bare, {}))).split(' ').length, 3)
}))

test('unrelated histories do not merge', inject(async ({ work, storage }) => {
  await work.git('checkout', '--quiet', '--orphan', 'other')
  await work.commit('Elsewhere', { 'other.txt': 'other\n' })
  await work.push('other')
  const reason = { conflict: [], reason: 'unrelated' }
  assert.deepEqual(await isMergeable(storage, 1, 'main', 'other'), { state: 'dirty', ...reason })
  for (const method of ['merge', 'squash', 'rebase'] as const) {
    assert.deepEqual(await merge(storage, 1, { ...asked, head: 'other', method }), reason)
  }
}))

test('an empty or missing repository is refused', async () => {
  await using bare = await openBare()
  for (const repo_id of [1, 2]) {
    const empty = refused('conflict', /^Git Repository is empty\.$/)
    await assert.rejects(merge(bare.storage, repo_id, asked), empty)
    await assert.rejects(isMergeable(bare.storage, repo_id, 'main', 'head'), empty)
  }
})

test('names that are not commits do not reach git', inject(async ({ bare, storage }) => {
  const tree = await bare('rev-parse', 'main^{tree}')
  const names = [
    '',
    '-h',
    '--all',
    '--output=/tmp/x',
    'main..head',
    '^main',
    'main^{tree}',
    ':/Begin',
    '@{-1}',
    'ma*n',
    'a\nb',
    'a\0b',
    tree,
  ]
  for (const name of [...names, '0'.repeat(40), 'f'.repeat(41), '../../etc', 'main\n']) {
    const nowhere = refused('missing', /^No commit found/)
    await assert.rejects(merge(storage, 1, { ...asked, head: name }), nowhere, name)
    await assert.rejects(isMergeable(storage, 1, name, 'main'), nowhere, name)
  }
}))

test('checking mergeability and failed merges write nothing', inject(async ({ work, bare, storage, path }) => {
  await work.git('checkout', '--quiet', 'head')
  await work.commit('Clash', { 'ours.txt': 'theirs\n' })
  await work.push('HEAD:refs/heads/clash')
  const before = await bare('count-objects', '-v')
  assert.deepEqual(await isMergeable(storage, 1, 'main', 'head'), { state: 'clean' })
  const clash = { conflict: ['ours.txt'], reason: 'conflict' }
  assert.deepEqual(await isMergeable(storage, 1, 'main', 'clash'), { state: 'dirty', ...clash })
  for (const method of ['merge', 'squash', 'rebase'] as const) {
    assert.deepEqual(await merge(storage, 1, { ...asked, head: 'clash', method }), clash)
  }
  assert.equal(await bare('count-objects', '-v'), before)
  assert.deepEqual(
    (await readdir(join(path, 'objects'))).filter((name) => name.startsWith('tmp_')),
    [],
  )
}))

test('a pushed replacement object does not affect a merge', inject(async (bare) => {
  const sha = await made(bare, {})
  await bare.bare('update-ref', `refs/replace/${await bare.bare('rev-parse', 'head')}`, 'main~1')
  assert.equal(await made(bare, {}), sha)
}))

/** Runs a few lines in a process of its own, where `git` is another. */
async function elsewhere({ folder, storage }: Bare, fake: string, lines: string) {
  await mkdir(join(folder, 'bin'), { recursive: true })
  await writeFile(
    join(folder, 'bin', 'git'),
    `#!/bin/sh\ncase "$*" in *merge-tree*) ${fake};; esac\nPATH='${process.env.PATH}' exec git "$@"\n`,
    { mode: 0o755 },
  )
  const program = `
    const { merge, isMergeable } = await import('#git/merge.ts')
    const { Storage } = await import('#git/storage.ts')
    const storage = new Storage(${JSON.stringify(join(folder, 'data'))})
    ${lines}`
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  assert.ok(storage.has(1))
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })
  return stdout.trim()
}

test('with a git before 2.38, a merge is refused with a reason', inject(async (bare) => {
  const told = await elsewhere(
    bare,
    'echo usage >&2; exit 129',
    `
    await isMergeable(storage, 1, 'main', 'head').catch((error) => console.log(error.reason, error.message))`,
  )
  assert.equal(told, 'unavailable To merge, the server needs git 2.38 or later.')
}))

test('a mergeability check that takes too long is ended, and the result is unknown', inject(async (bare) => {
  assert.deepEqual(await isMergeable(bare.storage, 1, 'main', 'head', AbortSignal.abort()), { state: 'unknown' })
  const told = await elsewhere(
    bare,
    `echo $$ > '${join(bare.folder, 'pid')}'; touch '${join(bare.folder, 'begun')}'; exec sleep 50`,
    `
    import { watch } from 'node:fs'
    const ending = new AbortController()
    watch(${JSON.stringify(bare.folder)}, (_, name) => name === 'begun' && ending.abort()).unref()
    console.log(JSON.stringify(await isMergeable(storage, 1, 'main', 'head', ending.signal)))`,
  )
  assert.equal(told, '{"state":"unknown"}')
  const pid = Number(await readFile(join(bare.folder, 'pid'), 'utf8'))
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.deepEqual(await readdir(join(bare.path, 'objects')).then((names) => names.filter((name) => name.startsWith('tmp_'))), [])
}))
