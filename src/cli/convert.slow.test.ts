import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { git } from '#git/git.ts'
import { beyondCheckpoint, convert, openConversions, refsIn, startConvert } from '#test/imports/convert-command.ts'
import { makeHgRepository, openHg } from '#test/imports/hg.ts'
import { describeHistory } from '#test/imports/hg-repository.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellCorners, tellLong } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { processesIn, until } from '#test/machine.ts'

const commit = (path: string, ...args: string[]) =>
  execFileSync(
    'svn',
    [...args, '--quiet', '--message', 'More', '--username', 'joan'].map((arg) => arg.replace('^', `file://${path}`)),
  )

test('a killed conversion resumes, a later run brings what is new, and commits on the git side stop it', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'mill')
  await makeSvnRepository(path, (history) => tellLong(history, beyondCheckpoint, { files: 6, lines: 3 }))
  await using server = await startSvnserve(source.path)
  const out = work.out('the mill.git')
  const first = startConvert([`${server.url}mill`, out])
  await until('there is a checkpoint', () => existsSync(join(out, 'belfry-convert', 'reached.json')))
  first.child.kill('SIGKILL')
  await first.ended

  const second = await startConvert([`${server.url}mill`, out, '--json']).ended
  assert.equal(second.code, 0, second.messages)
  const report = JSON.parse(second.output)
  assert.deepEqual([report.vcs, report.commit_count, report.verification.mismatches], ['subversion', beyondCheckpoint, []])
  // The folder itself gives the same, without a server of its own.
  const whole = await convert(path, work.out('whole.git'))
  assert.equal(whole.code, 0, whole.messages)
  assert.equal(await refsIn(out), await refsIn(work.out('whole.git')))

  commit(path, 'copy', '^/trunk', '^/branches/late')
  commit(path, 'mkdir', '^/trunk/more')
  const packs = () => execFileSync('sh', ['-c', 'cat "$1"/objects/pack/*.pack | wc -c', 'sh', out]).toString()
  const size = Number(packs())
  const third = await convert(`${server.url}mill`, out, '--json')
  const { moved } = JSON.parse(third.output)
  assert.deepEqual(moved, {
    created: ['refs/heads/late'],
    updated: ['refs/heads/main'],
    removed: [],
    commits: 1,
    rewritten: false,
  })
  assert.ok(Number(packs()) - size < 1000, 'only what is new is written')
  assert.match((await convert(`${server.url}mill`, out)).output, /Commits +nothing new/)

  await git(['-C', out, 'update-ref', 'refs/heads/late', 'refs/heads/main~3'])
  const fourth = await convert(`${server.url}mill`, out)
  assert.equal(fourth.code, 1)
  assert.match(fourth.messages, /have moved since the last conversion: refs\/heads\/late\./)
  assert.match((await convert(path, join(source.path, 'mill'))).messages, /is not a bare git repository/)
  const [back = ''] = /git -C .* update-ref .*/.exec(fourth.messages) ?? []
  execFileSync('sh', ['-c', back])
  assert.equal((await convert(`${server.url}mill`, out)).code, 0)
  await rm(join(out, 'objects'), { recursive: true })
  await mkdir(join(out, 'objects'))
  assert.match((await convert(`${server.url}mill`, out)).messages, /is damaged: it lacks objects of refs\/heads\//)
})

test('a dump file is converted and proved without Subversion, with an authors file', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'corners')
  await makeSvnRepository(path, (history) => tellCorners(history))
  const whole = execFileSync('svnadmin', ['dump', '--quiet', path], { maxBuffer: 1 << 26 })
  await writeFile(work.out('whole.dump'), whole)
  const deltas = execFileSync('svnadmin', ['dump', '--quiet', '--deltas', path], { maxBuffer: 1 << 26 })
  await writeFile(work.out('deltas.dump.gz'), gzipSync(deltas))
  await writeFile(work.out('authors'), '# Ours\nada = Ada Lovelace <ada@example.com>\n')
  await mkdir(work.out('bin'))
  await symlink(execFileSync('which', ['git']).toString().trim(), work.out('bin/git'))

  const options = ['--authors', work.out('authors'), '--verify', 'full', '--svn-ignore', '--gitattributes']
  const run = startConvert([work.out('deltas.dump.gz'), work.out('deltas.git'), ...options], { PATH: work.out('bin') })
  const { code, output, messages } = await run.ended
  assert.equal(code, 0, messages)
  assert.match(messages, /4 authors have no entry in .*: grace hopper, DOMAIN\\greg, releaser, \(no author\)\./)
  assert.match(output, /Compared 8 branches, 2 tags, 29 revisions and \d+ files with the source: no differences\./)
  // Named before the long work, and in the report.
  for (const text of [messages, output])
    assert.match(text, /No branch and no tag contains:\n {2}tags\/mixed {2}\(24; 1 change; replaced\)/)
  assert.equal((await convert(work.out('whole.dump'), work.out('whole.git'), ...options)).code, 0)
  assert.equal((await convert(path, work.out('server.git'), ...options)).code, 0)
  const refs = await refsIn(work.out('deltas.git'))
  assert.deepEqual([await refsIn(work.out('whole.git')), await refsIn(work.out('server.git'))], [refs, refs])
  const names = await git(['-C', work.out('deltas.git'), 'log', '--format=%an <%ae>', 'main'])
  assert.match(names, /^Ada Lovelace <ada@example\.com>$/m)
  // Objects of the conversion that nobody needs are not in the result.
  assert.equal(await git(['-C', work.out('deltas.git'), 'for-each-ref', 'refs/import']), '')

  const kept = ['--keep-deleted', '--layout', 'trunk=trunk', '--layout', 'branches=branches/f*']
  const other = await convert(work.out('whole.dump'), work.out('other.git'), '--dry-run', ...kept)
  assert.match(other.output, /\n {2}branch {2}feature +branches\/feature\n/)
  assert.match(other.output, /\n {2}tag {5}\S+ +tags\//)
  assert.match((await convert(path, work.out('x.git'), '--project', 'nope')).messages, /at this path\. Check --project nope\./)
  assert.match((await convert('svn://127.0.0.1:1/x', work.out('x.git'))).messages, /port 1 is not for Subversion/)
  await using guarded = await startSvnserve(source.path, { secret: true })
  const signIn = [`${guarded.url}corners`, work.out('x.git'), '--username', 'ada']
  assert.match((await convert(...signIn)).messages, /asks for a user name and a password\. Give --username/)
  const wrong = await startConvert(signIn, { BELFRY_SOURCE_PASSWORD: 'wrong' }).ended
  assert.match(wrong.messages, /does not accept this user name and password.* Check --username/)
  assert.equal((await convert(work.out('whole.dump'), work.out('kept.git'), '--keep-deleted')).code, 0)
  assert.match(await refsIn(work.out('kept.git')), /^refs\/tags\/deleted\/mixed@\d+ /m)

  const missing = await convert(work.out('whole.dump'), '--authors-missing', '--authors', work.out('authors'))
  assert.deepEqual([missing.code, missing.messages], [1, '4 of 5 authors have no entry.'])
  assert.match(missing.output, /^grace hopper = grace hopper <grace_hopper@/)
  assert.equal((await convert(path, '--authors-missing')).output.split('\n').length, 5)
  const bare = await startConvert([work.out('whole.dump'), work.out('x.git')], { PATH: work.folder }).ended
  assert.match(bare.messages, /^Git is not installed.*Install git[^\n]*\n$/)
})

