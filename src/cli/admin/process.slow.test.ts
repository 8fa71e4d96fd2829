import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Host } from '#test/process.ts'

const admin = (host: Host, ...options: string[]) => host.run({ options: ['admin', ...options] })

test('commands work on the embedded database of a running and of a stopped server, and a backup is restored elsewhere', async () => {
  await using host = await Host.openUsed()
  const belfry = await host.start()
  const created = await admin(host, 'tokens', 'create', 'admin', '--scopes', 'all')
  assert.deepEqual([created.end, created.stderr], ['0', ''])
  const token = created.stdout.trim()
  const call = async (path: string, body: object) => {
    const answer = await belfry.post(`/api/v3${path}`, token, body)
    assert.equal(answer.status, 201, await answer.clone().text())
    return (await answer.json()) as Record<string, unknown>
  }
  await call('/user/repos', { name: 'engine', auto_init: true, private: true })
  await call('/user/repos', { name: 'empty' })
  const { number } = await call('/repos/admin/engine/issues', { title: 'Kept' })
  await call(`/repos/admin/engine/issues/${number}/comments`, { body: 'And this' })
  const config = { url: 'https://hooks.example.com/', secret: 'a shared secret' }
  await call('/repos/admin/engine/hooks', { config, events: ['push'], active: false })
  const main = (await (await belfry.get('/api/v3/repos/admin/engine/git/ref/heads/main', token)).json()) as {
    object: { sha: string }
  }
  await call('/repos/admin/engine/git/refs', { ref: 'refs/heads/topic', sha: main.object.sha })
  const file = join(host.folder, 'belfry.backup')
  const made = await admin(host, 'backup', file, '--json')
  assert.deepEqual([made.end, made.stderr], ['0', ''])
  assert.partialDeepStrictEqual(JSON.parse(made.stdout), { repositories: 2, without_folder: [] })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  // What comes after the snapshot is not in the backup.
  await call('/repos/admin/engine/git/refs', { ref: 'refs/heads/later', sha: main.object.sha })
  await belfry.stop()
  const listed = await admin(host, 'audit', '--json')
  assert.deepEqual([listed.end, listed.stderr], ['0', ''])
  assert.partialDeepStrictEqual(JSON.parse(listed.stdout), [{ action: 'site.backup', via: 'command line' }])

  host.data = join(host.folder, 'restored')
  const restored = await admin(host, 'restore', file)
  assert.deepEqual([restored.end, restored.stderr], ['0', ''], restored.stdout)
  const again = await host.start()
  const read = async (path: string) => (await again.get(`/api/v3${path}`, token)).json()
  assert.partialDeepStrictEqual(await read(`/repos/admin/engine/issues/${number}`), { title: 'Kept', comments: 1 })
  assert.partialDeepStrictEqual(await read('/repos/admin/engine/branches'), [{ name: 'main' }, { name: 'topic' }])
  assert.partialDeepStrictEqual(await read('/repos/admin/engine/contents/README.md'), { type: 'file' })
  assert.partialDeepStrictEqual(await read('/repos/admin/engine/hooks'), [{ config: { url: config.url } }])
  const changed = await again.post('/api/v3/repos/admin/engine/issues', token, { title: 'Next' })
  assert.equal(changed.status, 201)
  assert.partialDeepStrictEqual(await changed.json(), { number: Number(number) + 1 })
  const log = (await read('/enterprises/belfry/audit-log')) as { action: string }[]
  assert.equal(log[0]?.action, 'site.restore')
})
