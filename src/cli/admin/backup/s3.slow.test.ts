import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { put, sha256 } from '#test/lfs.ts'
import { openOperator, operatorOf } from '#test/operator.ts'
import { openDatabase } from '#test/process.ts'
import { bucket, openS3 } from '#test/s3.ts'

const s3 = await openS3()
const folder = mkdtempSync(join(tmpdir(), 'belfry-backup-'))
const forge = await openForge({ settings: s3.settings() })
after(async () => {
  await forge[Symbol.asyncDispose]()
  await s3[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const ada = await forge.person('ada')
await ada.owns('engine', { auto_init: true })
await put(forge, ada.token, 'ada/engine', 'large')
const oid = sha256('large')
const operator = operatorOf(forge, s3.settings())

interface Found {
  name: string
  state: string
}
const failures = (checks: Found[]) => checks.flatMap(({ name, state }) => (state === 'failed' ? [name] : []))

test('a backup leaves the bucket out and says so; the restored server uses it', async () => {
  const file = join(folder, 'without.tar')
  assert.match(await operator.text('backup', file), /0 files of .*\nLeft out the files of Git LFS, .*large-files\/belfry/)
  await using target = await openDatabase({ empty: true })
  const environment = { BELFRY_DATA: join(folder, 'without'), DATABASE_URL: target.url }
  const { checks } = await openOperator({ ...environment, ...s3.settings() }, forge.clock).data('restore', file)
  assert.deepEqual(failures(checks), [])
  const { code, stdout } = await openOperator(environment, forge.clock).run('doctor', '--json')
  assert.deepEqual([code, failures(JSON.parse(stdout).checks)], [1, ['files']], 'they are not in the folder')
})

test('a backup with the files of the bucket is restored into a folder', async () => {
  const file = join(folder, 'with.tar')
  assert.equal((await operator.data('backup', file, '--with-files')).files, 1)
  await using target = await openDatabase({ empty: true })
  const data = join(folder, 'with')
  const { checks } = await openOperator({ BELFRY_DATA: data, DATABASE_URL: target.url }, forge.clock).data('restore', file)
  assert.deepEqual(failures(checks), [])
  assert.equal(readFileSync(join(data, 'lfs', oid.slice(0, 2), oid.slice(2, 4), oid), 'utf8'), 'large')
})

test('doctor says what is wrong with the storage, without its secrets', async () => {
  const healthy = await operator.text('doctor')
  assert.match(healthy, /^ok +storage +http:.*\/large-files\/belfry\/ answers\.$/m)
  assert.match(healthy, /^ok +files +Checked 1 files of Git LFS/m)
  const wrong: [url: string, says: RegExp][] = [
    [`s3://S3RVER:hunter2@${s3.host}/${bucket}?tls=off`, /SignatureDoesNotMatch\.\n.*Correct the secret/],
    [`s3://S3RVER:S3RVER@${s3.host}/other?tls=off`, /NoSuchBucket\.\n.*Create the bucket/],
    [`s3://S3RVER:hunter2@${s3.host}/${bucket}`, /ERR_SSL_\w+\.\n.*Add tls=off/],
    ['s3://S3RVER:hunter2@127.0.0.1:1/large-files?tls=off', /ECONNREFUSED\.\n.*reachable from this machine/],
  ]
  for (const [BELFRY_STORAGE_URL, says] of wrong) {
    const { code, stdout, stderr } = await operatorOf(forge, { BELFRY_STORAGE_URL }).run('doctor')
    assert.equal(code, 1)
    assert.match(stdout, says)
    assert.ok(!`${stdout}${stderr}`.includes('hunter2'))
    const failed = join(folder, 'failed.tar')
    const refused = await operatorOf(forge, { BELFRY_STORAGE_URL }).run('backup', failed, '--with-files')
    assert.match(refused.stderr, /^The storage of large files does not work/)
    assert.equal(existsSync(failed), false)
  }
})
