import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Stage } from '#parts/imports/stages.ts'
import { sql } from '#platform/database.ts'
import { mostBytes } from '#platform/file-store/file-store.ts'
import { expect } from '#test/forge.ts'
import { openMill } from '#test/imports/mill.ts'
import { run } from '#test/imports/runs.ts'
import { until } from '#test/machine.ts'
import { openOperator, operatorOf } from '#test/operator.ts'
import { openDatabase } from '#test/process.ts'
import type { S3 } from '#test/s3.ts'

const refuse = (s3: S3) => s3.failWith((incoming) => void incoming.socket.destroy())

test('the folder of a complete import goes to the bucket, and another node brings only what is new', async () => {
  await using mill = await openMill('14')
  const { s3, forge, ada, root, log, folders, stageOf } = mill
  const imported = await mill.begin('mill')
  {
    await using _ = run(forge)
    await imported.reaches('complete')
    await until('the folder is in the bucket', () => folders().length === 0)
    assert.equal(s3.keys().length, 1)
    s3.seen.length = 0
    const [author] = await ada.read(`${imported.path}/authors`)
    await expect(200, await ada.patch(author.url, { name: 'Ada Lovelace', email: 'ada@example.com' }))
    await until('the author is corrected', async () => (await log(imported)) === 'Ada Lovelace: Begin\n')
    await until('the correction is recorded', async () => (await mill.isIdle()) && folders().length === 0)
    assert.deepEqual(s3.seen, [], 'a correction needs no stage')
  }
  const first = await stageOf(imported)
  assert.match(await operatorOf(forge, s3.settings()).text('doctor'), /^ok +stages +Checked 1 stored folders of imports\.$/m)

  mill.addCommit()
  const other = join(root, '..', 'other')
  {
    // As if the process had been killed while it unpacked the folder.
    const { id } = await forge.belfry.db.load<{ id: number }>(sql`select id from imports`)
    mkdirSync(join(other, 'imports', `${id}`, 'stage.git'), { recursive: true })
    await using _ = run(forge, { BELFRY_DATA: other })
    await expect(200, await ada.patch(imported.path, {}))
    await imported.reaches('complete')
    assert.equal(await log(imported), 'grace: More\nAda Lovelace: Begin\n')
    const { mismatches } = await ada.read(`${imported.path}/report`)
    assert.deepEqual(
      mismatches.map(({ what }: { what: string }) => what),
      ['has another log message'],
    )
    await until('it is in the bucket again', () => folders(join(other, 'imports')).length === 0)
  }
  const second = await stageOf(imported)
  assert.deepEqual([first?.run, second?.run, s3.keys().length], [1, 2, 2])

  forge.clock.advance(8 * 86_400_000)
  await mill.nightly()
  assert.deepEqual(
    s3.keys().map((key) => key.split('/').at(-1)),
    [second?.oid],
  )
  forge.clock.advance(8 * 86_400_000)
  await mill.nightly()
  assert.deepEqual(s3.keys(), [])
})

test('while the storage is away, folders stay and imports go on', async () => {
  await using mill = await openMill('1')
  const { s3, forge, ada, root, log, folders, stageOf } = mill
  refuse(s3)
  await using _ = run(forge)
  const imported = await mill.begin('mill')
  await imported.reaches('complete')
  await until('the storage was tried', () => s3.seen.length >= 4)
  mill.addCommit()
  await expect(200, await ada.patch(imported.path, {}))
  await imported.reaches('complete')
  assert.match(await log(imported), /: More\n.*: Begin\n$/)
  const [name = ''] = folders()
  assert.ok(existsSync(join(root, name, 'stage.git')))
  assert.equal(await stageOf(imported), undefined)
  const copy = join(root, '..', 'copy')
  cpSync(join(root, name), copy, { recursive: true })
  s3.failWith(undefined)
  await until('the folder is in the bucket', () => folders().length === 0)
  assert.equal((await stageOf(imported))?.run, 2)

  // As if the process had been killed before it removed the folder.
  s3.seen.length = 0
  cpSync(copy, join(root, name), { recursive: true })
  await until('the folder is gone again', () => folders().length === 0)
  assert.deepEqual(s3.seen, [])

  refuse(s3)
  await expect(200, await ada.patch(imported.path, {}))
  await until('the storage was tried', () => s3.seen.length >= 4)
  assert.equal((await imported.read()).status, 'importing')
  s3.failWith(undefined)
  await imported.reaches('complete')
  assert.match(await log(imported), /: More\n.*: Begin\n$/)
  await until('the folder is in the bucket once more', () => folders().length === 0)

  await expect(204, await ada.delete(imported.path))
  assert.equal(await stageOf(imported), undefined)
  forge.clock.advance(8 * 86_400_000)
  await mill.nightly()
  assert.deepEqual(s3.keys(), [])
})

