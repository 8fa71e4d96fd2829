import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { ImportFailure } from '#importer/source.ts'
import { listen } from '#test/imports/http-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { openScript } from '#test/tfvc/script.ts'
import { complain, startTfvcServer } from '#test/tfvc/server.ts'
import { tfvc } from './tfvc.ts'

const two = () => openScript().checkIn('projects', (desk) => desk.folder('$/Alpha').folder('$/Beta Two').put('$/Alpha/a', 'a'))
const one = () => openScript().checkIn('project', (desk) => desk.put('$/Alpha/a', 'a'))

test('several projects are choices, and a named project is chosen', async () => {
  await using workspace = await openWorkspace()
  for (const form of ['server', 'services'] as const) {
    await using server = await startTfvcServer(two(), { form })
    const { url } = server
    const probe = (address: string, tfvc_project: string | null = null) =>
      tfvc.probe({ ...originOf(address), tfvc_project }, workspace)

    const choices = [
      { vcs: 'tfvc', tfvc_project: 'Alpha', human_name: 'Alpha (tfs)' },
      { vcs: 'tfvc', tfvc_project: 'Beta Two', human_name: 'Beta Two (tfs)' },
    ]
    assert.deepEqual(await probe(url), { found_multiple: choices })
    assert.deepEqual(await probe(`${url}/`, 'Gamma'), { found_multiple: choices })
    assert.deepEqual(await probe(url, 'Beta Two'), { found: { url, tfvc_project: 'Beta Two' } })
    for (const address of [`${url}/Beta%20Two`, `${url}/beta%20two/`, `${url}/Beta Two/_versionControl?path=$/Alpha`]) {
      assert.deepEqual(await probe(address), { found: { url, tfvc_project: 'Beta Two' } }, address)
    }
    // The chosen project goes before the one in the address.
    assert.deepEqual(await probe(`${url}/Alpha`, 'Beta Two'), { found: { url, tfvc_project: 'Beta Two' } })
  }
})

test('a single project is found, and without projects nothing is', async () => {
  await using workspace = await openWorkspace()
  await using server = await startTfvcServer(one())
  assert.deepEqual(await tfvc.probe(originOf(server.url), workspace), { found: { url: server.url, tfvc_project: 'Alpha' } })
  await using empty = await startTfvcServer(openScript().checkIn('nothing yet', () => {}))
  assert.equal(await tfvc.probe(originOf(empty.url), workspace), 'nothing')
  for (const address of [new URL('/', server.url).href, `${server.url}x`, 'svn://127.0.0.1/x', 'nonsense']) {
    assert.equal(await tfvc.probe(originOf(address), workspace), 'nothing', address)
  }
})

test('an address that the policy forbids is reported', async () => {
  await using workspace = await openWorkspace('external')
  const refused = (error: unknown) => error instanceof ImportFailure && /may not connect/.test(error.message)
  await assert.rejects(tfvc.probe(originOf('http://127.0.0.1:8080/tfs/DefaultCollection'), workspace), refused)
})

test('a page that answers 200 to everything is not detected', async () => {
  await using workspace = await openWorkspace()
  const answers: [status: number, type: string, text: string][] = [
    [200, 'text/html', '<html></html>'],
    [200, 'application/json', '{"value":[{"path":"/etc"}]}'],
    [200, 'application/json', '{"value":7}'],
    [200, 'application/json', '[]'],
    [200, 'application/json', '{"value":[null]}'],
    [200, 'application/json', '{"value":[{"path":"$/Al'],
    [200, 'application/json', `{"value":["${'x'.repeat(33 << 20)}"]}`],
    [403, 'text/html', 'no'],
    [500, 'text/html', 'no'],
  ]
  let [status, type, text] = answers[0] ?? [200, '', '']
  const server = createServer((_, response) => response.writeHead(status, { 'content-type': type }).end(text))
  await using page = await listen(server)
  for ([status, type, text] of answers) {
    assert.equal(await tfvc.probe(originOf(`${page.url}/a/b`), workspace), 'nothing', text.slice(0, 40))
  }
})

test('each way of refusing access asks for credentials', async () => {
  await using workspace = await openWorkspace()
  for (const refusal of ['401', '203', '302', 'ntlm'] as const) {
    await using server = await startTfvcServer(one(), { refusal, credentials: { password: 'token' } })
    const { url } = server
    assert.equal(await tfvc.probe(originOf(url), workspace), 'needs_auth', refusal)
    assert.equal(await tfvc.probe(originOf(url, 'somebody', 'token'), workspace), 'needs_auth', refusal)
    assert.equal(await tfvc.probe(originOf(`${url}/Alpha`, null, 'wrong'), workspace), 'needs_auth', refusal)
    assert.deepEqual(await tfvc.probe(originOf(url, null, 'token'), workspace), { found: { url, tfvc_project: 'Alpha' } })
    await assert.rejects(
      tfvc.convert({ ...originOf(url, null, 'wrong'), tfvc_project: 'Alpha' }, workspace),
      (error) =>
        error instanceof ImportFailure &&
        error.kind === 'auth' &&
        !/wrong/.test(error.message) &&
        /only Windows/.test(error.message) === (refusal === 'ntlm'),
    )
  }
  await using server = await startTfvcServer(one(), { credentials: { username: 'FABRIKAM\\normal', password: 'secret' } })
  const known = originOf(server.url, 'FABRIKAM\\normal', 'secret')
  assert.deepEqual(await tfvc.probe(known, workspace), { found: { url: server.url, tfvc_project: 'Alpha' } })
})

test('access that is revoked during an import is reported', async () => {
  await using workspace = await openWorkspace()
  let refused = false
  const words = 'TF400813: The user is not authorized to access this resource.'
  await using server = await startTfvcServer(one(), {
    meddle: ({ path }, response) => {
      if (!/changes$/.test(path)) return
      complain(response, refused ? 403 : 401, 'UnauthorizedRequestException', words)
      refused = true
      return true
    },
  })
  for (const _ of [1, 2]) {
    const rejected = (error: unknown) => error instanceof ImportFailure && error.kind === 'auth'
    await assert.rejects(tfvc.convert(originOf(server.url), workspace), rejected)
  }
})

test('the API version that the server supports is used', async () => {
  await using workspace = await openWorkspace()
  await using server = await startTfvcServer(one(), { versions: ['7.1'] })
  assert.deepEqual(await tfvc.probe(originOf(server.url), workspace), { found: { url: server.url, tfvc_project: 'Alpha' } })
  assert.equal((await tfvc.convert(originOf(server.url), workspace)).commit_count, 1)
  await using future = await startTfvcServer(one(), { versions: ['99.0'] })
  assert.equal(await tfvc.probe(originOf(future.url), workspace), 'nothing')
})
