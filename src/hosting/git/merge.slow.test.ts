import assert from 'node:assert/strict'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { isMergeable, type Merge, merge } from '#git/merge.ts'
import { type Bare, openBare } from '#test/bare.ts'

const at = new Date('2026-03-01T12:00:00Z')
const ada = { name: 'Ada', email: 'ada@example.com' }
const grace = { name: 'Grace', email: 'grace@example.com' }
const methods = ['merge', 'squash', 'rebase'] as const

/** Merges `head` into `main`, as pushed. */
const mergeBy = ({ storage }: Bare, method: Merge['method'], more: Partial<Merge> = {}) =>
  merge(storage, 1, { base: 'main', head: 'head', method, author: ada, committer: grace, at, message: 'Merge\n', ...more })

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
const page = (...lines: string[]) => `${lines.join('\n')}\n`

/** A beginning that both sides have, then what each does with it. */
interface Story {
  begin?: (bare: Bare) => Promise<unknown>
  base?: (bare: Bare) => Promise<unknown>
  head: (bare: Bare) => Promise<unknown>
}

async function tell(bare: Bare, { begin, base, head }: Story) {
  const { work } = bare
  await work.commit('Begin', { 'README.md': page('# engine'), 'list.txt': page(...numbers(1, 30)) })
  await begin?.(bare)
  await work.git('checkout', '--quiet', '-b', 'head')
  await head(bare)
  await work.git('checkout', '--quiet', '--force', 'main')
  await work.git('clean', '-qfdx')
  await base?.(bare)
  await work.git('push', '--quiet', 'origin', 'main', 'head')
}

/** Beside what is in the index already, such as a submodule that is nowhere on disk. */
async function commitAlong({ work }: Bare, message: string, files: Record<string, string | Buffer>) {
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(dirname(join(work.folder, path)), { recursive: true })
    await writeFile(join(work.folder, path), contents)
  }
  await work.git('add', '--all', '--', '.', ':(exclude)vendor')
  await work.git('commit', '--quiet', '-m', message)
}

const change = (text: string, from: string, to: string) => text.replace(from, to)
const list = page(...numbers(1, 30))
const crlf = (text: string) => text.replaceAll('\n', '\r\n')
const binary = (byte: number) => Buffer.from([0, 1, 2, byte, 0, 255])
const gitlink = ({ work }: Bare, path: string, sha: string) =>
  work.git('update-index', '--add', '--cacheinfo', `160000,${sha.repeat(40)},${path}`)

