import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GitMissing } from '#git/errors.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { unreachable } from '#platform/unavailable.ts'
import { expect, openForge } from '#test/forge.ts'
import { failureOf } from './errors.ts'

/** The entries of the log about failed requests. */
const failuresIn = (logged: string[]) =>
  logged.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 50 && msg === 'request failed')

/** Makes every new star fail in the database with an SQLSTATE. */
async function failStars(forge: Awaited<ReturnType<typeof openForge>>, code: string) {
  await forge.belfry.db.pool.query(`
    create or replace function fail_star() returns trigger language plpgsql as $$
      begin raise exception 'this star fails' using errcode = '${code}'; end $$;
    create or replace trigger fail_star before insert on stars for each row execute function fail_star()`)
}

test('an error is a refusal, an outage with Retry-After, or a bug of which the client learns nothing', () => {
  const kinds = [
    missing(),
    new Refusal('too_many_streams', 'Too many'),
    unreachable(),
    new GitMissing(),
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    new Error('git init failed (128): error: failed to write new configuration file /data/7.git/config.lock'),
    new Error('Unexpected token in "No space left on device"'),
    new Error('secret'),
  ].map((error) => {
    const { kind, status, retry_after, unexpected } = failureOf(error)
    return [kind, status, retry_after, unexpected]
  })
  assert.deepEqual(kinds, [
    ['refusal', 404, undefined, false],
    ['refusal', 429, 60, false],
    ['outage', 503, 5, false],
    ['outage', 503, 5, true],
    ['outage', 503, 5, true],
    ['outage', 503, 5, true],
    ['bug', 500, undefined, true],
    ['bug', 500, undefined, true],
  ])
  assert.equal(failureOf(new Error('secret')).message, undefined)
})

test('a foreign-key violation is 404 and a bug is 500, both logged with their stack and the id of the request', async () => {
  await using forge = await openForge({ own_database: true })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  for (const [code, status] of [
    ['23503', 404],
    ['XX000', 500],
  ] as const) {
    await failStars(forge, code)
    const answer = await ben.put('/user/starred/ada/engine')
    const id = answer.headers.get('x-service-request-id')
    const { message } = await expect(status, answer)
    assert.equal(message, status === 404 ? 'Not Found' : 'Server Error')
    const [entry] = failuresIn(forge.logged).filter(({ request_id }) => request_id === id)
    assert.equal(entry?.err.code, code)
    assert.match(entry.err.stack, /this star fails\n\s+at /)
  }
})

test('without a git program, requests that need it get 503 that names git, and the log says so', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const empty = await mkdtemp(join(tmpdir(), 'belfry-no-git-'))
  const { PATH } = process.env
  process.env.PATH = empty
  try {
    const read = await ada.get('/repos/ada/engine/contents/README.md')
    assert.equal(read.headers.get('retry-after'), '5')
    assert.match((await expect(503, read)).message, /^Git is not installed on this server/)
    const fetched = await fetch(`${forge.web}/ada/engine.git/info/refs?service=git-upload-pack`)
    assert.equal(fetched.headers.get('retry-after'), '5')
    assert.equal(fetched.status, 503)
    assert.match(await fetched.text(), /^Git is not installed on this server/)
    assert.equal((await ada.get('/user')).status, 200, 'requests without git are served')
  } finally {
    process.env.PATH = PATH
    await rm(empty, { recursive: true })
  }
  const entries = failuresIn(forge.logged)
  assert.equal(entries.length, 2)
  for (const { err } of entries) assert.match(err.stack, /spawn git ENOENT/)
  await expect(200, await ada.get('/repos/ada/engine/contents/README.md'))
})
