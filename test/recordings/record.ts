import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { convert } from '#test/imports/convert-command.ts'
import { hgEnvironment } from '#test/imports/hg.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { chuck, juergen, openScript } from '#test/tfvc/script.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'
import { type Commit, describeHistory } from './history.ts'
import { pathOf, record } from './replay.ts'

/**
 * Makes the recordings again, with Subversion, Mercurial and git: `node test/recordings/record.ts`. Beside each it writes which commits the source's own
 * program says there are, with the git ids of the files that `svn export` and `hg archive` write. TFVC has no free server: its answers are
 * those of test/tfvc, and what they must give comes from the script of its history.
 */
const folder = mkdtempSync(join(tmpdir(), 'belfry-record-'))
const at = (...path: string[]) => join(folder, ...path)
const environment = { ...hgEnvironment, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: folder, env: environment, maxBuffer: 1 << 26 }).toString()

function write(path: string, text: string, mode = 0o644) {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), text)
  chmodSync(at(path), mode)
}

function empty(path: string) {
  rmSync(at(path), { recursive: true, force: true })
  mkdirSync(at(path))
}

const git = (...args: string[]) => run('git', '-c', 'core.autocrlf=false', '--git-dir', at('trees.git'), ...args).trim()

/** The git id of files in a folder. */
function treeIn(path: string) {
  git('--work-tree', at(path), 'add', '--all', '--force', '.')
  return git('write-tree')
}

/** The commits of a branch, the newest first. A folder that is only made or copied is not a commit in git. */
function chain(entries: Omit<Commit, 'parents'>[]): Commit[] {
  const made = entries.filter(({ message }) => !/^(Make|Branch|Tag)/.test(message))
  return made.map((entry, index) => {
    const parents = made.slice(index + 1, index + 2).map(({ message }) => message)
    return { ...entry, parents: entry.message === 'Merge the feature' ? [...parents, 'Chime'] : parents }
  })
}

const saveChains = (kind: string, chains: Record<string, Commit[]>) =>
  save(
    kind,
    Object.fromEntries(Object.entries(chains).map(([ref, commits]) => [ref, commits[0]?.message ?? ''])),
    Object.values(chains).flat(),
  )

const save = (kind: string, refs: Record<string, string>, commits: Commit[]) =>
  writeFileSync(pathOf(`${kind}.txt`), `${describeHistory(refs, commits).join('\n')}\n`)

function recordSubversion() {
  const [repository, url] = [at('svn'), `file://${at('svn')}`]
  run('svnadmin', 'create', repository)
  run('svnadmin', 'setuuid', repository, '6c5b8a1e-4000-4000-8000-000000000033')
  run('svn', 'checkout', '--quiet', url, 'work')
  let revision = 0
  const svn = (...args: string[]) => run('svn', ...args.map((arg) => arg.replace('^', `${url}/`)))
  const commit = (message: string, author = 'ada') => {
    run('svn', 'add', '--quiet', '--force', '--no-ignore', 'work')
    run('svn', 'commit', '--quiet', '--username', author, '--message', message, 'work')
    run('svn', 'update', '--quiet', 'work')
    write('date', new Date(Date.UTC(2010, 0, 1) + ++revision * 3_600_000).toISOString().replace('Z', '000Z'))
    run('svnadmin', 'setrevprop', repository, '-r', `${revision}`, 'svn:date', 'date')
  }
  for (const name of ['trunk', 'branches', 'tags']) mkdirSync(at('work', name))
  commit('Make folders')
  write('work/trunk/README.md', '# Bells\n')
  write('work/trunk/src/main.c', 'int main;\n')
  write('work/trunk/src/Größe 日本.txt', 'a name that is not ASCII\n')
  write('work/trunk/ring.sh', '#!/bin/sh\n', 0o755)
  symlinkSync('ring.sh', at('work/trunk/link'))
  commit('Import\n\nMit Grüßen aus Köln.', 'grace')
  svn('propset', '--quiet', 'svn:ignore', '*.o', 'work/trunk')
  svn('propset', '--quiet', 'svn:eol-style', 'native', 'work/trunk/README.md')
  commit('Ignore objects')
  svn('copy', '--quiet', 'work/trunk', 'work/branches/feature')
  commit('Branch')
  write('work/branches/feature/src/chime.c', 'int chime;\n')
  commit('Chime', 'joan')
  svn('move', '--quiet', 'work/trunk/src/main.c', 'work/trunk/src/start.c')
  svn('copy', '--quiet', 'work/trunk/src', 'work/trunk/copied')
  commit('Rename a file and copy a folder')
  svn('merge', '--quiet', '--accept', 'working', '^branches/feature', 'work/trunk')
  commit('Merge the feature')
  svn('copy', '--quiet', 'work/trunk', 'work/tags/v1.0')
  commit('Tag')
  svn('copy', '--quiet', 'work/trunk', 'work/branches/gone')
  commit('Branch for a moment')
  svn('remove', '--quiet', 'work/branches/gone')
  svn('remove', '--quiet', 'work/trunk/copied')
  write('work/trunk/README.md', '# Bells and chimes\n')
  commit('Remove a folder and a branch', 'grace')

  writeFileSync(pathOf('subversion.dump'), run('svnadmin', 'dump', '--quiet', repository))

  const roots = { trunk: 'refs/heads/main', 'branches/feature': 'refs/heads/feature', 'tags/v1.0': 'refs/tags/v1.0' }
  const chains = Object.entries(roots).map(([root, ref]) => {
    // It follows copies.
    const logged = svn('log', '--xml', `^${root}`).matchAll(logEntry)
    const entries = Array.from(logged, ([, number = '', author = '', date = '', message = '']) => {
      empty('export')
      svn('export', '--quiet', '--force', '-r', number, `^${root}@HEAD`, 'export')
      return { tree: treeIn('export'), message, author, date: `${Date.parse(date) / 1000} +0000` }
    })
    return [ref, chain(entries)] as const
  })
  saveChains('subversion', Object.fromEntries(chains))
}

