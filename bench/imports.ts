import { rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from '#git/git.ts'
import { rewriteHistory } from '#importer/staging/rewrite/rewrite-history.ts'
import { startGitServer } from '#test/imports/git-server.ts'
import { hgEnvironment, makeHgRepository } from '#test/imports/hg.ts'
import { describeHistory } from '#test/imports/hg-repository.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { people, type Shape, writeHistory } from '#test/imports/histories.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { noise, tellLong } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { makeFolder, type RunningBelfry, startBelfry } from './belfry.ts'
import { type Brought, bring, bringThrice, middleOf, time, timeProgram } from './importing.ts'
import { openLine } from './line.ts'
import { judge, median, note, write } from './report.ts'

const megabyte = 2 ** 20

/** Whole imports, by the interface, against what people use otherwise; and the steps that are done again after the end. */
export async function compareImports() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  write('\nImports from the request to complete, with detection, proof and all, against what people use otherwise, in seconds\n')
  write(
    '| source | ours | revisions a second | peak MB | other | seconds | ratio | target |\n|---|---:|---:|---:|---|---:|---:|---:|',
  )
  await compareSubversion(belfry)
  await compareMercurial(belfry)
  await compareGit(belfry)
  write('\nThe same commits again, in seconds\n')
  write('| what | ours | other | seconds | ratio | target |\n|---|---:|---|---:|---:|---:|')
  await compareCorrection()
  await compareLargeFiles()
}

function report(
  source: string,
  revisions: number,
  { seconds, peak }: Brought,
  other?: { name: string; seconds: number; wanted: Wanted },
) {
  const ours = [seconds.toFixed(1), (revisions / seconds).toFixed(0), (peak / megabyte).toFixed(0)]
  note(`${source}: s`, seconds)
  write(`| ${[source, ...ours, ...against(source, seconds, other)].join(' | ')} |`)
}

type Wanted = { least: number } | { most: number }

/** How many times as long the other takes; or, where the target is one not to be passed, how many times as long ours does. */
function against(what: string, seconds: number, other?: { name: string; seconds: number; wanted: Wanted }) {
  if (!other) return ['', '', '', '']
  const ratio = 'most' in other.wanted ? seconds / other.seconds : other.seconds / seconds
  note(`${what}, against ${other.name}: ratio`, ratio)
  return [other.name, other.seconds.toFixed(1), ratio.toFixed(2), judge(ratio, other.wanted)]
}

async function compareSubversion(belfry: RunningBelfry) {
  await using folder = await openSvnFolder()
  await using server = await startSvnserve(folder.path)
  const source = (name: string) => ({ vcs: 'subversion', vcs_url: `${server.url}${name}` })
  const lengths = [500, 5000, 20_000]
  const rates: number[] = []
  for (const revisions of lengths) {
    const name = `long-${revisions}`
    await makeSvnRepository(join(folder.path, name), (history) => tellLong(history, revisions))
    const ours = await (revisions > 500 ? bring : bringThrice)(belfry, source(name))
    rates.push(revisions / ours.seconds)
    if (revisions > 500) report(`Subversion, ${revisions} revisions`, revisions, ours)
    else {
      const args = ['svn', 'clone', '--quiet', '--stdlayout', `${server.url}${name}`, join(folder.path, 'clone')]
      const seconds = await timeProgram('git', args)
      report(`Subversion, ${revisions} revisions`, revisions, ours, { name: 'git svn clone', seconds, wanted: { least: 30 } })
    }
  }
  const growth = (rates.at(-1) ?? 0) / (rates[0] ?? 1)
  write(`| of which 20,000 to 500, by revisions a second | | | | | | ${growth.toFixed(2)} | ${judge(growth, { least: 1 })} |`)
  await makeSvnRepository(join(folder.path, 'heavy'), ({ folder: make, add, change, commit }) => {
    const contents = noise(300 * megabyte)
    make('trunk')
    add('trunk/heavy.bin', contents)
    commit('One file of 300 MB')
    change('trunk/heavy.bin', Buffer.concat([contents.subarray(megabyte), Buffer.from('more')]))
    commit('Most of it stays')
  })
  const heavy = await bringHeavy(source('heavy'))
  report('Subversion, a file of 300 MB', 2, heavy)
  reportMemory('of which memory, in MB', heavy.peak)
}

function reportMemory(what: string, peak: number) {
  write(`| ${what} | | | | | | ${(peak / megabyte).toFixed(0)} | ${judge(peak / megabyte, { most: 400 })} |`)
}

/** Its large file waits for a choice, which a setting makes. */
async function bringHeavy(source: { vcs: string; vcs_url: string }) {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path, { BELFRY_IMPORT_LFS: 'opt_in' })
  return await bring(belfry, source)
}

/** Of a short history as well, where a quarter of the time is for processes and questions. */
async function compareMercurial(belfry: RunningBelfry) {
  for (const changesets of [2000, 8000]) await compareChangesets(belfry, changesets)
}

