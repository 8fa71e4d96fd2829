import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { importing, refsOf } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { startLyingSvnserve, startRedirecting, startVictim } from '#test/imports/svn-redirects.ts'
import { openSvnFolder, password, startApache, startSvnserve, username } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { connectTo } from './connection.ts'
import { settlePlan } from './plan.ts'
import { openRepositoryReader } from './projects.ts'
import { subversion } from './subversion.ts'

async function makeRepository(path: string) {
  await makeSvnRepository(path, ({ folder, add, commit }) => {
    folder('trunk')
    add('trunk/secret.txt', 'secret\n')
    commit('Begin')
  })
}

const isSvn = (agent = '') => agent.startsWith('SVN/')

test('a redirect never leads Subversion to a file, another host or ssh, and no credentials follow it', async () => {
  await using folder = await openSvnFolder()
  await makeRepository(join(folder.path, 'local'))
  await using victim = await startVictim()
  const targets = [
    `file://${join(folder.path, 'local')}`,
    `svn://127.0.0.1:${victim.port}/local`,
    `http://127.0.0.1:${victim.port}/local`,
    `svn+ssh://127.0.0.1:${victim.port}/local`,
  ]
  for (const target of targets) {
    await using source = await startRedirecting(target, ({ headers }) => isSvn(headers['user-agent']))
    await using workspace = await openWorkspace()
    const origin = originOf(`${source.url}local`, username, password)
    await assert.rejects(subversion.probe(origin, workspace), /redirects to another address/, target)
    await assert.rejects(subversion.convert(origin, workspace), /redirects to another address/, target)
    assert.ok(source.requests.filter(({ redirected }) => redirected).length >= 2, 'svn has asked the source itself')
    assert.ok(source.requests.every(({ authorization }) => authorization === source.requests[0]?.authorization))
  }
  // Requests of the importer itself too.
  await using source = await startRedirecting(`http://127.0.0.1:${victim.port}/x`, () => true)
  await using workspace = await openWorkspace()
  await assert.rejects(subversion.convert(originOf(`${source.url}x`, username, password), workspace))
  assert.ok(source.requests.length > 0)
  assert.equal(victim.connections(), 0)
})

test('a redirect in the middle of an import ends it', async () => {
  await using folder = await openSvnFolder()
  await makeRepository(join(folder.path, 'real'))
  await makeRepository(join(folder.path, 'local'))
  await using web = await startApache(folder.path)
  for (const method of ['OPTIONS', 'PROPFIND', 'REPORT']) {
    const target = `file://${join(folder.path, 'local')}`
    const isHostile = (request: IncomingMessage) => request.method === method && isSvn(request.headers['user-agent'])
    await using source = await startRedirecting(target, isHostile, web.url)
    await using workspace = await openWorkspace()
    await assert.rejects(importing(originOf(`${source.url}svn/real`), workspace), /redirects to another address/, method)
    assert.equal(await refsOf(workspace), '')
  }
  await using source = await startRedirecting('', () => false, web.url)
  await using workspace = await openWorkspace()
  await importing(originOf(`${source.url}svn/real`), workspace)
  assert.match(await refsOf(workspace), /heads\/main/)
})

test('a root at another address is refused', async () => {
  await using folder = await openSvnFolder()
  await makeRepository(join(folder.path, 'local'))
  for (const root of [`file://${folder.path}`, 'svn://10.0.0.1/a', 'svn+ssh://a/b']) {
    await using source = await startLyingSvnserve(root)
    await using workspace = await openWorkspace()
    const origin = originOf(`${source.url}${'long/'.repeat(20)}local`)
    const connection = await connectTo(origin, workspace, workspace.folder)
    await assert.rejects(settlePlan(origin, connection, workspace), /invalid answer/, root)
    await assert.rejects(connection.svn(['info'], `${root}/local`), /names an address of another server/)
    // A version of `svn` may print the root as it is.
    const printed = `<info><entry revision="1"><repository><root>${root}</root></repository></entry></info>`
    const reader = openRepositoryReader({ ...connection, svn: async () => printed }, undefined)
    await assert.rejects(reader.describe(), /names an address of another server/)
  }
})

test('the configuration starts no program, and user names are not expanded in it', async () => {
  await using folder = await openSvnFolder()
  await makeRepository(join(folder.path, 'local'))
  const started = join(folder.path, 'started')
  for (const name of ['ssh', 'rsh']) await writeFile(join(folder.path, name), `#!/bin/sh\n: > ${started}\n`, { mode: 0o755 })
  await using source = await startRedirecting('', () => false)
  await using workspace = await openWorkspace()
  const name = '%(http-proxy-exceptions)s'
  const connection = await connectTo(originOf(source.url, name, password), workspace, workspace.folder)
  await assert.rejects(connection.svn(['info'], connection.url))
  assert.equal(source.requests[0]?.authorization, `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`)
  for (const scheme of ['svn+ssh', 'svn+rsh']) {
    const args = ['info', '--non-interactive', '--config-dir', join(workspace.folder, 'svn-settings'), `${scheme}://a/b`]
    const env = { PATH: `${folder.path}:${process.env.PATH}`, HOME: '/nonexistent' }
    const [status] = await once(spawn('svn', args, { env, stdio: 'ignore' }), 'exit')
    assert.notEqual(status, 0)
    assert.ok(!existsSync(started), scheme)
  }

  await using wire = await startSvnserve(folder.path, { secret: true, user: name })
  await using other = await openWorkspace()
  await importing(originOf(`${wire.url}local`, name, password), other)
  assert.match(await refsOf(other), /heads\/main/)
})