const stories: Record<string, Story> = {
  'nothing on our side': {
    head: async ({ work }) => {
      await work.commit('One', { 'one.txt': '1\n' })
      await work.commit('Two', { 'two.txt': '2\n' })
    },
  },
  'the same change on both sides': {
    base: ({ work }) => work.commit('Ours', { 'list.txt': change(list, 'line 2\n', 'same\n') }),
    head: ({ work }) => work.commit('Theirs', { 'list.txt': change(list, 'line 2\n', 'same\n') }),
  },
  'changes of every kind that fit': {
    begin: async (bare) => {
      await gitlink(bare, 'vendor', '1')
      await bare.work.git('commit', '--quiet', '-m', 'Vendor')
      await commitAlong(bare, 'Files', { 'image.bin': binary(1), 'carriages.txt': crlf(list), 'run.sh': list })
    },
    base: async (bare) => {
      await chmod(join(bare.work.folder, 'run.sh'), 0o755)
      await commitAlong(bare, 'Ours', {
        'ours.txt': 'ours\n',
        'list.txt': change(list, 'line 2\n', 'ours\n'),
        'carriages.txt': crlf(change(list, 'line 2\n', 'ours\n')),
      })
    },
    head: async (bare) => {
      await gitlink(bare, 'vendor', '2')
      await symlink('../../../../etc/passwd', join(bare.work.folder, 'link'))
      await commitAlong(bare, 'Theirs', {
        'theirs.txt': 'theirs\n',
        'list.txt': change(list, 'line 28\n', 'theirs\n'),
        'carriages.txt': crlf(change(list, 'line 28\n', 'theirs\n')),
        'run.sh': change(list, 'line 2\n', 'theirs\n'),
        'image.bin': binary(2),
      })
    },
  },
  'changes of every kind that clash': {
    begin: async (bare) => {
      await gitlink(bare, 'vendor', '1')
      await bare.work.git('commit', '--quiet', '-m', 'Vendor')
      await commitAlong(bare, 'Files', { 'image.bin': binary(1), 'ends.txt': list, 'removed.txt': page(...numbers(50, 80)) })
    },
    base: async (bare) => {
      await gitlink(bare, 'vendor', '3')
      await symlink('list.txt', join(bare.work.folder, 'link'))
      await bare.work.git('rm', '--quiet', 'removed.txt')
      await commitAlong(bare, 'Ours', {
        'list.txt': change(list, 'line 2\n', 'ours\n'),
        'image.bin': binary(3),
        'ends.txt': crlf(list),
        thing: 'a file\n',
        '--output=x': 'ours\n',
        'ünï/\u{1F514}': 'ours\n',
        'new\nline': 'ours\n',
        '"quoted" \t': 'ours\n',
      })
    },
    head: async (bare) => {
      await gitlink(bare, 'vendor', '2')
      await symlink('README.md', join(bare.work.folder, 'link'))
      await commitAlong(bare, 'Theirs', {
        'list.txt': change(list, 'line 2\n', 'theirs\n'),
        'image.bin': binary(2),
        'ends.txt': change(list, 'line 20\n', 'theirs\n'),
        'removed.txt': page(...numbers(50, 80), 'line 81'),
        'thing/inside.txt': 'a folder\n',
        '--output=x': 'theirs\n',
        'ünï/\u{1F514}': 'theirs\n',
        'new\nline': 'theirs\n',
        ':(top)*': 'theirs\n',
      })
    },
  },
  'a renamed file that the other side changes': {
    base: async ({ work }) => {
      await work.git('mv', 'list.txt', 'renamed.txt')
      await work.commit('Rename', {})
    },
    head: ({ work }) => work.commit('Theirs', { 'list.txt': change(list, 'line 20\n', 'theirs\n') }),
  },
  'files renamed on both sides': {
    begin: ({ work }) => work.commit('Another', { 'other.txt': page(...numbers(100, 130)) }),
    base: async ({ work }) => {
      await work.git('mv', 'list.txt', 'ours.txt')
      await work.commit('Ours', { 'other.txt': page(...numbers(100, 130), 'the end') })
    },
    head: async ({ work }) => {
      await work.git('mv', 'other.txt', 'theirs.txt')
      await work.commit('Theirs', { 'list.txt': page('the beginning', ...numbers(1, 30)) })
    },
  },
  'one file renamed to two names': {
    base: async ({ work }) => {
      await work.git('mv', 'list.txt', 'ours.txt')
      await work.commit('Ours', {})
    },
    head: async ({ work }) => {
      await work.git('mv', 'list.txt', 'theirs.txt')
      await work.commit('Theirs', {})
    },
  },
  'a folder renamed, with a file that the other side adds to it': {
    begin: ({ work }) => work.commit('Folder', { 'old/a.txt': page(...numbers(1, 9)), 'old/b.txt': page(...numbers(20, 29)) }),
    base: async ({ work }) => {
      await work.git('mv', 'old', 'new')
      await work.commit('Ours', {})
    },
    head: ({ work }) => work.commit('Theirs', { 'old/c.txt': 'c\n' }),
  },
  'histories that cross twice': {
    head: async ({ work }) => {
      await work.commit('Theirs', { 'list.txt': change(list, 'line 3\n', 'theirs\n') })
      await work.git('tag', 'their-first')
      await work.git('checkout', '--quiet', 'main')
      await work.commit('Ours', { 'list.txt': change(list, 'line 25\n', 'ours\n') })
      await work.git('tag', 'our-first')
      await work.git('merge', '--quiet', '--no-edit', '--no-ff', 'their-first')
      await work.commit('Ours again', { 'list.txt': change(change(list, 'line 3\n', 'theirs\n'), 'line 25\n', 'ours again\n') })
      await work.git('checkout', '--quiet', 'head')
      await work.git('merge', '--quiet', '--no-edit', '--no-ff', 'our-first')
      await work.commit('Theirs again', { 'list.txt': change(change(list, 'line 3\n', 'theirs again\n'), 'line 25\n', 'ours\n') })
    },
  },
  'commits that are empty, merged or in the base already': {
    head: async ({ work }) => {
      await work.commit('One', { 'one.txt': '1\n' })
      await work.git('commit', '--quiet', '--allow-empty', '-m', 'Empty')
      const two = await work.commit('Two', { 'two.txt': '2\n' })
      await work.git('checkout', '--quiet', 'main')
      await work.commit('Ours', { 'ours.txt': 'ours\n' })
      await work.git('cherry-pick', two)
      await work.git('checkout', '--quiet', 'head')
      await work.git('merge', '--quiet', '--no-edit', 'main')
      await work.commit('Three', { 'three.txt': '3\n' })
      await work.git('checkout', '--quiet', 'main')
      await work.commit('Ours again', { 'ours.txt': 'ours again\n' })
    },
  },
  'a second beginning, merged in': {
    base: ({ work }) => work.commit('Ours', { 'ours.txt': 'ours\n' }),
    head: async ({ work }) => {
      await work.git('checkout', '--quiet', '--orphan', 'second')
      await work.git('rm', '-rfq', '.')
      await work.commit('Second beginning', { 'second.txt': '2\n' })
      await work.git('checkout', '--quiet', 'head')
      await work.git('merge', '--quiet', '--no-edit', '--allow-unrelated-histories', 'second')
    },
  },
}

