import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { subcommands } from '#cli/admin/admin.ts'
import { commands } from '#cli/commands.ts'
import { packedBelfry } from '#test/packed.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

const exec = promisify(execFile)

// Before the tests, whose limits it would take.
const program = await packedBelfry()

type Call = [command: string, prints: RegExp]

/** Every command that prints and ends, with a part of what it prints, in the order of running. `HOOK` is an id. */
const aboutPeople: Call[] = [
  ['users create ada --email ada@example.com', /^Created ada\.\nPassword: \w+$/],
  ['users create ben --no-password', /^Created ben\.$/],
  ['users list', /^LOGIN .*\n[\s\S]*ada@example\.com/],
  ['users suspend ada', /^ada is suspended\.$/],
  ['users unsuspend ada', /^ada is no longer suspended\.$/],
  ['users promote ada', /^ada is a site admin\.$/],
  ['users demote ada', /^ada is not a site admin any more\.$/],
  ['users reset-password ada', /^ada has a new password\./],
  ['tokens create ada --scopes repo', /^\w{40}$/],
  ['tokens list ada', /repo +…\w{8}/],
  ['tokens revoke --user ada', /^Revoked 1 tokens of ada\.$/],
  ['orgs create acme --owner ada', /^Created acme, owned by ada\.$/],
  ['orgs add-owner acme ben', /^ben is an owner of acme\.$/],
  ['orgs members acme', /ada[\s\S]*owner[\s\S]*ben[\s\S]*owner/],
  ['users create cleo --no-password', /^Created cleo\.$/],
  ['users from-file USERS', /^LOGIN +STATE +TEAMS +PASSWORD\ngrace +created +acme +\w+$/],
  ['orgs add-member acme cleo', /^cleo is a member of acme\.$/],
  ['teams create acme Core --maintainer ada', /^Created acme\/core, maintained by ada\.$/],
  ['teams add-member acme core cleo', /^cleo is a member of acme\/core\.$/],
  ['teams members acme core', /ada +- +maintainer\ncleo +- +member/],
  ['teams list acme', /^TEAM .*\ncore +Core +to all members +2 /],
  ['teams remove-member acme core cleo', /^cleo has left acme\/core\.$/],
  ['orgs remove-member acme cleo', /^cleo has left acme\.$/],
  ['orgs suspend acme', /^acme is suspended\.$/],
  ['orgs list --filter suspended', /acme/],
  ['orgs unsuspend acme', /^acme is no longer suspended\.$/],
  ['orgs delete acme --yes', /^acme is deleted\.$/],
  ['audit --action org', /org\.delete +acme/],
]
const aboutTheSite: Call[] = [
  ['imports list', /admin\/copy +admin/],
  ['imports cancel admin/copy --yes', /^The import of admin\/copy is cancelled\.$/],
  ['hooks list', /admin\/engine/],
  ['hooks failing', /^ID /],
  ['silence --yes', /^It sends nothing: 0 webhooks are paused/],
  ['hooks resume-restored', /^0 webhooks are active again\.$/],
  ['hooks replay HOOK --since SINCE', /^Replay \d+ of hook/],
  ['jobs list', /waiting, \d+ running, 0 failed\./],
  ['jobs retry --all', /^Retrying 0 jobs\.$/],
  ['jobs discard --all', /^Discarded 0 jobs\.$/],
  ['maintenance on --message Moving.', /^Requests that write are refused/],
  ['maintenance status', /^On since .*: Moving\.$/],
  ['maintenance off', /^Requests that write are accepted again\.$/],
  ['backup FILE', /FILE/],
  ['keys rotate --yes --wait 0', /^Rotated the key/],
  ['doctor --depth quick', /\bok\b/],
]

/** Those are run below. */
const others = ['restore', 'imports restart']

