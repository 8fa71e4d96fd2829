import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { Guest, signedIn } from '#test/guest.ts'

const rawOf = async (guest: Guest, path: string) => (await guest.get(`/ada/engine/raw/${path}`)).text

test('a file is created, changed and deleted on its pages, each by a commit to the branch', async () => {
  await using engine = await openEngine()
  const { forge, ada } = engine
  const own = await signedIn(forge, 'ada')
  assert.match((await own.get('/ada/engine')).text, /href="\/ada\/engine\/new\/main\?filename=README\.md"/)
  assert.match((await own.get('/ada/engine/new/main?filename=README.md')).text, /name="path"[^>]*value="README\.md"/)
  const made = await own.fillAndFollow('/ada/engine/new/main', {
    path: 'README.md',
    text: '# Engine\r\n</textarea><script>',
    message: 'Begin',
  })
  assert.match(made.text, /The change is committed\./)
  assert.equal(await rawOf(own, 'main/README.md'), '# Engine\n</textarea><script>')
  await own.fill('/ada/engine/new/main', { path: '/docs/a b.txt', text: 'one\r\n', message: 'Add a text' })
  const again = await own.fill('/ada/engine/new/main', { path: 'README.md', text: '<mine>', message: 'x' })
  assert.match(again.text, /role="alert">README\.md exists already[\s\S]*&lt;mine&gt;<\/textarea>/)
  for (const path of ['../x', '.git/config', 'README.md/x', '', 'a//b'])
    assert.equal((await own.fill('/ada/engine/new/main', { path, text: '', message: 'x' })).status, 422, path)

  const edit = '/ada/engine/edit/main/docs/a%20b.txt'
  const { text } = await own.get(edit)
  const sha = /name="sha" value="(\w{40})"/.exec(text)?.[1] ?? ''
  assert.match(text, /<textarea[^>]*>\none\n<\/textarea>/)
  assert.equal((await own.post(edit, { sha, text: 'two\r\n', message: '' })).status, 422)
  assert.equal(
    (await own.post(edit, { sha, text: 'two\r\n', message: 'Change it' })).location?.split('?')[0],
    '/ada/engine/blob/main/docs/a%20b.txt',
  )
  assert.equal(await rawOf(own, 'main/docs/a%20b.txt'), 'two\n')
  assert.match(
    (await own.post(edit, { sha, text: 'three', message: 'Too late' })).text,
    /has changed since you opened this page[\s\S]*three<\/textarea>/,
  )

  assert.match(
    (await own.get('/ada/engine/blob/main/docs/a%20b.txt')).text,
    /href="\/ada\/engine\/edit\/main\/docs\/a%20b\.txt"[\s\S]*\/delete\/main\//,
  )
  const remove = '/ada/engine/delete/main/docs/a%20b.txt'
  const now = /name="sha" value="(\w{40})"/.exec((await own.get(remove)).text)?.[1] ?? ''
  const gone = await own.postAndFollow(remove, { sha: now, message: 'Delete it' })
  assert.match(gone.text, /docs\/a b\.txt is deleted/)
  assert.equal((await own.get('/ada/engine/blob/main/docs/a%20b.txt')).status, 404)
  const commits = await ada.read('/repos/ada/engine/commits')
  assert.deepEqual(
    commits.map(({ commit }: { commit: { message: string } }) => commit.message),
    ['Delete it', 'Change it', 'Add a text', 'Begin'],
  )
})

test('files keep their line ends, and only those who may push change those of branches', async () => {
  await using engine = await openEngine()
  const { forge, work, ada } = engine
  await work.commit('Begin', { 'dos.txt': 'a\r\nb\r\n', 'blob.bin': Buffer.from([0]) })
  await work.git('tag', 'v1')
  await work.push('HEAD', '--tags')
  await forge.person('ben')
  const [own, other, guest] = [await signedIn(forge, 'ada'), await signedIn(forge, 'ben'), new Guest(forge)]
  const edit = '/ada/engine/edit/main/dos.txt'
  const sha = /name="sha" value="(\w{40})"/.exec((await own.get(edit)).text)?.[1] ?? ''
  await own.post(edit, { sha, text: 'a\r\nc\r\n', message: 'x' })
  assert.equal(await rawOf(own, 'main/dos.txt'), 'a\r\nc\r\n')
  for (const verb of ['edit', 'delete', 'new']) {
    assert.equal((await other.get(`/ada/engine/${verb}/main/dos.txt`)).status, 403, verb)
    assert.match((await guest.get(`/ada/engine/${verb}/main/dos.txt`)).location ?? '', /^\/login/)
    assert.equal((await own.get(`/ada/engine/${verb}/v1/dos.txt`)).status, 422, verb)
  }
  assert.equal((await own.get('/ada/engine/edit/main/blob.bin')).status, 422)
  assert.equal((await own.get('/ada/engine/edit/main/gone')).status, 404)
  assert.doesNotMatch((await guest.get('/ada/engine/blob/main/dos.txt')).text, /\/edit\/main/)
  assert.doesNotMatch((await own.get('/ada/engine/blob/v1/dos.txt')).text, /\/edit\//)
  await expect(200, await ada.patch('/repos/ada/engine', { archived: true }))
  assert.equal((await own.get(edit)).status, 403)
})
