import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { engine, openInitialized } from '#test/conversations.ts'
import { expect, type Forge, injecting, linesOf, Person } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

const inject = injecting(openInitialized)
const packed = (text: string) => Buffer.from(text).toString('base64')
const unpacked = (content: string) => Buffer.from(content, 'base64').toString()
const inside = (forge: Forge, id: number, ...args: string[]) => git(['-C', forge.belfry.storage.pathOf(id), ...args])

test('a file has the documented fields, a folder is a list of them', inject(async (forge) => {
  const { content } = await expect(
    201,
    await forge.ada.put(`${engine}/contents/src/a b.txt`, { message: 'm', content: packed('x'.repeat(100)) }),
  )
  const web = `${forge.web}/ada/engine`
  const api = `${forge.web}/api/v3${engine}`
  const url = `${api}/contents/src/a%20b.txt?ref=main`
  const links = {
    url,
    git_url: `${api}/git/blobs/${content.sha}`,
    html_url: `${web}/blob/main/src/a%20b.txt`,
    download_url: `${web}/raw/main/src/a%20b.txt`,
  }
  const entry = { type: 'file', size: 100, name: 'a b.txt', path: 'src/a b.txt', sha: content.sha, ...links }
  const _links = { self: url, git: links.git_url, html: links.html_url }
  assert.deepEqual(content, { ...entry, _links })
  const read = await forge.nobody.read(`${engine}/contents/src/a%20b.txt`)
  const lines = packed('x'.repeat(100)).match(/.{1,60}/g) ?? []
  assert.deepEqual(read, { ...entry, _links, encoding: 'base64', content: lines.map((line) => `${line}\n`).join('') })
  for (const path of ['src', 'src/'])
    assert.deepEqual(await forge.nobody.read(`${engine}/contents/${path}`), [{ ...entry, _links }])
  const root = await forge.nobody.read(`${engine}/contents`)
  assert.deepEqual(await forge.nobody.read(`${engine}/contents/`), root)
  assert.deepEqual(linesOf(root, 'name', 'type'), ['README.md file', 'src dir'])
  assert.equal(root[1].download_url, null)
  assert.match(root[1].html_url, /\/tree\/main\/src$/)
}))

test('binary contents are returned unchanged, and large files without contents', inject(async (forge) => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
  await expect(201, await forge.ada.put(`${engine}/contents/bytes`, { message: 'm', content: bytes.toString('base64') }))
  assert.deepEqual(Buffer.from((await forge.ada.read(`${engine}/contents/bytes`)).content, 'base64'), bytes)
  const big = await git(['-C', forge.belfry.storage.pathOf(forge.id), 'hash-object', '-w', '--stdin'], {
    input: 'y'.repeat(1024 * 1024 + 1),
  })
  await commitTree(forge, `100644 blob ${big.trim()}\tbig`)
  const told = await forge.ada.read(`${engine}/contents/big?ref=odd`)
  assert.partialDeepStrictEqual(told, { size: 1024 * 1024 + 1, content: '', encoding: 'none', sha: big.trim() })
}))

/** Puts entries that only git can make on the branch `odd`. */
async function commitTree(forge: { id: number } & Forge, ...entries: string[]) {
  const path = forge.belfry.storage.pathOf(forge.id)
  const tree = await git(['-C', path, 'mktree', '--missing'], { input: entries.map((entry) => `${entry}\n`).join('') })
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.com']
  const commit = await git(['-C', path, ...who, 'commit-tree', '-m', 'odd', tree.trim()])
  await git(['-C', path, 'update-ref', 'refs/heads/odd', commit.trim()])
}

test('links and submodules have the documented fields', inject(async (forge) => {
  const path = forge.belfry.storage.pathOf(forge.id)
  const blob = async (input: string) => (await git(['-C', path, 'hash-object', '-w', '--stdin'], { input })).trim()
  const modules = '[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/lib.git\n'
  const elsewhere = '1'.repeat(40)
  await commitTree(
    forge,
    `100644 blob ${await blob(modules)}\t.gitmodules`,
    `100644 blob ${await blob('here')}\tfile`,
    `160000 commit ${elsewhere}\tlib`,
    `160000 commit ${elsewhere}\tunnamed`,
    `120000 blob ${await blob('file')}\tlink`,
    `120000 blob ${await blob('../../etc/passwd')}\tout`,
    `120000 blob ${await blob('/etc/passwd')}\troot`,
    `120000 blob ${await blob('loop')}\tloop`,
  )
  const read = (name: string) => forge.nobody.read(`${engine}/contents/${name}?ref=odd`)
  const link = await read('link')
  assert.partialDeepStrictEqual(link, { type: 'file', path: 'link' })
  assert.equal(unpacked(link.content), 'here')
  assert.partialDeepStrictEqual(await read('out'), { type: 'symlink', target: '../../etc/passwd' })
  assert.partialDeepStrictEqual(await read('root'), { type: 'symlink', target: '/etc/passwd' })
  assert.partialDeepStrictEqual(await read('loop'), { type: 'symlink', target: 'loop' })
  const lib = { type: 'submodule', sha: elsewhere, size: 0, submodule_git_url: 'https://example.com/lib.git', download_url: null }
  assert.partialDeepStrictEqual(await read('lib'), lib)
  assert.equal((await read('unnamed')).submodule_git_url, null)
  const listed = await forge.nobody.read(`${engine}/contents/?ref=odd`)
  const types = Object.fromEntries(listed.map((each: { name: string; type: string }) => [each.name, each.type]))
  assert.partialDeepStrictEqual(types, { lib: 'file', link: 'symlink', file: 'file' })
  for (const name of ['lib', 'lib/x', 'file/x']) {
    const body = { message: 'm', content: '', branch: 'odd', sha: elsewhere }
    assert.equal((await forge.ada.put(`${engine}/contents/${name}`, body)).status, 422, name)
  }
  assert.equal((await forge.ada.delete(`${engine}/contents/lib`, { message: 'm', sha: elsewhere, branch: 'odd' })).status, 404)
}))

