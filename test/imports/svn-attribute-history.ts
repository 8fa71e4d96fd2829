import type { History } from './svn-dump.ts'

const style = (name: string) => ({ 'svn:eol-style': name })
const octets = { 'svn:mime-type': 'application/octet-stream' }

/** Every change of properties that become attributes, once. */
export function tellAttributes({ folder, add, change, describe, remove, copy, commit, head }: History) {
  folder('trunk')
  folder('branches')
  folder('tags')
  add('trunk/a.c', 'a\n', { ...style('native'), 'svn:keywords': 'Author Id' })
  add('trunk/b.c', 'b\n', { ...style('native'), 'svn:keywords': 'id\nDate' })
  add('trunk/run.bat', 'x\r\ny\r\n', style('CRLF'))
  add('trunk/mixed.txt', 'x\r\ny\n', style('native'))
  add('trunk/plain.txt', 'x\n')
  add('trunk/old.mac', 'x\ry\r', style('CR'))
  add('trunk/x.bin', 'b\r\n', octets)
  add('trunk/page.html', '<p>\n', { 'svn:mime-type': 'text/html; charset=utf-8' })
  add('trunk/sp ace "q" [x]*\\', 'x\n', style('LF'))
  add('trunk/both.dat', 'x\n', { ...octets, ...style('LF') })
  folder('trunk/own')
  add('trunk/own/.gitattributes', '*.sh eol=lf\n')
  add('trunk/own/run.sh', 'x\n', style('LF'))
  folder('trunk/lib')
  add('trunk/lib/x.c', 'x\n', style('native'))
  commit('Properties, and a file of that name')
  copy('trunk', head(), 'branches/one')
  commit('A branch')
  describe('branches/one/lib/x.c', 'file', {})
  change('branches/one/a.c', 'a2\n')
  commit('A property is gone from the branch')
  const early = head()
  remove('trunk/own/.gitattributes')
  commit('The file is gone, and the properties count')
  add('trunk/lib/.gitattributes', '*.c -text\n')
  commit('A file where there are properties')
  describe('trunk/lib/x.c', 'file', style('LF'))
  commit('The property changes behind the file')
  copy('trunk/lib', early, 'trunk/lib2')
  copy('trunk/lib/x.c', head(), 'trunk/y.cc', { kind: 'file' })
  commit('A folder as it was, and a single file')
  remove('trunk/lib/.gitattributes')
  add('trunk/lib/z.c', 'z\n')
  commit('The changed property counts, and a file has none')
  copy('trunk', head(), 'tags/v1')
  add('tags/v1/lib2/new.c', 'n\n')
  remove('tags/v1/own')
  commit('A tag with changes in the same revision')
  remove('trunk/x.bin')
  add('trunk/x.bin', 'text\n', style('native'))
  remove('trunk/lib2/x.c')
  add('trunk/lib2/k.c', 'k\n')
  remove('trunk/own')
  add('trunk/own', 'a file\n', style('LF'))
  commit('Files go, and a folder becomes a file')
}

const top = [
  '"/sp ace \\"q\\" \\\\[x\\\\]\\\\*\\\\\\\\" text=auto eol=lf',
  '/*.bat text=auto eol=crlf',
  '/*.bin -text',
  '/*.c text=auto ident',
  '/*.dat text=auto eol=lf',
  '/mixed.txt text=auto',
]
const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('')

/** The expected .gitattributes files, by branch or tag. */
export const attributeFiles: Record<string, Record<string, string>> = {
  'heads/main': {
    '.gitattributes': lines(
      ...top.slice(0, 2),
      '/*.bin text=auto',
      '/*.c text=auto ident',
      '/*.cc text=auto eol=lf',
      ...top.slice(4),
      '/own text=auto eol=lf',
    ),
    'lib/.gitattributes': lines('/x.c text=auto eol=lf'),
  },
  'heads/one': { '.gitattributes': lines(...top), 'own/.gitattributes': '*.sh eol=lf\n' },
  'tags/v1': {
    '.gitattributes': lines(...top.slice(0, 4), '/*.cc text=auto eol=lf', ...top.slice(4)),
    'lib/.gitattributes': lines('/x.c text=auto eol=lf'),
    'lib2/.gitattributes': lines('/x.c text=auto'),
  },
}
