import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Storage } from '#git/storage.ts'
import { digest, randomText } from '#platform/secrets.ts'
import { Desk, installHook } from '#test/git.ts'
import { kill, processesIn, until } from '#test/machine.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

/** Kills the server, its database and its gits. */
async function killAll(host: Host, belfry: BelfryProcess) {
  for (const pid of [belfry.pid, ...processesIn(host.cluster), ...processesIn(host.data)]) kill(pid, 'SIGKILL')
  await belfry.ended()
  await until('all is gone', () => processesIn(host.data).length === 0)
}

test('after a kill in the middle of a push nothing is left: no open push, no lock, no draft, no folder without a row', async (t) => {
  await using host = await Host.openUsed()
  const first = await host.start()
  const made = await first.post('/api/v3/user/repos', host.token, { name: 'engine' })
  const { id, full_name } = (await made.json()) as { id: number; full_name: string }
  const storage = new Storage(host.data)
  const path = storage.pathOf(id)
  await using desk = await Desk.open(first)
  const work = await desk.begin({ login: 'x-access-token', token: host.token }, full_name)
  await work.commit('Begin')
  await installHook(path, 'pre-receive', `touch "${path}/reached"; sleep 600`)
  const cut = work.attempt('push', 'origin', 'main')
  await until('the push is in hand', () => existsSync(join(path, 'reached')))
  await host.query(`select setval(pg_get_serial_sequence('repositories', 'id'), 5001)`)
  await killAll(host, first)
  assert.notEqual((await cut).status, 0)
  // What kills at other moments leave.
  await writeFile(join(path, 'refs', 'heads', 'main.lock'), '')
  const stranger = storage.pathOf(6000)
  await mkdir(stranger, { recursive: true })
  const drafts = [storage.pathOf(5000), `${storage.pathOf(5001)}.new`]
  for (const draft of [...drafts, join(host.data, 'lfs', 'drafts')]) await mkdir(draft, { recursive: true })
  drafts.push(join(host.data, 'lfs', 'drafts', 'upload'))
  await writeFile(join(host.data, 'lfs', 'drafts', 'upload'), 'half of')
  drafts.push(join(host.data, 'secrets.key.12345'))
  await writeFile(join(host.data, 'secrets.key.12345'), '')
  await installHook(path, 'pre-receive', 'exit 0')

  const second = await host.start()
  assert.deepEqual(await host.query('select id from pushes'), [])
  assert.deepEqual(drafts.filter(existsSync), [])
  assert.ok(existsSync(stranger), 'what is newer than the database stays')
  assert.ok(second.logged.some(({ msg }) => /^removed files that killed processes left/.test(`${msg}`)))
  const objects = await readdir(join(path, 'objects'))
  assert.deepEqual(
    objects.filter((name) => name.startsWith('tmp_')),
    [],
  )
  await using there = await Desk.open(second)
  await work.git('remote', 'set-url', 'origin', there.url({ login: 'x-access-token', token: host.token }, full_name))
  await work.push()

  // A job that used up its attempts is logged when it happens, and at each later start.
  await rename(path, `${path}.away`)
  await host.query(`select graphile_worker.add_job('point_head', '{"repo_id": ${id}}', max_attempts := 1)`)
  const logs = (belfry: BelfryProcess, words: RegExp) =>
    belfry.logged.some(({ msg, level }) => words.test(`${msg}`) && level === 50)
  await until('it is logged', () => logs(second, /^a job failed for good/))
  await rename(`${path}.away`, path)
  assert.equal(await second.stop(), '0')
  const third = await host.start()
  // The start does not wait for the count of failed jobs.
  await until('the next start logs it', () => logs(third, /^jobs have failed/))

  await t.test('a token that was given out right before everything is killed works after the restart', async () => {
    // Of many applications, so that none comes to the most tokens that one may have.
    const codes = Array.from({ length: 12 }, () => randomText(32))
    await host.query(`
    insert into applications (client_id, secret_digest, secret_last_eight, owner_id, name, url, callback_url, created_at, updated_at)
    select 'client-' || n, '\\x${digest('a secret').toString('hex')}', 'a secret', a.id, 'Weather ' || n, 'https://weather.example',
      'https://weather.example/', now(), now() from generate_series(0, 3) n, accounts a where a.login = 'admin';
    insert into grants (application_id, user_id, scopes, created_at, updated_at)
    select p.id, p.owner_id, '{repo}', now(), now() from applications p`)
    const rows = codes.map((code, n) => `('\\x${digest(code).toString('hex')}'::bytea, 'client-${n % 4}')`)
    await host.query(`
    insert into authorization_codes (digest, application_id, user_id, redirect_uri, scopes, created_at, expires_at)
    select code.digest, p.id, p.owner_id, 'https://weather.example/', '{repo}', now(), now() + interval '10 minutes'
    from (values ${rows.join()}) code (digest, client_id) join applications p using (client_id)`)
    const exchange = async (code: string, n: number) => {
      const body = new URLSearchParams({ client_id: `client-${n % 4}`, client_secret: 'a secret', code })
      const answer = await fetch(`${third.web}/login/oauth/access_token`, {
        method: 'POST',
        body,
        headers: { accept: 'application/json' },
      })
      return ((await answer.json()) as { access_token: string }).access_token
    }
    const given: string[] = []
    const asked = codes.map((code, n) =>
      exchange(code, n).then(
        (token) => void given.push(token),
        () => {},
      ),
    )
    await until('half of them are given out', () => given.length >= 6)
    await killAll(host, third)
    await Promise.all(asked)
    const fourth = await host.start()
    for (const token of given) assert.equal((await fourth.get('/api/v3/user', token)).status, 200)
  })
})