test('a changed file stays executable, and a link becomes a file', inject(async (forge) => {
  const blob = (await inside(forge, forge.id, 'rev-parse', 'main:README.md')).trim()
  await commitTree(forge, `120000 blob ${blob}\tlink`, `100755 blob ${blob}\trun`)
  for (const name of ['link', 'run']) {
    const body = { message: 'm', content: '', sha: blob, branch: 'odd' }
    await expect(200, await forge.ada.put(`${engine}/contents/${name}`, body))
  }
  assert.match(await inside(forge, forge.id, 'ls-tree', 'odd'), /^100644 .*\tlink\n100755 .*\trun\n$/)
}))

test('a file is read at a branch, a tag or a commit', inject(async (forge) => {
  const first = await expect(201, await forge.ada.put(`${engine}/contents/a`, { message: 'm', content: packed('1') }))
  await inside(forge, forge.id, '-c', 'user.name=x', '-c', 'user.email=x@y', 'tag', '-a', '-m', 'note', 'v1/rc', 'main')
  await inside(forge, forge.id, 'branch', 'feature/one', 'main')
  const changed = { message: 'm', content: packed('2'), sha: first.content.sha }
  await expect(200, await forge.ada.put(`${engine}/contents/a`, changed))
  const at = async (ref: string) => unpacked((await forge.ada.read(`${engine}/contents/a?ref=${ref}`)).content)
  for (const ref of [
    'v1/rc',
    'feature/one',
    first.commit.sha,
    first.commit.sha.slice(0, 10),
    'refs/tags/v1/rc',
    'heads/feature/one',
  ]) {
    assert.equal(await at(ref), '1', ref)
  }
  for (const ref of ['main', 'HEAD']) assert.equal(await at(ref), '2', ref)
  for (const ref of [
    'nope',
    'main~1',
    'main@{0}',
    ':/m',
    '--all',
    'main:a',
    '..',
    `${'0'.repeat(40)}`,
    '%0Amain',
    'HEAD^{tree}',
  ]) {
    assert.equal((await forge.ada.get(`${engine}/contents/a?ref=${ref}`)).status, 404, ref)
  }
}))

test('only callers with access read files of a private repository', inject(async ({ person, ada, nobody, tokenFor, id }) => {
  const ben = await person('ben')
  await expect(200, await ada.patch(engine, { private: true }))
  const file = `${engine}/contents/README.md`
  for (const other of [nobody, ben, await tokenFor('ada', ['public_repo'])]) {
    assert.equal((await other.get(file)).status, 404)
    assert.ok([401, 404].includes((await other.put(file, { message: 'm', content: '' })).status))
  }
  await ada.read(file)
  await ada.read(`/repositories/${id}/contents/README.md`)
}))

test('a fine-grained token needs permission to read a private repository', inject(async (forge) => {
  await expect(200, await forge.ada.patch(engine, { private: true }))
  const { id } = await expect(201, await forge.ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  const visitor = await signedIn(forge, 'ada')
  const holder = async (permissions: Record<string, string>) => {
    const { text } = await visitor.fillAndFollow('/settings/tokens/fine-grained', {
      note: 'x',
      days: '',
      reach: 'all',
      ...permissions,
    })
    return new Person('ada', /class="secret">(bff_\w{36})</.exec(text)?.[1] ?? '', forge)
  }
  const [bare, reader] = [await holder({}), await holder({ 'permission:contents': 'read' })]
  const places = [
    'contents',
    'contents/README.md',
    'git/ref/heads/main',
    'git/refs/heads/main',
    'git/matching-refs/heads',
    'git/refs',
  ]
  for (const place of [
    ...places,
    'branches',
    'branches/main',
    'commits/main',
    'releases',
    `releases/${id}`,
    'releases/latest',
    'releases/tags/v1',
  ]) {
    const refused = await expect(403, await bare.get(`${engine}/${place}`))
    assert.equal(refused.message, 'Resource not accessible by personal access token')
    await reader.read(`${engine}/${place}`)
  }
  assert.equal((await reader.put(`${engine}/contents/x`, { message: 'm', content: '' })).status, 403)
  const writer = await holder({ 'permission:contents': 'write' })
  await expect(201, await writer.put(`${engine}/contents/x`, { message: 'm', content: '' }))
}))

test('a file is found by the old name of its repository', inject(async ({ ada }) => {
  await expect(201, await ada.put(`${engine}/contents/a b/c`, { message: 'm', content: '' }))
  await expect(200, await ada.patch(engine, { name: 'motor' }))
  const moved = await ada.get(`${engine}/contents/a b/c?ref=main`)
  assert.equal(moved.status, 301)
  assert.equal((await ada.read(moved.headers.get('location') ?? '')).path, 'a b/c')
}))