async function compareChangesets(belfry: RunningBelfry, changesets: number) {
  using folder = makeFolder()
  const repository = await makeHgRepository(folder.path, describeHistory(changesets))
  await using server = await startHgServer(repository)
  const ours = await bringThrice(belfry, { vcs: 'mercurial', vcs_url: server.url })
  const clone = join(folder.path, 'clone')
  const fetched = await timeProgram('hg', ['clone', '--quiet', '--noupdate', server.url, clone], hgEnvironment)
  const exported = await timeProgram('hg', ['-R', clone, '--config', 'extensions.hggit=', 'gexport'], hgEnvironment)
  const other = { name: 'hg clone and hg-git', seconds: fetched + exported, wanted: { least: changesets === 8000 ? 15 : 10 } }
  report(`Mercurial, ${changesets} changesets`, changesets, ours, other)
  const { peak } = await bring(belfry, { vcs: 'mercurial', vcs_url: server.url }, 'full')
  reportMemory('of which memory when all of them are proved, in MB', peak)
}

async function compareGit(belfry: RunningBelfry) {
  await using server = await startGitServer()
  const large = Array.from({ length: 24 }, (_, n) => ({
    at: 100 * (n + 1),
    path: `heavy-${n}.bin`,
    size: 16 * megabyte,
    fill: n,
  }))
  await writePlain(server.pathOf('plain'), { commits: 50_000, large })
  const url = `${server.url}/open/plain.git`
  await compareClones(belfry, 'git, 50,000 commits and 400 MB', url, 3)
  await using line = await openLine(url, 25e6)
  await compareClones(belfry, 'the same over a line of 200 Mbit/s', line.url, 1)
}

async function compareClones(belfry: RunningBelfry, source: string, url: string, rounds: number) {
  using folder = makeFolder()
  const mirror = join(folder.path, 'mirror.git')
  const [ours, theirs]: [Brought[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    // Neither waits for what the other one has left to be written.
    await timeProgram('sync', [])
    ours.push(await bring(belfry, { vcs: 'git', vcs_url: url }))
    await timeProgram('sync', [])
    theirs.push(await timeProgram('git', ['clone', '--quiet', '--mirror', url, mirror]))
    rmSync(mirror, { recursive: true })
  }
  const other = { name: 'git clone --mirror', seconds: median(theirs), wanted: { most: 1.15 } }
  report(source, 50_000, middleOf(ours), other)
}

/** With branches and tags where others look for them. */
async function writePlain(repository: string, shape: Shape) {
  await writeHistory(repository, shape)
  const refs = await git(['-C', repository, 'for-each-ref', '--format=create %(refname) %(objectname)', 'refs/import/orig'])
  await git(['-C', repository, 'update-ref', '--stdin'], { input: refs.replaceAll('refs/import/orig', 'refs') })
}

async function compareCorrection() {
  using folder = makeFolder()
  const [ours, theirs, mailmap] = ['ours.git', 'theirs.git', 'mailmap'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ]
  await writePlain(ours, { commits: 20_000 })
  await cp(ours, theirs, { recursive: true })
  const authors = people.map(({ name, email }) => ({
    ...{ original_name: name, original_email: email },
    ...{ name: `${name} Corrected`, email: email.replace('@svn', '@example.com') },
  }))
  writeFileSync(mailmap, authors.map((one) => `${one.name} <${one.email}> <${one.original_email}>\n`).join(''))
  const signal = AbortSignal.timeout(600_000)
  const seconds = await time(() => rewriteHistory(ours, { from: 'refs/import/orig', authors, signal }))
  const other = await timeProgram('git', ['-C', theirs, 'filter-repo', '--quiet', '--force', '--mailmap', mailmap])
  reportAgain('authors of 20,000 commits', seconds, { name: 'git filter-repo', seconds: other, wanted: { least: 3 } })
}

async function compareLargeFiles() {
  using folder = makeFolder()
  const [ours, theirs, store] = ['ours.git', 'theirs.git', 'store'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ]
  const large = Array.from({ length: 3 }, (_, n) => ({
    at: 100 * (n + 1),
    path: `large-${n}.bin`,
    size: 120 * megabyte,
    fill: n,
  }))
  await writePlain(ours, { commits: 5000, large })
  await cp(ours, theirs, { recursive: true })
  const signal = AbortSignal.timeout(600_000)
  const large_files = { use_lfs: 'opt_in', store } as const
  const seconds = await time(() => rewriteHistory(ours, { from: 'refs/import/orig', large_files, signal }))
  const other = await timeProgram('git', ['-C', theirs, 'lfs', 'migrate', 'import', '--yes', '--everything', '--above=100MB'])
  reportAgain('3 large files in 5,000 commits', seconds, { name: 'git lfs migrate', seconds: other, wanted: { least: 5 } })
}

function reportAgain(what: string, seconds: number, other: { name: string; seconds: number; wanted: Wanted }) {
  write(`| ${[what, seconds.toFixed(1), ...against(what, seconds, other)].join(' | ')} |`)
}
