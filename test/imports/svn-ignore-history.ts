import type { History } from './svn-dump.ts'

/** Patterns that git would read differently; the one with a slash matches nothing. */
const ignore = '*.o\r\n#hash\n!bang\nfoo \nbar\\ \nend\\\na\\*b\n[!b-y]\nbuild/\n\n.d*\nsp ace\n'
const below = '*.tmp\n#all\n!all\ndeep/er\ntail  \n'

/** Every change of ignore lists, once. */
export function tellIgnores({ folder, add, change, describe, remove, copy, commit, head }: History) {
  describe('', 'dir', { 'svn:global-ignores': '*.outside\n' })
  folder('trunk', { 'svn:ignore': ignore, 'svn:global-ignores': below })
  folder('branches')
  folder('tags')
  add('trunk/a.txt', 'a\n')
  folder('trunk/lib', { 'svn:ignore': '*.a\ncache\n' })
  add('trunk/lib/x.c', 'x\n')
  folder('trunk/own')
  add('trunk/own/.gitignore', '*.log\n')
  folder('trunk/kept', { 'svn:ignore': '*.never\n' })
  add('trunk/kept/.gitignore', '*.kept\n')
  folder('trunk/slashes', { 'svn:ignore': 'build/\n' })
  add('trunk/slashes/y.c', 'y\n')
  commit('Lists, and files of that name')
  describe('trunk/own', 'dir', { 'svn:ignore': '*.later\n' })
  commit('A list where there is a file')
  copy('trunk', head(), 'branches/one')
  commit('A branch')
  describe('branches/one', 'dir', {})
  commit('A list is gone from the branch')
  remove('trunk/own/.gitignore')
  commit('The file is gone, and the list counts')
  const early = head()
  add('trunk/lib/.gitignore', '*.mine\n')
  commit('A file where there is a list')
  copy('trunk/lib', early, 'trunk/lib2')
  commit('A folder as it was')
  describe('trunk/lib', 'dir', { 'svn:ignore': '*.b\n', 'svn:global-ignores': '*.bb\n' })
  commit('The list changes behind the file')
  remove('trunk/lib/.gitignore')
  commit('The changed list counts')
  describe('trunk/lib', 'dir', { 'svn:global-ignores': '*.bb\n' })
  commit('One of two lists goes')
  copy('trunk', head(), 'tags/v1')
  describe('tags/v1/lib', 'dir', { 'svn:ignore': 'tagged\n' })
  add('tags/v1/lib2/.gitignore', '*.tag\n')
  remove('tags/v1/own')
  commit('A tag with changes in the same revision')
  folder('trunk/only', { 'svn:ignore': 'x\n' })
  folder('trunk/passing', { 'svn:ignore': 'y\n' })
  commit('Folders with nothing but a list')
  remove('trunk/passing')
  remove('trunk/lib2')
  copy('trunk/lib', head(), 'trunk/moved')
  commit('Folders go')
  remove('trunk/lib')
  add('trunk/lib', 'a file\n')
  change('trunk/a.txt', 'b\n')
  commit('A folder becomes a file')
}

/** The expected .gitignore files, by branch or tag. */
export const ignoreFiles: Record<string, Record<string, string>> = {
  'heads/main': {
    '.gitignore':
      '/*.o\n/#hash\n/!bang\n/foo\\ \n/bar\\ \n/end\\\\\n/a\\*b\n/[!b-y]\n/.d*\n/sp ace\n*.tmp\n\\#all\n\\!all\ntail\\ \\ \n',
    'kept/.gitignore': '*.kept\n',
    'moved/.gitignore': '*.bb\n',
    'only/.gitignore': '/x\n',
    'own/.gitignore': '/*.later\n',
  },
  'heads/one': { 'kept/.gitignore': '*.kept\n', 'lib/.gitignore': '/*.a\n/cache\n', 'own/.gitignore': '*.log\n' },
}
ignoreFiles['tags/v1'] = {
  '.gitignore': ignoreFiles['heads/main']?.['.gitignore'] ?? '',
  'kept/.gitignore': '*.kept\n',
  'lib/.gitignore': '/tagged\n',
  'lib2/.gitignore': '*.tag\n',
}

/** Names that are ignored, and names that are not. */
export const names = [
  ...['x.o', '#hash', '!bang', 'foo ', 'foo', 'bar ', 'bar\\ ', 'end\\', 'end', 'a*b', 'axb', 'build', '.dot', 'sp ace', 'sp'],
  ...['z', 'c', 'x.tmp', '#all', '!all', 'all', 'er', 'tail  ', 'tail', 'x.later', 'x.bb', 'x.never', 'hash', 'x.oo'],
]
