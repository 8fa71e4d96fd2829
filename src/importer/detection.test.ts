import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { test } from 'node:test'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { listen } from '#test/imports/http-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { freePort, until } from '#test/machine.ts'
import { detect } from './detection.ts'
import { ImportFailure } from './source.ts'

const serve = (listener: RequestListener) => listen(createServer(listener))
const nothing = { nothing: true }
const failsWith = (message: string) => ({ constructor: ImportFailure, message })
const notOfKind = (kind: string) =>
  `There is no ${kind} repository at this address. Check vcs_url, or leave out vcs to have the kind detected.`

test('each kind of repository is detected, and lookalikes are not', async () => {
  await using server = await startGitServer()
  const { work, bare } = await server.make('engine')
  await work.commit('Begin')
  await work.push('main')
  await bare('update-server-info')
  await using network = await openWorkspace()
  const { url } = server
  const found = (url?: string) => ({ found: { vcs: 'git', ...(url && { url }) } })
  const cases: [address: string, password: string | null, expected: unknown][] = [
    [`${url}/open/engine.git`, null, found()],
    [`${url}/open/engine`, null, found(`${url}/open/engine.git`)],
    [`${url}/open/engine/?tab=readme#top`, null, found(`${url}/open/engine.git`)],
    [`${url}/open/engine.git`, password, found()],
    [`${url}/open/gone.git`, null, nothing],
    [`${url}/dumb/engine.git`, null, found()],
    [`${url}/moved/engine.git`, null, found(`${url}/open/engine.git`)],
    [`${url}/away/engine.git`, null, nothing],
    [`${url}/closed/engine.git`, null, 'needs_auth'],
    [`${url}/closed/engine.git`, 'wrong', 'needs_auth'],
    [`${url}/closed/engine`, password, found(`${url}/closed/engine.git`)],
    [`${url}/app/engine`, null, nothing],
    [`${url}/`, null, nothing],
  ]
  for (const [address, secret, expected] of cases)
    assert.deepEqual(await detect(originOf(address, secret && username, secret), null, network), expected, address)
  assert.deepEqual(await detect(originOf(`${url}/open/engine.git`), 'git', network), found())
  for (const kind of ['mercurial', 'subversion', 'tfvc'] as const)
    await assert.rejects(detect(originOf(`${url}/open/engine.git`), kind, network), failsWith(notOfKind(kind)))
  await assert.rejects(detect(originOf('svn://127.0.0.1/engine'), 'git', network), failsWith(notOfKind('git')))
  // The password was sent to its host and to no other.
  assert.deepEqual(
    server.asked.filter(({ host }) => host?.startsWith('localhost')),
    [],
  )
})

test('if an address serves several kinds, the first wins unless another is requested', async () => {
  await using both = await serve((request, response) => {
    if (request.url?.includes('/info/refs')) {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
      response.end('001e# service=git-upload-pack\n0000')
    } else if (request.url?.includes('cmd=')) {
      response.writeHead(200, { 'content-type': 'application/mercurial-0.1' }).end('lookup getbundle branchmap known unbundle')
    } else response.writeHead(404).end()
  })
  await using network = await openWorkspace()
  const kindOf = async (kind: 'mercurial' | null) => {
    const detected = await detect(originOf(`${both.url}/x.git`), kind, network)
    return typeof detected === 'object' && 'found' in detected && detected.found.vcs
  }
  assert.equal(await kindOf(null), 'git')
  assert.equal(await kindOf('mercurial'), 'mercurial')
})

test('a slow or endless server does not delay a probe', async () => {
  await using network = await openWorkspace()
  let [flowing, sent] = [0, 0]
  await using endless = await serve((request, response) => {
    if (request.url?.startsWith('/round')) return void response.writeHead(302, { location: request.url }).end()
    response.writeHead(200, { 'content-type': 'text/plain' })
    flowing++
    const flow = () => {
      do sent += 1000
      while (response.write('a'.repeat(1000)))
    }
    response.on('drain', flow).on('close', () => flowing--)
    flow()
  })
  assert.deepEqual(await detect(originOf(`${endless.url}/round/x`), null, network), nothing)
  assert.deepEqual(await detect(originOf(`${endless.url}/x.git`), null, network), nothing)
  await until('nobody reads any more', () => flowing === 0)
  // A few answers of 64 KB each, and the data in flight.
  assert.ok(sent < 128 << 20, `${sent} bytes were taken`)

  await using server = await startGitServer()
  const waiting = detect(originOf(`${server.url}/silent/x.git`), null, network)
  await until('it was asked', () => server.asked.length > 0)
  network.stop()
  await assert.rejects(waiting, /the import was stopped/)
})

test('an unreachable source fails with the reason', async () => {
  await using network = await openWorkspace()
  await using gruff = await serve((request) => request.socket.destroy())
  const closed = `127.0.0.1:${await freePort()}`
  const { host } = new URL(gruff.url)
  for (const [address, message] of [
    [`http://${closed}/engine.git`, `Nothing listens at ${closed}: the connection was refused.`],
    [`svn://${closed}/engine`, `Nothing listens at ${closed}: the connection was refused.`],
    [`${gruff.url}/engine.git`, `${host} closed the connection without an answer.`],
    [`https://${host}/engine.git`, `${host} does not speak https.`],
  ] as const)
    await assert.rejects(detect(originOf(address), null, network), failsWith(message), address)
  await using unknown = await openEgress(readPolicy(''), null, (_name, _options, answer) => answer(null, []))
  const lost = detect(originOf('https://source.example/engine.git'), null, { ...network, egress: unknown })
  await assert.rejects(lost, failsWith('There is no host named source.example.'))
})

test('a forbidden address and an unsupported protocol are refused with a message', async () => {
  await using network = await openWorkspace()
  for (const address of ['http://169.254.169.254/latest/meta-data', 'http://[fe80::1]/x.git', 'http://10.1.2.3/x.git'])
    await assert.rejects(detect(originOf(address), null, network), (error: unknown) => {
      assert.ok(error instanceof ImportFailure)
      assert.match(error.message, /^This server may not connect there: \S+ is /)
      return true
    })
  for (const address of [
    'file:///etc/passwd',
    'ext::sh -c id',
    '--upload-pack=id',
    'ssh://git@127.0.0.1/x',
    '/tmp/x',
    'C:\\x',
    '',
  ])
    await assert.rejects(detect(originOf(address), null, network), /^Error: The address must begin with http/)
})
