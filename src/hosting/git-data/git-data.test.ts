import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, repo } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting, linesOf } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const git = `${engine}/git`

test('octokit commits several files at once, and the push is in the timeline', inject(async ({ ada, web, main, work }) => {
  const { rest } = new Octokit({ auth: ada.token, baseUrl: `${web}/api/v3` })
  const { data: blob } = await rest.git.createBlob({
    ...repo,
    content: Buffer.from([0, 255]).toString('base64'),
    encoding: 'base64',
  })
  const { data: tree } = await rest.git.createTree({
    ...repo,
    base_tree: main,
    tree: [
      { path: 'bin/tool', mode: '100755', type: 'blob', sha: blob.sha },
      { path: 'docs/a "b".md', mode: '100644', type: 'blob', content: 'Words\n' },
      { path: 'readme.txt', mode: '100644', type: 'blob', sha: null },
    ],
  })
  assert.deepEqual(linesOf(tree.tree, 'mode', 'path'), ['040000 bin', '040000 docs'])
  const author = { name: 'Zoë', email: 'zoe@example.com', date: '2020-01-02T03:04:05Z' }
  const { data: commit } = await rest.git.createCommit({ ...repo, message: 'Tools\n', tree: tree.sha, parents: [main], author })
  assert.partialDeepStrictEqual(commit, { author, committer: author, message: 'Tools\n', parents: [{ sha: main }] })
  await rest.git.updateRef({ ...repo, ref: 'heads/main', sha: commit.sha })
  await work.git('fetch', '--quiet')
  assert.equal(await work.git('ls-tree', '-r', '--name-only', '-z', 'origin/main'), 'bin/tool\0docs/a "b".md\0')
  assert.equal(
    await work.git('log', '-1', '--format=%an %ae %at', 'origin/main'),
    `Zoë zoe@example.com ${Date.parse(author.date) / 1000}`,
  )
  const [event] = await ada.read(`${engine}/events`)
  assert.partialDeepStrictEqual(event, { type: 'PushEvent', payload: { head: commit.sha, before: main } })
  const { data: tag } = await rest.git.createTag({ ...repo, tag: 'v1', message: 'One', object: commit.sha, type: 'commit' })
  await rest.git.createRef({ ...repo, ref: 'refs/tags/v1', sha: tag.sha })
  assert.equal((await rest.git.getTag({ ...repo, tag_sha: tag.sha })).data.tagger.name, 'ada')
  await work.git('fetch', '--quiet', '--tags')
  assert.match(
    await work.git('cat-file', 'tag', 'v1'),
    /^object .*\ntype commit\ntag v1\ntagger ada <\d+\+ada@users.noreply.localhost> \d+ \+0000\n\nOne$/,
  )
}))

test('trees replace, nest and remove entries, with or without a base', inject(async ({ ada, main }) => {
  const create = async (body: object) => expect(201, await ada.post(`${git}/trees`, body as Record<string, unknown>))
  const deep = async (sha: string) => linesOf((await ada.read(`${git}/trees/${sha}?recursive=1`)).tree, 'mode', 'path')
  const alone = await create({ tree: [{ path: 'x/y/z.txt', mode: '100644', type: 'blob', content: 'z' }] })
  assert.deepEqual(await deep(alone.sha), ['040000 x', '040000 x/y', '100644 x/y/z.txt'])
  assert.equal((await create({ tree: [{ path: 'x/y/z.txt', mode: '100644', type: 'blob', content: 'z' }] })).sha, alone.sha)
  const more = [
    { path: 'copy', mode: '040000', type: 'tree', sha: alone.sha },
    { path: 'sub', mode: '160000', type: 'commit', sha: 'a'.repeat(40) },
    { path: 'link', mode: '120000', content: 'readme.txt' },
    { path: 'x', mode: '100644', content: 'now a file' },
  ]
  const based = await create({ base_tree: alone.sha, tree: more })
  assert.deepEqual(await deep(based.sha), [
    ...['040000 copy', '040000 copy/x', '040000 copy/x/y', '100644 copy/x/y/z.txt'],
    ...['120000 link', '160000 sub', '100644 x'],
  ])
  const file = { path: 'a', mode: '100644', type: 'blob' }
  for (const [body, message] of [
    [{ base_tree: 'b'.repeat(40), tree: more }, /base_tree is not a valid tree/],
    [{ tree: [{ ...file, sha: 'b'.repeat(40) }] }, /is not a valid blob/],
    [{ tree: [{ ...file, sha: alone.sha }] }, /is not a valid blob/],
    [{ tree: [{ ...file, sha: '--all' }] }, /exactly 40 characters/],
    [{ tree: [{ ...file, sha: main, content: 'x' }] }, /not both/],
    [{ tree: [{ ...file, type: 'tree', content: 'x' }] }, /does not go with/],
    [{ tree: [{ ...file, path: 'a/../.git/config', content: 'x' }] }, /Validation Failed/],
    [{ tree: [file] }, /needs a tree.sha/],
    [{ tree: [] }, /fewer than 1/],
    [{ tree: [{ path: '.gitmodules', content: '[submodule "../x"]\n\tpath = x\n\turl = y\n' }] }, /Git refuses/],
  ] as const) {
    assert.match((await expect(422, await ada.post(`${git}/trees`, body))).message, message)
  }
}))

