import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expect, type Forge, openForge, type Person } from './forge.ts'
import { pkt, zeros } from './git.ts'
import { type Guest, signedIn } from './guest.ts'
import { operationsOf } from './openapi.ts'

/**
 * Inputs as large as each interface takes, in shapes that once cost more than their size: each took seconds to hours, in which no other
 * request was served. A test that fails here does not end.
 */
let forge: Forge
let ada: Person
let guest: Guest

before(async () => {
  forge = await openForge()
  ada = await forge.person('ada')
  guest = await signedIn(forge, 'ada')
  await ada.owns('engine', { auto_init: true })
})
after(() => forge[Symbol.asyncDispose]())

const engine = '/repos/ada/engine'

test('an Accept header of dashes or spaces is parsed in linear time', async () => {
  const accept = (type: string) => forge.nobody.with({ accept: type }).get('/meta')
  await expect(200, await accept(`application/vnd.github${'-'.repeat(10_000)}!`))
  await expect(200, await accept(`text/html${' '.repeat(10_000)}x`))
  await expect(200, await accept(`application/vnd.github${'-a'.repeat(5000)}+json`))
  await expect(200, await accept('application/vnd.github-a.b-c.v3+json'))
})

test('a file with a line of a megabyte is searched', async () => {
  const put = async (path: string, text: string) =>
    expect(201, await ada.put(`${engine}/contents/${path}`, { message: path, content: btoa(text) }))
  await put('long.txt', `needle ${'a'.repeat(1_300_000)}\n`)
  await put('a.txt', 'One\nThe needle\n')
  const matching = forge.nobody.with({ accept: 'application/vnd.github.text-match+json' })
  const { items } = await matching.read('/search/code?q=needle+repo:ada/engine')
  assert.deepEqual(
    items.map(({ path, text_matches }: { path: string; text_matches: { fragment: string }[] }) => [
      path,
      text_matches.map(({ fragment }) => fragment),
    ]),
    [
      ['a.txt', ['The needle']],
      ['long.txt', []],
    ],
  )
})

test('at most twenty faults of a body are described, and one of a large body', async () => {
  const issues = `${engine}/issues`
  const faultsOf = async (answer: Response) => (await expect(422, answer)).message.split('\n').slice(2)
  const labels = (count: number) => ({ title: 'x', labels: Array(count).fill(0) })
  assert.equal((await faultsOf(await ada.post(issues, labels(3)))).length, 3)
  assert.equal((await faultsOf(await ada.post(issues, labels(90)))).length, 20)
  const [fault, ...more] = await faultsOf(await ada.post(issues, labels(500_000)))
  assert.match(fault, /^For 'properties\/labels', \[0,0,.* must NOT have more than 100 items\.$/)
  assert.deepEqual(more, [])
  const long = await faultsOf(await ada.post(issues, { title: ['long'.repeat(200_000)], body: Array(1000).fill('x') }))
  assert.ok(long.every((line: string) => line.length < 300))
})

test('every array of a request body has a limit', async () => {
  const unlimited: string[] = []
  const walk = (where: string, schema: unknown) => {
    if (typeof schema !== 'object' || schema === null) return
    const { type, maxItems } = schema as { type?: string | string[]; maxItems?: number }
    if ([type].flat().includes('array') && maxItems === undefined) unlimited.push(where)
    for (const [key, inner] of Object.entries(schema)) walk(`${where} ${key}`, inner)
  }
  const operations = operationsOf(await ada.read('/openapi.json')).filter(({ requestBody }) => requestBody)
  assert.ok(operations.length > 100)
  for (const { method, path, requestBody } of operations) walk(`${method} ${path}`, requestBody)
  assert.deepEqual(unlimited, [])
})

test('a large body is not read for a repository that the caller does not see', async () => {
  const tree = JSON.stringify({ tree: Array(6_000_000).fill(0) })
  await expect(404, await ada.post('/repos/ada/missing/git/trees', tree))
  assert.match((await expect(422, await ada.post(`${engine}/git/trees`, tree))).message, /'properties\/tree\/?0?'/)
  const ben = await forge.person('ben')
  await expect(403, await ben.post(`${engine}/git/trees`, tree))
})

test('a path of dots is refused', async () => {
  const path = `${'.'.repeat(900_000)}x`
  const tree = [{ path, mode: '100644', type: 'blob', content: 'x' }]
  await expect(422, await ada.post(`${engine}/git/trees`, { tree }))
  assert.equal((await guest.fill('/ada/engine/new/main', { path, content: 'x', message: 'x' })).status, 422)
})

test('names that a file system reads as .git are refused, and no others', async () => {
  const statusOf = async (path: string) =>
    (await ada.post(`${engine}/git/trees`, { tree: [{ path, mode: '100644', type: 'blob', content: 'x' }] })).status
  for (const path of ['.git', '.GIT ./x', 'a/git~1', '.git::$INDEX', '.g\u200cit', '.git. . .', '.git\\x'])
    assert.equal(await statusOf(path), 422, path)
  for (const path of ['.gitx', '.git-a', 'x.git', '..git', '. git']) assert.equal(await statusOf(path), 201, path)
})

test('a push whose capabilities are null characters is answered', async () => {
  const push = (capabilities: string) => {
    const line = pkt(`${zeros} ${'1'.repeat(40)} refs/heads/x\0${capabilities}`)
    return fetch(`${forge.web}/ada/engine.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`ada:${ada.token}`)}`, 'content-type': 'application/x-git-receive-pack-request' },
      body: `${line.repeat(200)}0000`,
    })
  }
  const answer = await push('\0'.repeat(65_300))
  await answer.text()
  assert.ok(answer.status < 500)
})

