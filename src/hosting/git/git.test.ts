import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { git } from '#git/git.ts'
import { errorsOf, type Forge, injecting, openForge, type Person } from '#test/forge.ts'
import { Desk, installHook, openEngine, openPushes, pkt, zeros } from '#test/git.ts'

const inject = injecting(openEngine)

function send(forge: Forge, person: Person, path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  return fetch(`${forge.web}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/x-git-whatever', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
}

/** Begins a branch with this many commits, by one process. */
async function beginBranch(folder: string, branch: string, count: number) {
  const commits = Array.from(
    { length: count },
    (_, n) => `commit refs/heads/${branch}\ncommitter ${branch} <> ${n} +0000\ndata 0\n`,
  )
  await git(['-C', folder, 'fast-import', '--quiet'], { input: commits.join('\n') })
}

test('pushed commits can be cloned and fetched with each protocol version', inject(async ({ desk, work }) => {
  await work.commit('Begin', { 'README.md': '# engine\n', 'src/mill.ts': 'export {}\n' })
  await work.push()
  for (const version of ['0', '1', '2']) {
    const clone = await desk.clone(null, 'ada/engine', '-c', `protocol.version=${version}`)
    assert.equal(await clone.head(), await work.head())
    assert.equal(await clone.git('status', '--porcelain'), '')
    const next = await work.commit(`Version ${version}`)
    await work.git('-c', `protocol.version=${version}`, 'push', '--quiet', 'origin', 'main')
    await clone.git('pull', '--quiet')
    assert.equal(await clone.head(), next)
  }
}))

test('responses have the content types of git, and are not cached', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const ask = async (service: string, protocol = '') => {
    const headers = { authorization: `Bearer ${ada.token}`, 'git-protocol': protocol }
    const answer = await fetch(`${forge.web}/ada/engine/info/refs?service=git-${service}`, { headers })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), `application/x-git-${service}-advertisement`)
    assert.match(answer.headers.get('cache-control') ?? '', /no-cache/)
    return answer.text()
  }
  assert.match(await ask('upload-pack'), /^001e# service=git-upload-pack\n0000[0-9a-f]{44} HEAD/)
  assert.match(await ask('upload-pack', 'version=2'), /^000eversion 2\n/)
  assert.match(await ask('upload-pack', 'version=2\tevil=$(x)'), /^001e# service/)
  // Pushing has no second version: git wants the first from who asks for it all the same.
  assert.match(await ask('receive-pack', 'version=2'), /^001f# service=git-receive-pack\n0000[0-9a-f]{44} refs\/heads\/main/)
})

test('bodies may be compressed with gzip, as git does with long ones', inject(async ({ forge, ada, id, desk, work }) => {
  await beginBranch(work.folder, 'main', 40)
  const names = Array.from({ length: 40 }, (_, turn) => `HEAD~${turn}:refs/heads/turn-${turn}`)
  await work.push(...names)
  const clone = await desk.clone(null, 'ada/engine', '-c', 'protocol.version=0')
  assert.equal((await clone.git('branch', '--remotes', '--format=x')).split('\n').length, 40)
  await beginBranch(clone.folder, 'mine', 40)
  await clone.git('checkout', '--quiet', 'mine')
  await work.commit('News')
  await work.push('HEAD:refs/heads/news')
  // Forty commits that the server does not know, told by name: more than git sends as it is.
  assert.match((await clone.attempt('-c', 'core.askpass=', 'fetch', '--verbose')).stderr, /news/)

  const before = (await git(['-C', forge.belfry.storage.pathOf(id), 'rev-parse', 'refs/heads/turn-7'])).trim()
  const removal = `${pkt(`${before} ${zeros} refs/heads/turn-7\0report-status`)}0000`
  const answer = await send(forge, ada, 'ada/engine.git/git-receive-pack', gzipSync(removal), { 'content-encoding': 'gzip' })
  assert.match(await answer.text(), /unpack ok\n.*ok refs\/heads\/turn-7/s)
  assert.equal(await forge.belfry.storage.hasBranch(id, 'turn-7'), false)
}))

test('a push may have options, and be atomic', inject(async ({ desk, ada, work }) => {
  const first = await work.commit('First')
  await work.git('push', '--quiet', '--atomic', '-o', 'ci.skip', '-o', 'note=a b', 'origin', 'HEAD:main', 'HEAD:refs/heads/side')
  const other = await desk.begin(ada, 'ada/engine')
  await other.commit('Unrelated')
  const refused = await other.attempt('push', '--atomic', 'origin', 'HEAD:main', 'HEAD:refs/heads/new')
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /atomic push failed|rejected/)
  const branches = await ada.read('/repos/ada/engine/branches')
  assert.deepEqual(
    branches.map(({ name, commit }: { name: string; commit: { sha: string } }) => [name, commit.sha]),
    [
      ['main', first],
      ['side', first],
    ],
  )
}))

test('a clone may be shallow or partial', inject(async ({ ada, desk, work }) => {
  for (const turn of [1, 2, 3])
    await work.commit(`Turn ${turn}`, { 'notes.txt': `${turn}\n`, 'large.txt': `${turn}`.repeat(9999) })
  await work.push()
  const shallow = await desk.clone(ada, 'ada/engine', '--depth=1')
  assert.equal(await shallow.git('rev-list', '--count', 'HEAD'), '1')
  const onTop = await shallow.commit('From the shallows')
  await shallow.push('HEAD:main')
  await shallow.git('fetch', '--quiet', '--unshallow')
  assert.equal(await shallow.git('rev-list', '--count', 'HEAD'), '4')
  const partial = await desk.clone(null, 'ada/engine', '--filter=blob:none', '--no-checkout')
  assert.equal(await partial.head(), onTop)
  const lacking = async () => (await partial.git('rev-list', '--objects', '--all', '--missing=print')).match(/^\?/gm)?.length ?? 0
  assert.ok((await lacking()) > 0)
  assert.equal(await partial.git('show', 'HEAD~2:notes.txt'), '2')
}))

test('requests that are not git requests are refused without a 500', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const push = 'ada/engine.git/git-receive-pack'
  const command = `${zeros} ${'1'.repeat(40)} refs/heads/x`
  const refused: [number, string, string | Buffer, Record<string, string>?][] = [
    [400, push, ''],
    [400, push, 'zzzz'],
    [400, push, '0003'],
    [400, push, pkt(`${command}\0report-status`)],
    [400, push, `${pkt('push-cert\0report-status\n')}${pkt(`${command}\n`)}${pkt('push-cert-end\n')}0000`],
    [400, push, `${pkt(`${command}\n${command}y`)}0000`],
    [400, push, 'this is no gzip', { 'content-encoding': 'gzip' }],
    [415, push, '0000', { 'content-encoding': 'br' }],
    [422, push, `${pkt(`${command}${'y'.repeat(1000)}\0`)}0000`],
    [422, push, Buffer.from(`${pkt(`${command}\u{e9}`)}0000`.replace('\u{e9}', '\xff\xff'), 'latin1')],
    [413, push, pkt(`${command}${'y'.repeat(900)}`).repeat(17_500)],
    [400, 'ada/engine.git/git-upload-pack', 'zzzz'],
    [400, 'ada/engine.git/git-upload-pack', 'this is no gzip', { 'content-encoding': 'gzip' }],
  ]
  for (const [status, path, body, headers] of refused) {
    const answer = await send(forge, ada, path, body, headers)
    assert.equal(answer.status, status, `${path} ${body.toString('latin1').slice(0, 100)}: ${await answer.text()}`)
  }
  assert.equal((await send(forge, ada, push, '0000')).status, 200, 'git sends this to see whether it may push')
  const dumb = await fetch(`${forge.web}/ada/engine.git/info/refs`)
  assert.equal(dumb.status, 403)
  assert.match(await dumb.text(), /smart protocol/)
  assert.equal(await openPushes(forge), 0)
  assert.deepEqual(errorsOf(forge), [])
})

test('broken objects are refused', inject(async ({ forge, work }) => {
  await work.commit('Begin')
  await work.git('config', 'core.protectNTFS', 'false')
  await work.git('hash-object', '-w', 'notes.txt')
  const blob = await work.git('rev-parse', 'HEAD:notes.txt')
  const tree = (await git(['-C', work.folder, 'mktree'], { input: `100644 blob ${blob}\t.git\n` })).trim()
  const commit = await work.git('commit-tree', '-m', 'Evil', tree)
  const { status, stderr } = await work.attempt('push', 'origin', `${commit}:refs/heads/evil`)
  assert.notEqual(status, 0)
  assert.match(stderr, /hasDotgit/)
  assert.equal(await openPushes(forge), 0)
}))

test('hooks that an operator installs run, and the client shows their output', inject(async ({ forge, id, work }) => {
  await installHook(forge.belfry.storage.pathOf(id), 'update', 'echo "not $1"; [ "$1" != refs/heads/closed ]')
  await work.commit('Begin')
  const { status, stderr } = await work.attempt('push', 'origin', 'HEAD:main', 'HEAD:closed')
  assert.notEqual(status, 0)
  assert.match(stderr, /remote: not refs\/heads\/closed/)
  assert.deepEqual([...(await forge.belfry.storage.refsOf(id)).keys()], ['refs/heads/main'])
  assert.equal(await openPushes(forge), 0)
}))

test('refs that Belfry reserves cannot be pushed to', inject(async ({ work }) => {
  await work.commit('Begin')
  const { status, stderr } = await work.attempt('push', 'origin', 'HEAD:refs/pull/1/head')
  assert.notEqual(status, 0)
  assert.match(stderr, /deny updating a hidden ref/)
}))

test('git finds a renamed repository under its former name, also with a credential helper', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { auto_init: true })
  await ada.owns('secret', { auto_init: true, private: true })
  await using desk = await Desk.open(forge)
  const work = await desk.clone(ada, 'ada/engine')
  await ada.patch('/repos/ada/engine', { name: 'machine' })
  await ada.patch('/repos/ada/secret', { name: 'hidden' })
  const head = await work.commit('Go on')
  await work.push()
  assert.equal(await (await desk.clone(null, 'ada/engine')).head(), head)
  assert.equal(await (await desk.clone(null, 'ada/machine')).head(), head)
  await assert.rejects(desk.clone(ben, 'ada/secret'), /not found/)
  const helper = `credential.helper=!f() { echo username=ada; echo password=${ada.token}; }; f`
  const kept = await desk.begin(null, 'ada/secret')
  await kept.git('-c', helper, 'pull', '--quiet', 'origin', 'main')
  const own = await kept.commit('Keep it')
  await kept.git('-c', helper, 'push', '--quiet', 'origin', 'HEAD:main')
  assert.equal(await (await desk.clone(ada, 'ada/hidden')).head(), own)
})

test('a fork whose contents are still being copied is 503', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { auto_init: true })
  await ben.post('/repos/ada/engine/forks')
  const answer = await fetch(`${forge.web}/ben/engine.git/info/refs?service=git-upload-pack`)
  assert.equal(answer.status, 503)
  assert.ok(answer.headers.get('retry-after'))
  await using desk = await Desk.open(forge)
  await assert.rejects(desk.clone(null, 'ben/engine'), /remote: The contents of this repository are still being copied/)
})