test('while the bucket is missing, importing again waits, and its stored folder is not given up', async () => {
  await using mill = await openMill('1')
  const { s3, forge, ada, log, folders, stageOf } = mill
  await using _ = run(forge)
  const imported = await mill.begin('mill')
  await imported.reaches('complete')
  await until('the folder is in the bucket', () => folders().length === 0)
  const stage = await stageOf(imported)
  s3.failWith((incoming, response) => {
    response.writeHead(404).end(incoming.method === 'HEAD' ? undefined : '<Error><Code>NoSuchBucket</Code></Error>')
  })
  assert.match((await (await fetch(`${forge.web}/readyz`)).json()).storage, /NoSuchBucket/)
  mill.addCommit()
  s3.seen.length = 0
  await expect(200, await ada.patch(imported.path, {}))
  await until('the stored folder was looked for', () => s3.seen.some((line) => line.startsWith('HEAD')))
  await until('the bucket was looked for', () => s3.seen.some((line) => line.startsWith('GET')))
  assert.equal((await imported.read()).status, 'importing')
  assert.deepEqual(
    forge.logged.filter((line) => line.includes('the storage of large files')).map((line) => JSON.parse(line).fault),
    ['NoSuchBucket'],
  )
  s3.failWith(undefined)
  assert.deepEqual(await stageOf(imported), stage)
  await imported.reaches('complete')
  assert.match(await log(imported), /: More\n.*: Begin\n$/)
})

test('an import that restarts while its folder is being stored does not wait, and only the newer folder is used', async () => {
  await using mill = await openMill('1')
  const { s3, forge, ada, log, folders, stageOf } = mill
  const held = Promise.withResolvers<void>()
  // The first upload gets its answer when the test allows it.
  s3.failWith((incoming, _, pass) => void (incoming.method === 'PUT' ? held.promise.then(pass) : pass()))
  await using _ = run(forge)
  const imported = await mill.begin('mill')
  await imported.reaches('complete')
  await until('the folder is being stored', () => s3.seen.some((line) => line.startsWith('PUT')))
  mill.addCommit()
  await expect(200, await ada.patch(imported.path, {}))
  await imported.reaches('complete')
  assert.match(await log(imported), /: More\n.*: Begin\n$/)
  assert.equal(await stageOf(imported), undefined)
  held.resolve()
  await until('the folder is in the bucket', () => folders().length === 0)
  assert.equal((await stageOf(imported))?.run, 2)
  await until('both uploads have ended', () => s3.keys().length === 2)
})

test('nodes without a common folder store the one of the last run only', async () => {
  await using mill = await openMill('1')
  const { s3, forge, ada, root, log, folders, stageOf } = mill
  const other = join(root, '..', 'other')
  const refuseUploads = () =>
    s3.failWith((incoming, _, pass) => (incoming.method === 'PUT' ? void incoming.socket.destroy() : pass()))
  const imported = await mill.begin('mill')
  {
    await using _ = run(forge)
    await imported.reaches('complete')
    await until('the folder is in the bucket', () => folders().length === 0)
    refuseUploads()
    await expect(200, await ada.patch(imported.path, {}))
    await imported.reaches('complete')
    assert.equal(await stageOf(imported), undefined, 'the stored folder is that of an earlier run')
  }
  assert.equal(folders().length, 1)
  s3.failWith(undefined)
  {
    await using _ = run(forge, { BELFRY_DATA: other })
    const [author] = await ada.read(`${imported.path}/authors`)
    await expect(200, await ada.patch(author.url, { name: 'Ada Lovelace' }))
    await until('the author is corrected', async () => (await log(imported)) === 'Ada Lovelace: Begin\n')
    await until('its folder is gone', async () => (await mill.isIdle()) && folders(join(other, 'imports')).length === 0)
    assert.equal(await stageOf(imported), undefined, 'a correction makes no stage')
    refuseUploads()
    mill.addCommit()
    await expect(200, await ada.patch(imported.path, {}))
    await imported.reaches('complete')
    assert.equal(await log(imported), 'grace: More\nAda Lovelace: Begin otherwise\n')
  }
  s3.failWith(undefined)
  {
    await using _ = run(forge)
    await until('the folder of the earlier run is gone', () => folders().length === 0)
    assert.equal(await stageOf(imported), undefined)
  }
  await using _ = run(forge, { BELFRY_DATA: other })
  await until('the folder of the last run is in the bucket', () => folders(join(other, 'imports')).length === 0)
  assert.equal((await stageOf(imported))?.run, 3)
})

