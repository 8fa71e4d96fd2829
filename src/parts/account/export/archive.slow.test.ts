import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { Archive, fetchAs, path, prepare } from '#test/exports.ts'
import { expect } from '#test/forge.ts'
import { openAsAda } from '#test/guest.ts'
import { until } from '#test/machine.ts'

test('a large archive is downloaded by one client at a time, in parts, and breaks off for a suspended account', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  // Texts that compress badly, so that the download waits for its reader.
  const { id } = await forge.belfry.db.load<{ id: number }>(sql`select id from accounts where login = 'ada'`)
  await forge.belfry.db.query(sql`
    insert into ssh_keys (user_id, title, key, fingerprint, created_at)
    select ${id}, n::text, (select string_agg(md5(concat(n, '-', m)), '') from generate_series(1, 1000) m), n::text, now()
    from generate_series(1, 1000) n`)
  const leaving = new AbortController()
  const [first, second] = [await prepare(ada), await prepare(ada)]
  const slow = await fetchAs(forge, ada, first, { signal: leaving.signal })
  await slow.body?.getReader().read()
  assert.equal((await fetchAs(forge, ada, second)).status, 429)
  const refused = await ada.fill(path, {})
  assert.equal(refused.status, 429)
  assert.match(refused.text, /An archive of yours is being downloaded/)
  leaving.abort()
  await until('the download has ended', async () => (await ada.fill(path, {})).status === 303)
  const whole = new Archive(Buffer.from(await (await fetchAs(forge, ada, second)).arrayBuffer()))
  using _ = whole
  const parts = whole.names.filter((name) => name.startsWith('ssh-keys'))
  assert.deepEqual(parts.slice(0, 2), ['ssh-keys-0001.jsonl', 'ssh-keys-0002.jsonl'])
  assert.equal(parts.flatMap((name) => whole.rows(name)).length, 1000)

  const broken = await fetchAs(forge, ada, await prepare(ada))
  await expect(204, await forge.admin.put('/users/ada/suspended'))
  await assert.rejects(broken.arrayBuffer(), 'an archive of a suspended account breaks off')
})
