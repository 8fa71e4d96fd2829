import { deepEqual } from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeHgRepository } from '#test/imports/hg.ts'
import { openHgBundle } from '#test/imports/hg-bundle.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { mercurial } from './mercurial.ts'

test('subrepositories and names that are not UTF-8 are listed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'belfry-hg-'))
  const bundle = openHgBundle()
  const sources = '# from elsewhere\nlib = https://hg.example.com/lib\nvendor/x = [git]https://git.example.com/x?a=b\n'
  bundle.commit({ message: 'One', set: { '.hgsub': sources, '.hgsubstate': '', 'caf\xe9.txt': 'a\n', 'ok.txt': 'b\n' } })
  await using server = await startHgServer(await makeHgRepository(folder.path, bundle.bytes()))
  await using workspace = await openWorkspace()
  const { remarks } = await mercurial.convert(originOf(server.url), workspace)
  deepEqual(remarks, [
    { what: 'name that is not UTF-8', path: 'café.txt', text: '' },
    { what: 'subrepository', path: 'lib', text: 'https://hg.example.com/lib' },
    { what: 'subrepository', path: 'vendor/x', text: '[git]https://git.example.com/x?a=b' },
  ])
})