test('a Mercurial folder is converted, and again only if it has changed', async () => {
  await using work = await openConversions()
  const repository = await makeHgRepository(work.folder, describeHistory(40))
  const out = work.out('hg.git')
  const first = await convert(repository, out)
  assert.equal(first.code, 0, first.messages)
  assert.match(first.output, /Revisions +40 in the source/)
  assert.match((await convert(repository, out)).output, /Commits +nothing new/)
  await using hg = await openHg(repository)
  await hg.run('bookmark', '-r', '0', 'early')
  const { moved } = JSON.parse((await convert(repository, out, '--json')).output)
  assert.deepEqual([moved.created, moved.commits], [['refs/heads/early'], 0])
  await assert.rejects(
    convert(repository, work.out('x.git'), '--svn-ignore'),
    /--svn-ignore does nothing for a mercurial repository/,
  )
  await assert.rejects(
    convert(repository, work.out('x.git'), '--gitattributes'),
    /--gitattributes does nothing for a mercurial repository/,
  )
  const [author] = (await convert(repository, '--authors-missing')).output.split('\n')
  await writeFile(work.out('authors'), `${author?.replace(/ = .*/, '')} = Somebody Else <else@example.com>\n`)
  const refused = await convert(repository, out, '--authors', work.out('authors'), '--exclude', 'x')
  assert.deepEqual([refused.code, /with other options: --exclude\./.test(refused.messages)], [1, true], refused.messages)
  assert.match(
    (await convert(repository, out, '--authors', work.out('authors'))).messages,
    /other options: --authors \(.*--rewrite/,
  )
  assert.equal((await convert(repository, out, '--authors', work.out('authors'), '--rewrite')).code, 0)
  assert.match((await convert(repository, out)).output, /Commits +nothing new/, 'the options of the last run')
  assert.match(await git(['-C', out, 'log', '--all', '--format=%an <%ae>']), /^Somebody Else <else@example\.com>$/m)
  assert.deepEqual(processesIn(repository), [], 'its server has ended')
})

test('files and old commits are left out as the options say', async () => {
  await using work = await openConversions()
  await using source = await openSvnFolder()
  const path = join(source.path, 'long')
  await makeSvnRepository(path, (history) => tellLong(history, 150))
  const show = (out: string, ...args: string[]) => git(['-C', work.out(out), ...args])
  const edits = ['--exclude', 'dir1*', '--since', '100', '--metadata', '--verify', 'full']
  const edited = await convert(path, work.out('edited.git'), ...edits)
  assert.equal(edited.code, 0, edited.messages)
  assert.match(edited.output, /Left out +refs\/heads\/b1, refs\/tags\/v97/)
  assert.deepEqual((await show('edited.git', 'ls-tree', '--name-only', 'main')).split('\n').slice(0, 2), ['dir0', 'dir2'])
  const [first] = (await show('edited.git', 'log', '--reverse', '--format=%s|%b', 'main')).split('\n')
  assert.equal(first, `Change 100|git-svn-id: file://${path}/trunk@100 6c5b8a1e-4000-4000-8000-000000001001`)
  assert.match(edited.output, /files with the source, and \d+ commits with what the options ask for: no differences\./)
  const nothing = await convert(path, work.out('nothing.git'), '--include', 'nowhere')
  assert.deepEqual([nothing.code, nothing.output], [1, ''])
  assert.match(nothing.messages, /No branch is left with these --include/)
  const preview = await convert(path, work.out('preview.git'), '--dry-run')
  assert.match(
    preview.output,
    /150 revisions, 3 branches, 1 tag\..* {2}branch {2}main +trunk\n.* {2}tag {5}v97 +tags\/v97\nEverything is in.*\nWhat was read is in /s,
  )
  assert.equal(await refsIn(work.out('preview.git')), '')
})