const logEntry = /revision="(\d+)">\s*<author>(.*)<\/author>\s*<date>(.*)<\/date>\s*<msg>([^<]*)/g

async function recordMercurial() {
  run('hg', 'init', 'hg')
  run('hg', 'init', 'hg/bell')
  const hg = (...args: string[]) => run('hg', '--cwd', 'hg', '--config', 'ui.archivemeta=no', ...args)
  let number = 0
  const commit = (message: string, user = 'Ada Lovelace <ada@example.org>', ...options: string[]) => {
    hg('addremove', '--quiet')
    hg('commit', '--message', message, '--user', user, '--date', `${1_300_000_000 + ++number * 3600} -7200`, ...options)
  }
  write('hg/bell/bell.txt', 'ding\n')
  run('hg', '--cwd', 'hg/bell', 'commit', '--addremove', '--message', 'Bell', '--user', 'ada', '--date', '1300000000 0')
  write('hg/README.md', '# Bells\n')
  write('hg/src/main.c', 'int main;\n')
  write('hg/src/Größe 日本.txt', 'a name that is not ASCII\n')
  write('hg/ring.sh', '#!/bin/sh\n', 0o755)
  symlinkSync('ring.sh', at('hg/link'))
  commit('Import\n\nMit Grüßen aus Köln.', 'Grace Höpper <grace@example.org>')
  write('hg/.hgsub', 'bell = ../bell\n')
  commit('Add a subrepository')
  hg('branch', '--quiet', 'feature')
  write('hg/src/chime.c', 'int chime;\n')
  commit('Chime', 'joan')
  hg('update', '--quiet', 'default')
  hg('move', '--quiet', 'src/main.c', 'src/start.c')
  commit('Rename a file')
  hg('merge', '--quiet', 'feature')
  commit('Merge the feature')
  hg('tag', '--rev', 'tip', '--message', 'Tag', '--user', 'joan', '--date', `${1_300_000_000 + ++number * 3600} 0`, 'v1.0')
  hg('branch', '--quiet', 'done')
  write('hg/README.md', '# Bells and chimes\n')
  commit('Work that is closed')
  commit('Close it', 'joan', '--close-branch')
  hg('update', '--quiet', 'feature')
  write('hg/src/second.c', 'int second;\n')
  commit('A first head', 'joan')
  hg('update', '--quiet', "desc('Chime')")
  write('hg/src/second.c', 'int other;\n')
  commit('A second head', 'joan')
  hg('update', '--quiet', 'default')
  chmodSync(at('hg/ring.sh'), 0o644)
  commit('No longer executable')
  hg('bookmark', 'stable', '--rev', 'v1.0')

  const template = '{node}\\0{desc}\\0{person(author)}\\0{date|hgdate}\\0{p1.desc}\\0{p2.desc}\\n\\0'
  const logged = hg('log', '--rev', '::(head() and not closed())', '--template', template).split('\n\0').slice(0, -1)
  const commits = logged.map((entry) => {
    const [node = '', message = '', author = '', date = '', ...parents] = entry.split('\0')
    empty('archive')
    hg('archive', '--rev', node, at('archive'))
    return {
      ...{ tree: treeIn('archive'), message, author, parents: parents.filter(Boolean) },
      date: date.replace(/ -7200$/, ' +0200').replace(/ 0$/, ' +0000'),
    }
  })
  const message = (revision: string) => hg('log', '--rev', revision, '--template', '{desc}')
  const further = hg('log', '--rev', "desc('A first head')", '--template', '{node|short}')
  const refs = {
    'refs/heads/main': message('default'),
    'refs/heads/feature': message('feature'),
    [`refs/heads/feature-${further}`]: message(further),
    'refs/heads/stable': message('stable'),
    'refs/tags/v1.0': message('v1.0'),
  }
  save('mercurial', refs, commits)
  await using server = await startHgServer(at('hg'))
  await using recorder = await record('mercurial.jsonl', server.url)
  await convert(recorder.url, at('hg.git'))
}

