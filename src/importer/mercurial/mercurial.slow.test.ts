import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { git } from '#git/git.ts'
import { cleanRefName } from '#importer/staging/ref-names.ts'
import { type Hg, makeHgRepository, openHg } from '#test/imports/hg.ts'
import { describeFeatures } from '#test/imports/hg-repository.ts'
import { type HgServer, startHgServer } from '#test/imports/hg-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { mercurial } from './mercurial.ts'

type Bench = Awaited<ReturnType<typeof openWorkspace>>

const features = describeFeatures()
let folder: string
let repository: string
let hg: Hg
let server: HgServer

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-hg-'))
  repository = await makeHgRepository(folder, features.bytes(), features.bookmarks)
  hg = await openHg(repository)
  server = await startHgServer(repository)
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await hg[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

describe('a Mercurial repository with every feature', () => {
  let workspace: Bench
  let converted: Awaited<ReturnType<typeof mercurial.convert>>
  /** Commits by changeset number. */
  const commits: string[] = []

  before(async () => {
    workspace = await openWorkspace()
    converted = await mercurial.convert({ ...originOf(server.url), keep_deleted: true }, workspace)
    const logged = await workspace.git('log', '--format=%H %s', '--glob=refs/import/orig/*')
    for (const line of logged.split('\n')) commits[Number(line.slice(41))] = line.slice(0, 40)
  })
  after(() => workspace[Symbol.asyncDispose]())

  test('has all changesets with the same trees', async () => {
    equal(converted.commit_count, features.changesets)
    equal(commits.filter(Boolean).length, features.changesets)
    const { clashing, forbidden } = features.at
    for (const [number, commit] of commits.entries()) {
      const expected = Array.from(
        features.tree(number),
        ([path, { flag, text }]) => `${modeOf(flag)} blob ${blobId(text)}\t${path}`,
      )
      const kept = expected.filter((line) => {
        if (number === forbidden) return !/\tsub\/\.GIT|\t\.git/.test(line)
        return !(number === clashing && line.endsWith('\tx'))
      })
      deepEqual(await listTree(workspace, commit), kept.sort(byPath), `changeset ${number}`)
    }
    await workspace.git('fsck', '--strict')
    deepEqual(converted.notes, {
      'changesets before 1970': 1,
      'files that are folders too': 1,
      'further heads of branches': 1,
      'messages not in UTF-8': 1,
      'paths that git refuses': 3,
    })
  })

  test('has the trees that `hg archive` writes', async () => {
    const { root, third, one, left, large, tip, moved } = features.at
    for (const number of [root, third, one, left, large, tip, moved]) {
      const target = join(folder, `archive-${number}`)
      await hg.run('archive', '-r', features.node(number), target)
      const archived = (await listFolder(target)).filter((line) => !line.endsWith('\t.hg_archival.txt'))
      deepEqual(await listTree(workspace, commits[number]), archived.sort(byPath))
    }
  })

  test('has the parents, dates, authors and messages of all changesets', async () => {
    const template = '{rev}\\x01{p1.rev}\\x01{p2.rev}\\x01{date|hgdate}\\x01{desc}\\x02'
    const logged = (await hg.run('log', '-r', 'all()', '-T', template)).toString().split('\x02').slice(0, -1)
    equal(logged.length, features.changesets)
    const format = '%H%x01%P%x01%at %ad%x01%ct%x01%B%x02'
    const wanted = await workspace.git('log', `--format=${format}`, '--date=format:%z', '--glob=refs/import/orig/*')
    const found = new Map(wanted.split('\x02').map((entry) => [entry.trim().slice(0, 40), entry.trim().split('\x01')] as const))
    for (const entry of logged) {
      const [rev, p1, p2, date = '', desc = ''] = entry.split('\x01')
      const [time, west] = date.split(' ').map(Number) as [number, number]
      const [, parents, written = '', committed, message = ''] = found.get(commits[Number(rev)] as string) ?? []
      const expected = [p1, p2].filter((parent) => parent !== '-1').map((parent) => commits[Number(parent)])
      equal(parents, expected.join(' '))
      const [seconds, zone = ''] = written.split(' ')
      equal(Number(seconds), Math.max(0, time))
      equal(committed, seconds)
      equal((Number(zone.slice(0, 3)) * 60 + Number(zone[0] + zone.slice(3))) * -60 + 0, west + 0)
      equal(message.trimEnd(), desc.trimEnd())
    }
  })

  test('has its branches, bookmarks and tags', async () => {
    const listed = await workspace.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/')
    const refs = Object.fromEntries(listed.split('\n').map((line) => line.replace('refs/import/orig/', '').split(' ')))
    const { tip, one, left, first_head, emptied, forbidden, parted, third, root, again, merged } = features.at
    const heads = {
      'heads/main': tip,
      'heads/feature/one': one,
      'heads/left': root,
      'heads/closed/left': left,
      'heads/again': again + 1,
      'heads/weird-br-nch-ü].x-lock': again + 2,
      'heads/two': first_head + 1,
      [`heads/two-${features.node(first_head).slice(0, 12)}`]: first_head,
      'heads/emptied': emptied,
      'heads/forbidden': forbidden,
      'heads/clash': parted,
      'heads/bm/one': tip,
      'heads/bm-two': third,
      'heads/at': tip,
    }
    const tags = {
      'tags/both': root,
      'tags/v1.0': root,
      'tags/moved': third,
      'tags/from-branch': merged,
      'tags/bräuche-1': third,
    }
    const expected = Object.entries({ ...heads, ...tags }).map(([name, number]) => [name, commits[number]])
    deepEqual(refs, Object.fromEntries(expected))
    equal(converted.default_branch, 'main')
    const known = (await hg.run('tags', '-T', '{tag}\\t{rev}\\n')).toString().trim().split('\n')
    const named = known.map((line) => line.split('\t')).filter(([name]) => name !== 'tip')
    deepEqual(Object.fromEntries(named.map(([name = '', rev]) => [`tags/${cleanRefName(name)}`, Number(rev)])), tags)
  })

  test('reports authors, the number of changesets and progress', async () => {
    const authors = workspace.authors().map(({ remote_id, name, email }) => [remote_id, name, email])
    deepEqual(authors, [
      ['Alice Ärger <alice@example.org>', 'Alice Ärger', 'alice@example.org'],
      ['bob', 'bob', 'none@none'],
      ['dmitri@example.org', 'dmitri@example.org', 'dmitri@example.org'],
      ['broken <a@b', 'broken', 'a@b'],
      ['<only@mail>', 'only@mail', 'only@mail'],
      ['Ann <ann@example.org>', 'Ann', 'ann@example.org'],
      ['Greg  <greg@EXAMPLE.org> ', 'Greg', 'greg@EXAMPLE.org'],
      ['Eve "E" O\'Neil <eve@x.org>', 'Eve "E" O\'Neil', 'eve@x.org'],
      ['Mallory', 'Mallory', 'none@none'],
    ])
    const named = (await workspace.git('log', '--format=%an%x01%ae%n%cn%x01%ce', '--glob=refs/import/orig/*')).split('\n')
    deepEqual([...new Set(named)].sort(), authors.map(([, name, email]) => `${name}\x01${email}`).sort())
    const percents = workspace.percents()
    deepEqual(
      percents,
      [...new Set(percents)].sort((a, b) => a - b),
    )
    equal(percents.at(-1), 100)
    equal(workspace.reported.findLast(({ commit_count }) => commit_count !== undefined)?.commit_count, features.changesets)
  })

  test('is verified against its own hashes, and differences are named', async () => {
    const branches = (await workspace.git('for-each-ref', 'refs/import/orig/heads')).split('\n').length
    const { files, ...rest } = await mercurial.verify(originOf(server.url), workspace, true)
    deepEqual(rest, { branches, tags: 5, revisions: features.changesets, mismatches: [] })
    ok(files > 300)
    // A commit with another tree: verification must read git, not the records of the conversion.
    const { root } = features.at
    const marks = await readFile(join(workspace.folder, 'revisions.marks'), 'utf8')
    const wrong = marks.replace(commits[root] as string, commits[features.at.third] as string)
    await writeFile(join(workspace.folder, 'revisions.marks'), wrong)
    const { mismatches } = await mercurial.verify(originOf(server.url), workspace, false)
    await writeFile(join(workspace.folder, 'revisions.marks'), marks)
    const where = `changeset ${features.node(root).slice(0, 12)}`
    ok(mismatches.some((found) => found.where === where && found.path === 'link' && found.what === 'differs'))
    ok(mismatches.some((found) => found.where === where && found.path === 'run.sh' && found.what === 'is missing'))
    ok(mismatches.some((found) => found.where === where && found.path === 'bin/run.sh' && found.what === 'is too much'))
    ok(mismatches.some((found) => found.where === 'tags/v1.0'))

    const person = ['-c', 'user.name=x', '-c', 'user.email=x@x']
    const other = await workspace.git(...person, 'commit-tree', `${commits[root]}^{tree}`, '-m', 'Another')
    await writeFile(join(workspace.folder, 'revisions.marks'), marks.replace(commits[root] as string, other))
    for (const all of [false, true]) {
      const texts = (await mercurial.verify(originOf(server.url), workspace, all)).mismatches
      deepEqual(
        texts.filter((found) => found.where === where).map(({ what }) => what),
        ['has another author', 'has another date', 'has another message'],
      )
    }
    await writeFile(join(workspace.folder, 'revisions.marks'), marks)
  })

  test('gives the same result without bundle2 and with each compression', async () => {
    const refs = await workspace.git('for-each-ref')
    for (const settings of [
      ['experimental.bundle2-advertise=no', 'server.compressionengines=zlib'],
      ['experimental.changegroup3=yes', 'server.compressionengines=none'],
    ]) {
      await using old = await startHgServer(repository, settings)
      await using another = await openWorkspace()
      await mercurial.convert({ ...originOf(old.url), keep_deleted: true }, another)
      equal(await another.git('for-each-ref'), refs)
    }
  })
})

const modeOf = (flag: string) => (flag === 'l' ? '120000' : flag === 'x' ? '100755' : '100644')
const blobId = (content: Buffer) => createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
const pathOf = (line: string) => line.slice(line.indexOf('\t') + 1)
const byPath = (a: string, b: string) => (pathOf(a) < pathOf(b) ? -1 : 1)

async function listTree({ repository: stage }: Bench, commit: string | undefined) {
  const listed = await git(['-C', stage, 'ls-tree', '-r', '-z', '--full-tree', commit ?? ''], { encoding: 'latin1' })
  return listed.split('\0').slice(0, -1)
}

/** A folder in the format of git ls-tree. */
async function listFolder(target: string): Promise<string[]> {
  const entries = await readdir(Buffer.from(target), { recursive: true, withFileTypes: true, encoding: 'buffer' })
  const files = entries.filter((entry) => !entry.isDirectory())
  return Promise.all(
    files.map(async (entry) => {
      const path = Buffer.concat([Buffer.from(entry.parentPath), Buffer.from('/'), entry.name])
      const text = entry.isSymbolicLink() ? await readlink(path, 'buffer') : await readFile(path)
      const flag = entry.isSymbolicLink() ? 'l' : (await lstat(path)).mode & 0o100 ? 'x' : ''
      return `${modeOf(flag)} blob ${blobId(text)}\t${path.subarray(target.length + 1).toString('latin1')}`
    }),
  )
}
