import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { git } from '#git/git.ts'
import { hgEnvironment, makeHgRepository, openHg } from '#test/imports/hg.ts'
import { describeHistory } from '#test/imports/hg-repository.ts'
import { exported } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellCorners, tellLong } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { makeFolder } from './belfry.ts'
import { write } from './report.ts'

const run = promisify(execFile)
const belfry = join(import.meta.dirname, '..', 'bin', 'belfry')

interface Source {
  url: string
  /** The repository folder. */
  path: string
  dump: string
}

interface Converter {
  name: string
  program: string
  /** The command line. It makes a git repository in `out`. */
  command(source: Source, out: string): string
  /** Where in `out` the repository is. */
  repository?: string
  /** Makes refs of tips that have none. Not measured. */
  name_tips?(out: string): string
}

const ours: Converter = { name: 'belfry convert', program: 'sh', command: ({ url }, out) => `sh ${belfry} convert ${url} ${out}` }

const subversion: Converter[] = [
  ours,
  { name: 'belfry convert, dump file', program: 'sh', command: ({ dump }, out) => `sh ${belfry} convert ${dump} ${out}` },
  { name: 'git svn', program: 'git-svn', command: ({ url }, out) => `git svn clone --quiet --stdlayout ${url} ${out}` },
  {
    name: 'svn2git',
    program: 'svn2git',
    command: ({ url }, out) => `mkdir ${out} && cd ${out} && svn2git ${url}`,
  },
  {
    name: 'reposurgeon, dump file',
    program: 'reposurgeon',
    command: ({ dump }, out) => `reposurgeon 'read --no-automatic-ignores <${dump}' 'prefer git' 'rebuild ${out}'`,
  },
]

const mercurial: Converter[] = [
  { ...ours, command: ({ path }, out) => `sh ${belfry} convert ${path} ${out}` },
  {
    name: 'hg-git',
    program: 'hg',
    command: ({ path }, out) =>
      `hg clone --quiet --noupdate ${path} ${out} && hg -R ${out} --config extensions.hggit= gexport --quiet`,
    repository: '.hg/git',
    // It makes refs of bookmarks only.
    name_tips: (out) =>
      `hg -R ${out} log -r 'head()' -T '{node}\n' | while read -r node; do
        git --git-dir ${out}/.hg/git update-ref refs/heads/$node "$(grep $node ${out}/.hg/git-mapfile | cut -c1-40)"; done`,
  },
]

/** `belfry convert` against other converters: seconds, memory, and how many branches and tags have exactly the files of the source. */
export async function compareConversions() {
  write('\nConversions with the command line, against other converters\n')
  write('| source | converter | seconds | peak MB | tips that are right |\n|---|---|---:|---:|---:|')
  await compareSubversion()
  await compareMercurial()
}

async function compareSubversion() {
  await using folder = await openSvnFolder()
  await using server = await startSvnserve(folder.path)
  const repositories = [
    { name: 'corners', title: 'Subversion, every oddity', tell: tellCorners },
    {
      name: 'long',
      title: 'Subversion, 500 revisions',
      tell: (history: Parameters<typeof tellLong>[0]) => tellLong(history, 500),
    },
  ]
  for (const { name, title, tell } of repositories) {
    const path = join(folder.path, name)
    await makeSvnRepository(path, (history) => tell(history))
    const dump = join(folder.path, `${name}.dump`)
    writeFileSync(dump, (await run('svnadmin', ['dump', '--quiet', path], { encoding: 'buffer', maxBuffer: 1 << 28 })).stdout)
    const list = async (at: string) =>
      (await run('svn', ['list', `file://${path}/${at}`])).stdout
        .split('\n')
        .flatMap((line) => (line.endsWith('/') ? [line] : []))
    const inside = async (at: string) => (await list(at)).map((line) => `${at}/${line.slice(0, -1)}`)
    const roots = ['trunk', ...(await inside('branches')), ...(await inside('tags'))].flatMap((root) =>
      root === 'branches/feature' ? ['branches/feature/nested'] : [root],
    )
    const wanted = await Promise.all(roots.map(async (root) => (await exported(path, root)).filter(isInGit).sort().join('\n')))
    await compare(title, subversion, { url: `${server.url}${name}`, path, dump }, wanted)
  }
}

/** Git keeps no file below `.git`. */
const isInGit = (file: string) => !/ (.*\/)?\.git\//.test(file)

async function compareMercurial() {
  using folder = makeFolder()
  const path = await makeHgRepository(folder.path, describeHistory(2000))
  await using hg = await openHg(path)
  const heads = (await hg.run('log', '-r', 'head()', '-T', '{node}\n')).toString().trim().split('\n')
  const wanted: string[] = []
  for (const node of heads) {
    const out = join(folder.path, `archive-${node}`)
    await hg.run('archive', '-r', node, '--config', 'ui.archivemeta=false', out)
    wanted.push(await filesBelow(out))
  }
  await compare('Mercurial, 2000 changesets', mercurial, { url: path, path, dump: '' }, wanted)
}

/** The files of a folder in the form of `git ls-tree`. */
async function filesBelow(folder: string) {
  await git(['init', '--quiet', folder])
  await git(['-C', folder, 'add', '--all', '--force'])
  return filesIn(folder, (await git(['-C', folder, 'write-tree'])).trim())
}

async function compare(title: string, converters: Converter[], source: Source, wanted: string[]) {
  for (const { name, program, command, name_tips, repository = '.' } of converters) {
    const there = await run('sh', ['-c', `command -v ${program} || test -x "$(git --exec-path)/${program}"`]).catch(
      () => undefined,
    )
    if (!there) {
      write(`| ${title} | ${name} | not installed | | |`)
      continue
    }
    using folder = makeFolder()
    const out = join(folder.path, 'out')
    const home = join(folder.path, 'home')
    mkdirSync(home)
    writeFileSync(join(home, '.gitconfig'), '[user]\nname = Bench\nemail = bench@example.com\n')
    const measured = join(folder.path, 'measured')
    const env = { ...hgEnvironment, HOME: home }
    const timed = ['-f', '%e %M', '-o', measured, 'sh', '-c', command(source, out)]
    const failed = await run('/usr/bin/time', timed, { env, maxBuffer: 1 << 28 }).then(
      () => false,
      () => true,
    )
    const [seconds = '', kilobytes = ''] = (await run('tail', ['-n1', measured])).stdout.trim().split(' ')
    if (name_tips) await run('sh', ['-c', name_tips(out)], { env })
    const found = await treesIn(join(out, repository)).catch(() => new Set<string>())
    const right = wanted.filter((files) => found.has(files)).length
    const tips = `${right} of ${wanted.length}${failed ? ', and it reports a failure' : ''}`
    write(`| ${[title, name, seconds, (Number(kilobytes) / 1024).toFixed(0), tips].join(' | ')} |`)
  }
}

/** The files of every ref. */
async function treesIn(repository: string): Promise<Set<string>> {
  const refs = (await git(['-C', repository, 'for-each-ref', '--format=%(objectname)'])).trim().split('\n')
  return new Set(await Promise.all([...new Set(refs)].map((id) => filesIn(repository, id))))
}

async function filesIn(repository: string, tree: string): Promise<string> {
  const listed = await git(['-C', repository, 'ls-tree', '-r', '-z', tree])
  const files = listed.split('\0').filter((line) => line !== '')
  return files
    .map((line) => line.replace(/^(\d+) \w+ (\w+)\t/, '$1 $2 '))
    .sort()
    .join('\n')
}