async function recordTfvc() {
  const script = openScript()
    .checkIn('Make a project', (desk) => desk.folder('$/Bells'))
    .checkIn('Import\r\n\r\nMit Grüßen aus Köln.', (desk) => {
      desk
        .folder('$/Bells/Main')
        .put('$/Bells/Main/README.md', '# Bells\r\n')
        .put('$/Bells/Main/src/main.c', 'int main;\r\n')
        .put('$/Bells/Main/src/Größe 日本.txt', 'a name that is not ASCII\r\n')
        .link('$/Bells/Main/link', 'README.md')
    })
    .checkIn('Branch', (desk) => desk.branch('$/Bells/Main', '$/Bells/Feature'), chuck)
    .checkIn('Chime', (desk) => desk.put('$/Bells/Feature/src/chime.c', 'int chime;\r\n'), juergen)
    .checkIn('Rename a file', (desk) => desk.rename('$/Bells/Main/src/main.c', '$/Bells/Main/src/start.c'))
    .checkIn('Merge the feature', (desk) => desk.merge('$/Bells/Feature', '$/Bells/Main'))
    .checkIn('Rename a folder, by its case', (desk) => desk.rename('$/Bells/Main/src', '$/Bells/Main/Src'))
  await using server = await startTfvcServer(script)
  await using recorder = await record('tfvc.jsonl', server.url)
  await convert(recorder.url + new URL(server.url).pathname, at('tfvc.git'))
  const chains = ['Main', 'Feature'].map((branch) => {
    // The third changeset makes the other branch of this one.
    const rootAt = (id: number) => (id < 3 ? '$/Bells/Main' : `$/Bells/${branch}`)
    const logged = script.changesets.filter(({ id, changes }) => changes.some(({ path }) => path.startsWith(`${rootAt(id)}/`)))
    const entries = logged.toReversed().map(({ id, author, date, comment }) => {
      empty('items')
      const files = script.filesOf(rootAt(id), id)
      for (const [path, { data, symlink }] of files) {
        if (symlink) symlinkSync(`${data}`, at('items', path))
        else write(`items/${path}`, `${data}`)
      }
      const name = author.displayName.replace(/[<>]/g, '')
      const seconds = Math.floor(Date.parse(date) / 1000)
      return { tree: treeIn('items'), message: comment.replaceAll('\r', ''), author: name, date: `${seconds} +0000` }
    })
    return [`refs/heads/${branch}`, chain(entries)] as const
  })
  saveChains('tfvc', Object.fromEntries(chains))
}

git('init', '--quiet', '--bare', at('trees.git'))
try {
  recordSubversion()
  await recordMercurial()
  await recordTfvc()
} finally {
  rmSync(folder, { recursive: true })
}