const clashing: Record<string, string[]> = {
  'changes of every kind that clash': [
    '--output=x',
    'ends.txt',
    'image.bin',
    'link',
    'list.txt',
    'new\nline',
    'removed.txt',
    'thing',
    'vendor',
    'ünï/\u{1F514}',
  ],
  'one file renamed to two names': ['list.txt', 'ours.txt', 'theirs.txt'],
  'a folder renamed, with a file that the other side adds to it': ['new/c.txt'],
}

/** What git makes of it in a worktree: the same steps by hand. */
async function byHand({ work }: Bare, method: Merge['method']) {
  await work.git('checkout', '--quiet', '--detach', method === 'rebase' ? 'head' : 'main')
  const steps = {
    merge: ['merge', '--quiet', '--no-ff', '--no-edit', 'head'],
    squash: ['merge', '--quiet', '--squash', 'head'],
    rebase: ['rebase', '--quiet', '--no-keep-empty', '--reapply-cherry-picks', 'main'],
  }
  const { status } = await work.attempt(...steps[method])
  const unmerged = (await work.git('diff', '--name-only', '-z', '--diff-filter=U')).split('\0').filter(Boolean)
  if (status === 0 && method === 'squash') await work.git('commit', '--quiet', '--allow-empty', '-m', 'Squash')
  const log = status === 0 ? await logOf((...args) => work.git(...args), 'HEAD', method) : ''
  const tree = await work.git('rev-parse', 'HEAD^{tree}')
  if (status !== 0) await work.attempt('rebase', '--abort')
  await work.git('reset', '--quiet', '--hard')
  await work.git('clean', '-qfdx')
  return { clean: status === 0, unmerged: unmerged.map((path) => path.replace(/~.*$/, '')).sort(), tree, log }
}

const format = { merge: '%T %P', squash: '%T %P', rebase: '%T %an <%ae> %ai %B' }
const logOf = (git: (...args: string[]) => Promise<string>, to: string, method: Merge['method']) =>
  git('log', `--format=${format[method]}`, ...(method === 'rebase' ? [`main..${to}`] : ['--max-count=1', to]))

test('a merge has the same result as git in a worktree', { concurrency: 4 }, async (t) => {
  await Promise.all(Object.entries(stories).map(([name, story]) => t.test(name, () => check(name, story))))
})

async function check(name: string, story: Story) {
  await using bare = await openBare()
  await tell(bare, story)
  const refs = await bare.bare('for-each-ref')
  for (const method of methods) {
    const expected = await byHand(bare, method)
    const merged = await mergeBy(bare, method)
    if ('conflict' in merged) {
      assert.deepEqual([merged.conflict.sort(), expected.unmerged, merged.reason], [clashing[name], clashing[name], 'conflict'])
    } else {
      assert.deepEqual([expected.clean, clashing[name]], [true, undefined], method)
      const sha = 'sha' in merged ? merged.sha : 'main'
      assert.equal(await bare.bare('rev-parse', `${sha}^{tree}`), expected.tree)
      if ('sha' in merged || method === 'rebase') assert.equal(await logOf(bare.bare, sha, method), expected.log)
    }
  }
  await bare.bare('fsck', '--strict', '--no-dangling')
  const { state } = await isMergeable(bare.storage, 1, 'main', 'head')
  assert.equal(state, name in clashing ? 'dirty' : 'clean')
  assert.equal(await bare.bare('for-each-ref'), refs, 'no ref moves')
}

test('no more than 1,000 commits are rebased at once', async () => {
  await using bare = await openBare()
  const steps = (name: string) =>
    Array.from({ length: 1001 }, (_, index) => ({ author: ada, at, message: `${index}`, files: { [name]: `${index}\n` } }))
  const { head } = await bare.storage.commit(1, 'long', steps('long.txt'))
  const first = await bare.bare('rev-parse', 'long~1000')
  const merged = await mergeBy(bare, 'rebase', { base: first, head })
  assert.ok('sha' in merged, JSON.stringify(merged))
  assert.equal(await bare.bare('rev-list', '--count', `${first}..${merged.sha}`), '1000')
  assert.equal(await bare.bare('rev-parse', `${merged.sha}^{tree}`), await bare.bare('rev-parse', 'long^{tree}'))
  await bare.bare('branch', 'longer', first)
  await bare.storage.commit(1, 'longer', steps('longer.txt'))
  const longer = mergeBy(bare, 'rebase', { base: first, head: 'longer' })
  await assert.rejects(longer, { reason: 'invalid', message: /1000 commits/ })
})
