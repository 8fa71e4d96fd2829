import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeOwned } from './postgres-location.ts'

test('a folder that may lead elsewhere is not used', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-owned-'))
  try {
    const [own, link] = [join(folder, 'own'), join(folder, 'link')]
    assert.equal(makeOwned(own, undefined), own)
    await symlink(own, link)
    assert.throws(() => makeOwned(link, undefined), { message: /belongs to another account: remove it/ })
  } finally {
    await rm(folder, { recursive: true })
  }
})