test('a pull request with thousands of opened suggestions is shown', async () => {
  const branch = { message: 'Add', content: btoa('one\ntwo\n'), branch: 'topic' }
  const { object } = await ada.read(`${engine}/git/ref/heads/main`)
  await expect(201, await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/topic', sha: object.sha }))
  await expect(201, await ada.put(`${engine}/contents/two.txt`, branch))
  const { number, head } = await expect(201, await ada.post(`${engine}/pulls`, { title: 'Two', head: 'topic', base: 'main' }))
  const comment = async (body: string) =>
    expect(
      201,
      await ada.post(`${engine}/pulls/${number}/comments`, {
        body,
        commit_id: head.sha,
        path: 'two.txt',
        line: 2,
        side: 'RIGHT',
      }),
    )
  for (let count = 0; count < 6; count++) await comment('```suggestion\n'.repeat(4680))
  await comment('```suggestion\n```\n'.repeat(3600))
  const { status, text } = await guest.get(`/ada/engine/pull/${number}`)
  assert.equal(status, 200)
  assert.equal(text.match(/>Suggested change</g)?.length, 20)
})

test('addresses of slashes and keys of spaces are answered', async () => {
  for (const view of ['blame', 'raw', 'blob', 'commits', 'tree']) {
    const { status } = await guest.get(`/ada/engine/${view}/main/${'/'.repeat(15_000)}x`)
    assert.ok(status < 500, `${view}: ${status}`)
  }
  assert.equal((await guest.get(`/ada/engine/tree/main${'/'.repeat(15_000)}`)).status, 200)
  const key = `ssh-ed25519 AAAA${' '.repeat(900_000)}\rx`
  assert.equal((await guest.fill('/settings/keys', { title: 'x', key })).status, 422)
  await expect(422, await ada.post('/user/keys', { title: 'x', key }))
})

test('a body that is nested too deeply is refused', async () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const issue = (depth: number) => ada.post(`${engine}/issues`, `{"title":"x","z":"\\u0000","labels":${nested(depth)}}`)
  assert.match((await expect(400, await issue(5000))).message, /nested too deeply/)
  await expect(422, await issue(50))
  // Brackets in a text do not count.
  await expect(201, await ada.post(`${engine}/issues`, { title: 'x', body: `"\\${'['.repeat(5000)}` }))
  const batch = await fetch(`${forge.web}/ada/engine.git/info/lfs/objects/batch`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`ada:${ada.token}`)}` },
    body: `{"operation":"upload","objects":${nested(50_000)}}`,
  })
  assert.equal(batch.status, 400)
})