test('objects of the wrong kind, missing ones, and objects of an empty repository are refused', inject(async ({
  ada,
  cy,
  nobody,
  main,
}) => {
  const { tree } = await ada.read(`${git}/commits/${main}`)
  for (const path of [`blobs/${main}`, `commits/${tree.sha}`, `tags/${main}`, `commits/main`, `blobs/${'b'.repeat(40)}`]) {
    await expect(404, await ada.get(`${git}/${path}`))
  }
  const commit = { message: 'm', tree: tree.sha }
  await expect(422, await ada.post(`${git}/commits`, { ...commit, tree: main }))
  await expect(422, await ada.post(`${git}/commits`, { ...commit, parents: [tree.sha] }))
  await expect(422, await ada.post(`${git}/commits`, { ...commit, author: { name: 'x', email: 'x', date: 'now' } }))
  await expect(422, await ada.post(`${git}/tags`, { tag: 'a..b', message: 'm', object: main, type: 'commit' }))
  await expect(422, await ada.post(`${git}/tags`, { tag: 'v', message: 'm', object: main, type: 'tree' }))
  await expect(422, await ada.post(`${git}/blobs`, { content: '*', encoding: 'base64' }))
  await expect(403, await cy.post(`${git}/blobs`, { content: 'x' }))
  await expect(401, await nobody.post(`${git}/blobs`, { content: 'x' }))
  await ada.owns('empty')
  await expect(409, await ada.post('/repos/ada/empty/git/blobs', { content: 'x' }))
  await expect(409, await ada.get(`/repos/ada/empty/git/blobs/${main}`))
}))

test('a blob is sent as JSON and as bytes, and a signature is kept', inject(async ({ ada, work, main }) => {
  const content = Buffer.alloc(2 << 20, 'ü')
  const { sha } = await expect(201, await ada.post(`${git}/blobs`, { content: content.toString() }))
  const raw = ada.with({ accept: 'application/vnd.github.raw' })
  const bytes = await raw.get(`${git}/blobs/${sha}`)
  assert.equal(bytes.headers.get('content-type'), 'application/vnd.github.v3.raw; charset=utf-8')
  assert.ok(Buffer.from(await bytes.arrayBuffer()).equals(content))
  assert.equal((await raw.with({ 'if-none-match': bytes.headers.get('etag') ?? '' }).get(`${git}/blobs/${sha}`)).status, 304)
  const blob = await ada.read(`${git}/blobs/${sha}`)
  assert.ok(Buffer.from(blob.content, 'base64').equals(content))
  const { tree } = await ada.read(`${git}/commits/${main}`)
  const signature = '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n'
  const commit = await expect(201, await ada.post(`${git}/commits`, { message: 'Signed', tree: tree.sha, signature }))
  await expect(201, await ada.post(`${git}/refs`, { ref: 'refs/heads/signed', sha: commit.sha }))
  const { verification } = (await ada.read(`${engine}/commits?sha=signed`))[0].commit
  assert.deepEqual(
    [verification.verified, verification.reason, verification.signature],
    [false, 'gpgverify_unavailable', signature],
  )
  assert.match(verification.payload, new RegExp(`^tree ${tree.sha}\nauthor ada .*\ncommitter ada .*\n\nSigned$`))
  assert.deepEqual((await ada.read(`${engine}/commits/signed`)).commit.verification, verification)
  const message = `One\n${signature}`
  const tag = await expect(201, await ada.post(`${git}/tags`, { tag: 'v1', message, object: main, type: 'commit' }))
  assert.equal(tag.verification.signature, signature)
  assert.match(tag.verification.payload, /\n\nOne\n$/)
  await work.git('fetch', '--quiet')
  assert.match(await work.git('cat-file', 'commit', commit.sha), /\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END/)
}))

test('every response about git objects matches the public documentation, on both variants', inject(async ({ ada, main }) => {
  const { tree } = await ada.read(`${git}/commits/${main}`)
  const { sha } = (await ada.read(`${git}/trees/${main}`)).tree[0]
  const tag = await expect(201, await ada.post(`${git}/tags`, { tag: 'v1', message: 'm', object: main, type: 'commit' }))
  await checkContracts(ada, () => [
    ['git/create-blob', 'post', `${git}/blobs`, { content: 'x' }],
    ['git/get-blob', 'get', `${git}/blobs/${sha}`],
    ['git/create-tree', 'post', `${git}/trees`, { tree: [{ path: 'x', mode: '100644', type: 'blob', sha }] }],
    ['git/get-tree', 'get', `${git}/trees/${tree.sha}`],
    ['git/create-commit', 'post', `${git}/commits`, { message: 'm', tree: tree.sha, parents: [main] }],
    ['git/get-commit', 'get', `${git}/commits/${main}`],
    ['git/create-tag', 'post', `${git}/tags`, { tag: 'v2', message: 'm', object: tree.sha, type: 'tree' }],
    ['git/get-tag', 'get', `${git}/tags/${tag.sha}`],
  ])
}))
