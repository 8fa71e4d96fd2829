import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { isReserved } from '#git/ref-names.ts'
import { isForbiddenLink, isForbiddenPath } from './paths.ts'
import { cleanRefName, openRefNames } from './ref-names.ts'

test('git accepts the name that is made of any branch name', async () => {
  const odd = [
    '',
    '/',
    '//a//b/',
    '.',
    '..',
    '...a..b...',
    '@',
    '@{x',
    'HEAD',
    '-x',
    '--',
    'a.lock',
    'a.lock/b.lock.',
    'a/.b',
    'ä b\tc',
    '\0',
    '[x]*?',
    'a\\b',
  ]
  for (const name of [...odd, 'x~1', 'x^', 'a:b', `${'ö'.repeat(500)}.lock`, '\ud800x', 'a/-b', ' ', '-/-', 'x.lock/', '~/~']) {
    const cleaned = cleanRefName(name)
    equal((await git(['check-ref-format', '--branch', cleaned])).trim(), cleaned, JSON.stringify(name))
    for (const part of cleaned.split('/')) equal(Buffer.byteLength(part) <= 205, true)
  }
  for (const name of ['refs/heads/main', 'refs/x', 'a'.repeat(40), '0'.repeat(64), '/refs//tags/v1'])
    equal(isReserved(`refs/tags/${cleanRefName(name)}`), false, name)
  for (const name of ['main', 'feature/one', 'v1.0', 'ünï/日本', 'a@b', 'a-b']) equal(cleanRefName(name), name)
})

test('conflicting names get a number', () => {
  const names = openRefNames()
  const given = ['a', 'a', 'a b', 'a-b', 'x/y', 'x', 'a/b', 'x/y/z', 'a-2'].map((name) => names.take(name))
  equal(given.join(' '), 'a a-2 a-b a-b-2 x/y x-2 a-3/b x/y-2/z a-2-2')
})

test('paths that git reserves, or that leave the folder, are forbidden', () => {
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  const forbidden = [
    '.git',
    'a/.GIT/b',
    '.git ',
    '.git. .',
    'git~1',
    'GIT~1/x',
    '.git::$INDEX_ALLOCATION',
    'a\\.git',
    '..',
    'a/../b',
    './a',
    '/a',
    'a//b',
    'a/',
    bytes('.g\u200cit'),
    '',
  ]
  for (const path of forbidden) equal(isForbiddenPath(path), true, path)
  for (const path of ['.gitignore', 'git', 'a.git', '.github/x', 'git~2', '...', 'a/b', 'x.git/y'])
    equal(isForbiddenPath(path), false, path)
  for (const path of ['.gitmodules', 'a/.GITMODULES', 'gitmod~1']) equal(isForbiddenLink(path), true, path)
  equal(isForbiddenLink('gitmodules'), false)
})
