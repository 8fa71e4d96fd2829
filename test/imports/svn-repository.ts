import { type History, linked, runs } from './svn-dump.ts'

/** The usual layout, with a file in the trunk. */
export function tellStandard({ folder, add, commit }: History) {
  for (const path of ['trunk', 'branches', 'tags']) folder(path)
  add('trunk/a.txt', 'a\n')
  commit('Begin')
}

/** Incompressible bytes, the same each time. */
export function noise(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size)
  let state = seed
  for (let at = 0; at + 4 <= size; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes.writeUInt32LE((state ^ (state >>> 15)) >>> 0, at)
  }
  return bytes
}

const binary = noise(300_000)

/** Every feature of Subversion that matters to the importer, once; optionally below a folder. */
export function tellCorners(history: History, below = '') {
  const at = (path: string) => (below === '' ? path : `${below}/${path}`)
  const { folder, add, change, describe, replace, remove, copy, commit, head } = history
  if (below !== '') folder(below)
  for (const name of ['trunk', 'branches', 'tags']) folder(at(name))
  commit('Standard layout')
  for (let number = 0; number < 9; number++) {
    folder(at(`trunk/dir${number}`))
    for (let file = 0; file < 3; file++)
      add(at(`trunk/dir${number}/file${file}.txt`), `${'line\n'.repeat(20)}${number} ${file}\n`)
  }
  add(at('trunk/README.md'), '# Project\n', { 'svn:mime-type': 'text/plain' })
  add(at('trunk/ünïcödé 日本 name.txt'), 'a name in UTF-8\n')
  add(at('trunk/quote"back\\slash @.txt'), 'a name with signs\n')
  add(at('trunk/run.sh'), '#!/bin/sh\n', runs)
  add(at('trunk/link'), 'link README.md', linked)
  add(at('trunk/data.bin'), binary)
  add(at('trunk/keywords.c'), '/* $Id$ */\r\nint x;\r\n', { 'svn:keywords': 'Id', 'svn:eol-style': 'CRLF' })
  add(at('trunk/empty.txt'), '')
  folder(at('trunk/empty folder'))
  commit('Import\n\nwith a body, and ünïcode', 'grace hopper')
  const imported = head()

  change(at('trunk/run.sh'), '#!/bin/sh\necho\n', {})
  commit('No longer executable')
  describe(at('trunk/run.sh'), 'file', runs)
  commit('Executable again, by its properties alone', 'DOMAIN\\greg')
  change(at('trunk/link'), 'link dir0/file0.txt')
  commit('A link leads elsewhere')
  remove(at('trunk/link'))
  add(at('trunk/link'), 'a plain file\n')
  commit('A link becomes a file')
  change(at('trunk/link'), 'link run.sh', linked)
  commit('A file becomes a link')
  replace(at('trunk/README.md'), '# Replaced\n')
  commit('Replaced without history')
  copy(at('trunk/dir1/file1.txt'), head(), at('trunk/README.md'), { kind: 'file', replace: true })
  commit('Replaced with history')
  describe(at('trunk'), 'dir', { 'svn:ignore': '*.o\n', 'svn:externals': 'ext http://127.0.0.1:1/x\n' })
  commit('Properties of a folder')
  copy(at('trunk/dir2'), head(), at('trunk/dir2 renamed'))
  remove(at('trunk/dir2'))
  commit('A folder renamed')
  copy(at('trunk/dir3/file1.txt'), head(), at('trunk/dir3/renamed.txt'), { kind: 'file', content: 'line\n'.repeat(30) })
  remove(at('trunk/dir3/file1.txt'))
  commit('A file renamed and changed')
  remove(at('trunk/dir4/file1.txt'))
  folder(at('trunk/dir4/file1.txt'))
  add(at('trunk/dir4/file1.txt/inner.txt'), 'in it\n')
  commit('A file becomes a folder')
  remove(at('trunk/dir4/file1.txt'))
  add(at('trunk/dir4/file1.txt'), 'a file again\n')
  commit('A folder becomes a file')

  copy(at('trunk'), head(), at('branches/mixed'))
  add(at('branches/mixed/added.txt'), 'added with the copy\n')
  remove(at('branches/mixed/dir5'))
  change(at('branches/mixed/dir6/file1.txt'), 'changed with the copy\n')
  commit('A branch with changes in the same revision')
  copy(at('trunk'), head(), at('tags/mixed'))
  copy(at('trunk/dir7'), imported, at('tags/mixed/dir7'), { replace: true })
  commit('A tag of several revisions')
  folder(at('branches/feature'))
  copy(at('trunk'), head(), at('branches/feature/nested'))
  commit('A nested branch')
  copy(at('trunk/dir8'), head(), at('branches/partial'))
  commit('A branch of a folder')
  copy(at('trunk'), imported, at('branches/old'))
  commit('A branch of an old revision')
  folder(at('branches/by hand'))
  add(at('branches/by hand/a.txt'), 'a\n')
  commit('A branch without a copy')
  remove(at('branches/old'))
  commit('A branch deleted')
  copy(at('trunk'), head(), at('branches/old'))
  commit('A branch of the same name')
  copy(at('tags/mixed'), head(), at('branches/from-tag'))
  commit('A branch of a tag')
  change(at('tags/mixed/run.sh'), '#!/bin/sh\necho tag\n')
  commit('A commit to a tag')
  copy(at('trunk'), head(), at('tags/v1.0'))
  commit('Version 1.0', 'releaser')
  remove(at('tags/mixed'))
  copy(at('trunk'), head(), at('tags/mixed'))
  commit('A tag moved')
  for (const branch of ['trunk', 'branches/mixed', 'branches/by hand']) add(at(`${branch}/several.txt`), 'on three branches\n')
  commit('One revision on three branches')
  folder(at('trunk/.git'))
  add(at('trunk/.git/config'), '[core]\n')
  add(at('trunk/.gitignore'), '*.log\n')
  commit('A folder that git cannot keep')
  commit('Nothing at all')
  add(at('trunk/nobody.txt'), 'x\n')
  commit('Of nobody', null)
  change(at('trunk/nobody.txt'), 'y\n')
  commit(null)
  change(at('trunk/nobody.txt'), 'z\n')
  commit(Buffer.from('Gr\xfc\xdfe aus K\xf6ln', 'latin1'))
  change(at('branches/old/dir1/file0.txt'), 'from trunk\n')
  describe(at('branches/old'), 'dir', { 'svn:mergeinfo': `/${at('trunk')}:${imported}-${head()}` })
  commit('Merge trunk')
  copy(at('branches/old'), head(), at('trunk'), { replace: true })
  commit('Trunk replaced by a branch')
  change(at('trunk/data.bin'), Buffer.concat([binary.subarray(100_000), noise(1000, 7), binary.subarray(0, 100_000)]))
  commit('A binary turned around')
  copy(at('branches/mixed'), head(), at('branches/odd name..~x'))
  remove(at('branches/mixed'))
  commit('A branch renamed')
  folder(at('trunk/deep'))
  folder(at('trunk/deep/er'))
  add(at('trunk/deep/er/leaf.txt'), 'leaf\n')
  if (below === '') add('outside.txt', 'beside the trunk\n')
  commit('Deep')
  remove(at('trunk/deep/er/leaf.txt'))
  commit('Empty folders')
}

