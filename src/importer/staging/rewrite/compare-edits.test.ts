import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { emptyTree } from '#importer/staging/arrange/root-history.ts'
import { openConversions } from '#test/imports/convert-command.ts'
import { writeHistory } from '#test/imports/histories.ts'
import { compareEdits } from './compare-edits.ts'
import { openPathPatterns } from './path-patterns.ts'

test('files and commits that are not as asked for are named', async () => {
  await using work = await openConversions()
  const repository = join(work.folder, 'plain.git')
  await writeHistory(repository, { commits: 4 })
  const log = await git(['-C', repository, 'log', '--format=%H %T', '--glob=refs/*'])
  const listed = log
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  const files = (await git(['-C', repository, 'ls-tree', '-r', '--name-only', listed[0]?.[0] ?? ''])).trim().split('\n')
  const compare = async (exclude: string[], after: (tree: string) => string, allowed: string[]) => {
    const commits = listed.map(([id = '', tree = '']) => ({ id, tree, filtered: after(tree), tip: false }))
    const paths = openPathPatterns({ include: [], exclude })
    const common = { signal: new AbortController().signal, all: true, refs: [listed[0]?.[0] ?? ''], allowed: new Set(allowed) }
    const { mismatches } = await compareEdits(repository, { ...common, paths, commits })
    return new Set(mismatches.map(({ path, what }) => `${path}${what.replace(/.*?(is|has) /, ' ')}`.trim()))
  }
  const ids = listed.map(([id = '']) => id)
  assert.deepEqual(await compare([], (tree) => tree, ids), new Set())
  assert.deepEqual(await compare(['**'], () => emptyTree, ids), new Set())
  // The first hundred are listed.
  const named = (found: Set<string>, what: string) => {
    const expected = new Set(files.map((path) => `${path} ${what}`))
    assert.deepEqual([found.size, [...found].filter((one) => !expected.has(one))], [100, []])
  }
  named(await compare(['**'], (tree) => tree, ids), 'there in spite of --include and --exclude')
  named(await compare([], () => emptyTree, ids), 'missing after --include and --exclude')
  assert.deepEqual(await compare([], (tree) => tree, ids.slice(0, 1)), new Set(['there in spite of --since']))
})
