import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { certificateFile } from '#test/certificates.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, password, startApache, username } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { connectTo } from './connection.ts'
import { subversion } from './subversion.ts'

test('an https server with a known certificate is trusted, and no other', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'mill'), ({ folder: make, add, commit }) => {
    make('trunk')
    add('trunk/a.txt', 'a\n')
    commit('Begin')
  })
  await using server = await startApache(folder.path, { secret: true, certificate: 'signed' })
  // Subversion compares host names of a certificate, not addresses.
  const origin = originOf(`${server.url.replace('127.0.0.1', 'localhost')}mill`, username, password)
  await using stranger = await openWorkspace()
  await assert.rejects(subversion.convert(origin, stranger), /certificate of the (Subversion server|source) is not trusted/)
  const refused = await connectTo(origin, stranger, stranger.folder)
  await assert.rejects(refused.svn(['info'], refused.url), /certificate of the Subversion server is not trusted/)
  await using friend = await openWorkspace('loopback', await readFile(certificateFile('authority'), 'utf8'))
  assert.equal((await subversion.convert(origin, friend)).commit_count, 1)
  await subversion.arrange?.(origin, friend)
  assert.deepEqual((await subversion.verify(origin, friend, true)).mismatches, [])
})