/** A project that moved twice, with branches at each path. */
export function tellMoves({ folder, add, change, remove, copy, commit, head }: History) {
  folder('old')
  for (const name of ['old/trunk', 'old/branches', 'old/tags']) folder(name)
  add('old/trunk/a.txt', 'one\n')
  commit('Begin')
  copy('old/trunk', head(), 'old/branches/early')
  commit('An early branch')
  change('old/branches/early/a.txt', 'early\n')
  commit('Work on it')
  folder('projects')
  copy('old', head(), 'projects/new')
  remove('old')
  commit('Move')
  change('projects/new/trunk/a.txt', 'two\n')
  commit('Go on')
  copy('projects/new', head(), 'engine')
  remove('projects/new')
  commit('Move again')
  change('engine/trunk/a.txt', 'three\n')
  commit('And on')
}

/** A simple history of any length: changes of a few files, sometimes a branch, a tag or a merge. Always the same. */
export function tellLong(history: History, revisions: number, size = { files: 120, lines: 60 }) {
  const { folder, add, change, describe, copy, commit, head } = history
  const files = Array.from({ length: size.files }, (_, number) => `dir${number % 12}/file${number}.txt`)
  const lines = files.map((file) =>
    Array.from({ length: size.lines }, (_, line) => `${file} ${line} ${'word '.repeat(line % 9)}`),
  )
  for (const name of ['trunk', 'branches', 'tags']) folder(name)
  commit('Layout')
  for (let number = 0; number < 12; number++) folder(`trunk/dir${number}`)
  for (const [place, file] of files.entries()) add(`trunk/${file}`, `${lines[place]?.join('\n')}\n`)
  commit('Import')
  let branches = 0
  while (head() < revisions) {
    const next = head() + 1
    if (next % 97 === 0) copy('trunk', head(), `tags/v${next}`)
    else if (next % 61 === 0) copy('trunk', head(), `branches/b${++branches}`)
    else if (next % 67 === 0 && branches > 0) describe(`branches/b${branches}`, 'dir', { 'svn:mergeinfo': `/trunk:2-${head()}` })
    else {
      for (let step = 0; step < 1 + (next % 3); step++) {
        const place = (next * 7 + step * 31) % files.length
        const text = lines[place] ?? []
        text[(next * 13) % text.length] = `changed in ${next} ${'word '.repeat(next % 11)}`
        change(`trunk/${files[place]}`, `${text.join('\n')}\n`)
      }
      if (next % 5 === 0) add(`trunk/dir${next % 12}/new${next}.txt`, `new in ${next}\n${'text\n'.repeat(next % 40)}`)
    }
    commit(`Change ${next}`, ['ada', 'grace', 'joan', 'mary'][next % 4])
  }
}
