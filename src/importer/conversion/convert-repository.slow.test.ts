import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { originOf } from '#test/imports/workspace.ts'
import { convertRepository } from './convert-repository.ts'

test('a Subversion repository is converted into a bare git repository without a server', async () => {
  await using source = await openSvnFolder()
  await makeSvnRepository(join(source.path, 'mill'), ({ folder, add, change, copy, commit }) => {
    for (const path of ['trunk', 'branches', 'tags']) folder(path)
    add('trunk/a.txt', 'one\n')
    commit('Begin')
    copy('trunk', 1, 'branches/stable')
    commit('Branch')
    change('trunk/a.txt', 'two\n')
    commit('Change')
  })
  await using server = await startSvnserve(source.path)
  const folder = await mkdtemp(join(tmpdir(), 'belfry-convert-'))
  try {
    const target = join(folder, 'mill.git')
    await git(['init', '--quiet', '--bare', target])
    const percents: number[] = []
    const conversion = {
      origin: originOf(`${server.url}mill`),
      vcs: null,
      target,
      folder,
      default_branch: 'main',
      addresses: 'loopback',
      certificates: null,
      lfs_store: join(folder, 'lfs'),
      use_lfs: 'opt_in',
      verify_all: true,
      signal: new AbortController().signal,
      onProgress: ({ percent }: { percent?: number }) => percents.push(percent ?? 0),
    } as const
    const { vcs, default_branch, verification } = await convertRepository(conversion)
    assert.deepEqual([vcs, default_branch, verification.mismatches], ['subversion', 'main', []])
    assert.equal(Math.max(...percents), 100)
    const show = async (...args: string[]) => (await git(['-C', target, ...args])).trim()
    assert.equal(await show('show', 'HEAD:a.txt'), 'two')
    assert.equal(await show('show', 'stable:a.txt'), 'one')
    assert.equal(await show('log', '--format=%s', 'main'), 'Change\nBegin')
    await assert.rejects(
      convertRepository({ ...conversion, origin: originOf(`${server.url}none`) }),
      /nothing at this path|no .*repository/,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
