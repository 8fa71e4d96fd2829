import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from '#platform/database.ts'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { get } from '#test/lfs.ts'
import { until } from '#test/machine.ts'
import { openS3 } from '#test/s3.ts'

const s3 = await openS3()
after(() => s3[Symbol.asyncDispose]())

test('large files of an import go to the bucket, also when it was away', async () => {
  await using runs = await openRuns(s3.settings({ BELFRY_IMPORT_KEEP: '14' }))
  const { forge, ada, server, root } = runs
  const large = await server.make('large')
  const contents = randomBytes(6_000_000)
  const { oid, pointer } = server.keep(contents)
  await large.work.commit('Large', { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'large.bin': pointer })
  await large.work.push('main')
  let refused = 0
  s3.failWith((incoming) => {
    refused++
    incoming.socket.destroy()
  })
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/large.git` })
  await until('the storage was tried', () => refused >= 4)
  assert.equal((await engine.read()).status, 'mapping')
  s3.failWith(undefined)
  await engine.reaches('complete')
  assert.ok((await get(forge, ada.token, 'ada/engine', oid)).bytes.equals(contents))
  await until('the folder of the import is in the bucket too', () => s3.keys().length === 2 && readdirSync(root).length === 0)
  const sizes = await forge.belfry.db.rows<{ size: number }>(sql`select size from import_stages`)
  assert.ok(sizes.length === 1 && sizes[0] && sizes[0].size < contents.length, 'without the large file')
  assert.equal(existsSync(join(forge.belfry.settings.BELFRY_DATA, 'lfs')), false)
})