for (const [title, spoil] of Object.entries({
  missing: async ({ files }, { oid }) => void (await files.erase([oid], new Date(Date.now() + 86_400_000))),
  damaged: async ({ s3, files }, { oid, size }) => {
    const contents = await buffer((await files.open(oid)) ?? Readable.from([]))
    contents.write('rex', contents.indexOf('ref: refs/heads/'))
    s3.failWith((incoming, response, pass) => {
      if (incoming.method === 'GET') response.writeHead(200, { 'Content-Length': size }).end(contents)
      else pass()
    })
  },
} satisfies Record<string, (mill: Awaited<ReturnType<typeof openMill>>, stage: Stage) => Promise<void>>))
  test(`if the stored folder is ${title}, the import starts over`, async () => {
    await using mill = await openMill('1')
    const { forge, ada, log, folders, stageOf } = mill
    await using _ = run(forge)
    const imported = await mill.begin('mill')
    await imported.reaches('complete')
    await until('the folder is in the bucket', () => folders().length === 0)
    const stage = await stageOf(imported)
    assert.ok(stage)
    await spoil(mill, stage)
    if (title === 'missing')
      assert.match(
        await operatorOf(forge, mill.s3.settings()).text('doctor'),
        /^warning +stages +1 stored folders of imports are missing: ada\/mill\.$/m,
      )
    mill.addCommit()
    await expect(200, await ada.patch(imported.path, {}))
    await imported.reaches('complete')
    assert.match(await log(imported), /: More\n.*: Begin otherwise\n$/)
    await until('the new folder is in the bucket', async () => (await stageOf(imported))?.run === 2)
  })

test('a folder that is too large for the store stays, and others do not wait for it', async () => {
  await using mill = await openMill('1')
  const { s3, forge, root, folders, stageOf } = mill
  refuse(s3)
  const large = await mill.begin('large')
  {
    await using _ = run(forge)
    await large.reaches('complete')
  }
  const [name = ''] = folders()
  const file = join(root, name, 'stage.git', 'large')
  writeFileSync(file, '')
  truncateSync(file, mostBytes)
  s3.failWith(undefined)
  s3.seen.length = 0
  await using _ = run(forge)
  const small = await mill.begin('small')
  await small.reaches('complete')
  await until('the small folder is in the bucket', async () => (await stageOf(small)) !== undefined)
  await until('its folder is gone', () => folders().length === 1)
  assert.deepEqual([folders(), await stageOf(large)], [[name], undefined])
  assert.deepEqual(
    s3.seen.filter((line) => line.startsWith('POST')),
    [],
    'no upload in parts was begun',
  )
})

test('a backup has the stored folders if it has the files of the bucket', async () => {
  await using mill = await openMill('1')
  const { s3, forge, root, folders } = mill
  {
    await using _ = run(forge)
    await (await mill.begin('mill')).reaches('complete')
    await until('the folder is in the bucket', () => folders().length === 0)
  }
  const operator = operatorOf(forge, s3.settings())
  for (const [options, found] of [
    [['--with-files'], /^ok +stages +Checked 1 stored/m],
    [[], /^warning +stages +1 stored folders of imports are missing: ada\/mill\.$/m],
  ] as const) {
    const file = join(root, '..', `backup${options.length}.tar`)
    await operator.text('backup', file, ...options)
    await using target = await openDatabase({ empty: true })
    const BELFRY_DATA = join(root, '..', `restored${options.length}`)
    const restored = openOperator({ BELFRY_DATA, DATABASE_URL: target.url }, forge.clock)
    assert.match(await restored.text('restore', file), found)
  }
})