/** Runs commands beside a server of the package. */
async function openAdmin() {
  const host = await Host.openUsed()
  const belfry = await host.start({ program })
  const run = (data: string, words: string[]) =>
    exec(program, ['admin', ...words], { cwd: host.folder, env: { ...process.env, BELFRY_DATA: data } })
  return {
    host,
    belfry,
    run,
    async check(calls: Call[], filled: Record<string, string>) {
      for (const [command, prints] of calls) {
        const words = command.split(' ').map((word) => filled[word] ?? word)
        const { stdout, stderr } = await run(host.data, words)
        assert.match(stdout.replaceAll(filled.FILE ?? '\0', 'FILE').trim(), prints, command)
        // Doctor reports progress and warnings.
        if (!command.startsWith('doctor')) assert.equal(stderr, '', command)
      }
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  }
}

test('subcommands of admin about users, tokens, organizations and teams work from the package, beside a running server', async () => {
  await using admin = await openAdmin()
  const USERS = join(admin.host.folder, 'users.csv')
  await writeFile(USERS, 'login,teams\ngrace,acme\n')
  await admin.check(aboutPeople, { USERS })
})

test('subcommands of admin about the site work from the package, beside a running server', async () => {
  await using admin = await openAdmin()
  const { host, belfry, run } = admin
  const hook = await prepare(belfry, host)
  const FILE = join(host.folder, 'belfry.tar')
  await admin.check(aboutTheSite, { HOOK: `${hook}`, FILE, SINCE: new Date(Date.now() - 60_000).toISOString() })
  await assert.rejects(run(host.data, ['imports', 'restart', 'admin/copy']), /There is no import of "admin\/copy"/)
  assert.equal(await belfry.stop(), '0')
  const restored = join(host.folder, 'restored')
  assert.match((await run(restored, ['restore', FILE])).stdout, /\bok\b/)
  await rm(restored, { recursive: true })
})

test('every subcommand of admin is tested as a process', () => {
  const run = [...[...aboutPeople, ...aboutTheSite].map(([command]) => command), ...others]
  const missing = subcommands.filter(({ name }) => !run.some((command) => `${command} `.startsWith(`${name} `)))
  assert.deepEqual(missing, [])
})

/** A repository with a hook, and an import that fails. */
async function prepare(belfry: BelfryProcess, host: Host): Promise<number> {
  const api = async (path: string, body: object, method = 'POST') => {
    const headers = { authorization: `Bearer ${host.token}` }
    const answer = await fetch(`${belfry.web}/api/v3${path}`, { method, headers, body: JSON.stringify(body) })
    assert.equal(answer.status, 201, path)
    return answer.json() as Promise<{ id: number }>
  }
  for (const name of ['engine', 'copy']) await api('/user/repos', { name })
  await api('/repos/admin/copy/import', { vcs: 'git', vcs_url: `${belfry.web}/admin/nothing.git` }, 'PUT')
  // Only an active webhook can be replayed, and nothing leaves the machine for this one.
  const config = { url: 'belfry:listen' }
  return (await api('/repos/admin/engine/hooks', { config, events: ['push'] })).id
}

test('commands that run until they are stopped do so from the package', async () => {
  await using host = await Host.open()
  const server = await host.start({ program, options: ['test-server'], ready: /^\{.*\}$/m })
  const { url, admin_token: token } = JSON.parse(server.stdout)
  const call = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/api/v3${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(answer.status, 201, path)
    return (await answer.json()) as { id: number }
  }
  await call('/user/repos', { name: 'engine' })
  const { id } = await call('/repos/admin/engine/hooks', { config: { url: 'https://hooks.example.com/' }, active: false })
  const hook = `${url}/api/v3/repos/admin/engine/hooks/${id}`
  const options = ['listen', '--hook', hook, '--forward', 'http://127.0.0.1:4999/']
  const listening = await host.start({ program, options, settings: { BELFRY_TOKEN: token }, ready: /hooks\/\d+/ })
  listening.kill('SIGTERM')
  await listening.ended()
  const checking = await host.run({ program, options: ['conformance', url, '--token', token, '--only', 'feeds.list'] })
  assert.equal(checking.end, '0', checking.stdout)
  assert.equal((await fetch(`${url}/docs/conformance`)).status, 200)
  assert.equal(await server.stop(), '0')
  assert.deepEqual(
    commands.map(({ name }) => name),
    ['listen', 'admin', 'convert', 'conformance', 'test-server'],
    'convert is tested in packed.slow.test.ts',
  )
})
