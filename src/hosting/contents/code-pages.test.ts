import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { addObjects } from '#hosting/lfs/objects.ts'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'
import { Guest, signedIn } from '#test/guest.ts'

/** Markup without tags and without more than one space. */
const textOf = (page: string) =>
  page
    .slice(page.indexOf('<main'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

test('a repository begins with its files, their last commits, its README and what is known about it', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  const readme = '# The engine\n\n[Guide](docs/guide.md) ![Plan](/plan.svg) [issues](../../issues)\n\n<script>alert(1)</script>'
  await work.commit('Begin <b>', {
    'README.md': readme,
    LICENSE: 'Boost Software License',
    'docs/guide.md': '# Guide\n',
    'a.ts': 'let a\n',
  })
  const first = await work.head()
  await work.commit('Change the guide', { 'docs/guide.md': '# Guide 2\n' })
  await work.git('tag', 'v1')
  await work.push('HEAD', 'HEAD:refs/heads/feature/x', '--tags')
  await expect(200, await ada.patch('/repos/ada/engine', { description: 'Turns <i>', homepage: 'https://engine.example' }))
  await expect(200, await ada.put('/repos/ada/engine/topics', { names: ['steam'] }))
  await expect(201, await ada.post('/repos/ada/engine/releases', { tag_name: 'v1', name: 'One & only' }))
  const guest = new Guest(forge)
  const { text: page } = await guest.get('/ada/engine')
  const text = textOf(page)
  assert.match(text, /2 branches .*1 tag .*Change the guide .*2 commits/)
  assert.match(
    text,
    /docs Change the guide .*LICENSE Begin &lt;b&gt; .*README\.md Begin &lt;b&gt; .*a\.ts Begin &lt;b&gt;/,
    'folders first',
  )
  assert.ok(page.includes(`href="/ada/engine/commit/${first}"`))
  assert.match(page, /<a href="\/ada\/engine\/blob\/main\/docs\/guide\.md" rel="nofollow noopener">Guide<\/a>/)
  assert.match(page, /<img src="\/ada\/engine\/raw\/main\/plan\.svg" alt="Plan" loading="lazy">/)
  assert.match(page, /href="\/ada\/engine\/issues" rel=/)
  assert.match(
    text,
    /About Turns &lt;i&gt; engine\.example steam README License Activity .*Releases 1 One &amp; only Latest .*Languages TypeScript 100\.0%/,
  )
  assert.match(text, /Contributors 1/)
  assert.ok(page.includes(`value="${forge.web}/ada/engine.git"`))
  for (const link of ['archive/main.zip', 'archive/main.tar.gz', 'find/main', 'tree/feature/x', 'tree/v1']) {
    assert.ok(page.includes(`href="/ada/engine/${link}"`), link)
    assert.equal((await guest.get(`/ada/engine/${link}`)).status, 200, link)
  }
  assert.doesNotMatch(page, /<script>|<i>/)
  assert.match(textOf((await guest.get('/ada/engine/tree/v1')).text), /Change the guide .*About/)
  assert.match(textOf((await guest.get('/ada/engine/tree/main/docs')).text), /Change the guide .*guide\.md/)
})

test('an empty repository shows how to push to it, to those who may', async () => {
  await using engine = await openEngine()
  const { forge } = engine
  const page = await (await signedIn(forge, 'ada')).get('/ada/engine')
  assert.match(
    page.text,
    new RegExp(`git remote add origin ${forge.web}/ada/engine\\.git\ngit branch -M main\ngit push -u origin main`),
  )
  const guest = new Guest(forge)
  assert.match(textOf((await guest.get('/ada/engine')).text), /This repository is empty/)
  assert.doesNotMatch((await guest.get('/ada/engine')).text, /git push/)
  for (const path of ['tree/main', 'blob/main/a', 'blame/main/a', 'find/main', 'raw/main/a'])
    assert.equal((await guest.get(`/ada/engine/${path}`)).status, 404, path)
})

test('each kind of file is shown as what it is', async () => {
  await using engine = await openEngine()
  const { work, forge } = engine
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 2048\n`
  const files = {
    'a.md': '# Title\n\n[b](b.ts#L1)\n\n```ts\nlet a\n```\n',
    'src/b.ts': '/* a\n b */\nlet c = "<d>"\n',
    'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>\n',
    'photo.png': Buffer.from([0x89, 0x50, 0, 1]),
    'large.bin': pointer,
    'huge.txt': 'x'.repeat(1_100_000),
    'lines.txt': '\n'.repeat(30_000),
    'latin.txt': Buffer.from([0xe4, 0x0a]),
    'trick.js': 'let a = "\u202e"\n',
    empty: '',
    'x/<img src=x onerror=alert(1)>/"quoted".txt': 'x\n',
  }
  await writeFile(join(work.folder, '.gitmodules'), '[submodule "m"]\n\tpath = m\n\turl = https://git.example/m.git\n')
  await mkdir(join(work.folder, 'links'))
  await symlink('../src/b.ts', join(work.folder, 'links/b.ts'))
  await symlink('/etc/passwd', join(work.folder, 'links/out'))
  await work.commit('Add files', files)
  await work.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},m`)
  await work.git('commit', '--quiet', '-m', 'Add a submodule')
  await work.push()
  const guest = new Guest(forge)
  const shown = async (path: string) => textOf((await guest.get(`/ada/engine/blob/main/${path}`)).text)
  const { text: code } = await guest.get('/ada/engine/blob/main/src/b.ts')
  assert.match(code, /id="L1"><a href="#L1" tabindex="-1">1<\/a><span class="hljs-comment">\/\* a<\/span>\n<\/span>/)
  assert.match(code, /id="L3">.*<span class="hljs-string">&quot;&lt;d&gt;&quot;<\/span>/)
  assert.match(textOf(code), /3 lines · 25 bytes/)
  const { text: rendered } = await guest.get('/ada/engine/blob/main/a.md')
  assert.match(rendered, /<h1 id="user-content-title">Title<\/h1>[\s\S]*href="\/ada\/engine\/blob\/main\/b\.ts#L1"/)
  assert.match(
    (await guest.get('/ada/engine/blob/main/a.md?plain=1')).text,
    /id="L1"><a [^>]*>1<\/a><span class="hljs-section"># Title/,
  )
  const { text: picture } = await guest.get('/ada/engine/blob/main/logo.svg')
  assert.match(picture, /<img src="\/ada\/engine\/raw\/main\/logo\.svg" alt="logo\.svg">/)
  const raw = await guest.get('/ada/engine/raw/main/logo.svg')
  assert.equal(raw.headers.get('content-type'), 'image/svg+xml')
  assert.match(raw.headers.get('content-security-policy') ?? '', /^default-src 'none';.* sandbox$/)
  assert.equal((await guest.get('/ada/engine/raw/main/photo.png')).headers.get('content-type'), 'image/png')
  assert.match(await shown('large.bin'), /stored with Git LFS \(2\.0 KB\)/)
  assert.match(await shown('huge.txt'), /too large to show \(1\.0 MB\)/)
  assert.match(await shown('lines.txt'), /The first 20000 lines\. The raw file has 10000 more/)
  assert.match(await shown('latin.txt'), /This file is binary/)
  assert.match(await shown('trick.js'), /change the direction of text/)
  assert.match(await shown('empty'), /This file is empty/)
  assert.match(await shown('links/b.ts'), /A link to \.\.\/src\/b\.ts .*let c/)
  assert.match(await shown('links/out'), /A link to \/etc\/passwd , which is not a file of this commit/)
  assert.match(await shown('m'), new RegExp(`A submodule: commit ${'1'.repeat(40)} of https://git\\.example/m\\.git`))
  const odd = await guest.get(`/ada/engine/blob/main/${encodeURIComponent('x/<img src=x onerror=alert(1)>/"quoted".txt')}`)
  assert.equal(odd.status, 200)
  assert.doesNotMatch(odd.text, /<img src=x/)
  for (const [path, to] of [
    ['blob/main/src', '/ada/engine/tree/main/src'],
    ['tree/main/src/b.ts', '/ada/engine/blob/main/src/b.ts'],
    ['blame/main/src', '/ada/engine/tree/main/src'],
    ['tree/main/m', '/ada/engine/blob/main/m'],
  ] as const)
    assert.equal((await guest.get(`/ada/engine/${path}`)).location, to)
})

test('the raw address of a file in Git LFS sends its contents, to those who may see the repository', async () => {
  await using engine = await openEngine()
  const { work, forge, id } = engine
  const { db, files } = forge.belfry
  const stored = await files.storeContents(Readable.from([Buffer.from('large contents')]), 100)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${stored.oid}\nsize ${stored.size}\n`
  await work.commit('Add', { 'large.bin': pointer })
  await work.push()
  const guest = new Guest(forge)
  assert.equal((await guest.get('/ada/engine/raw/main/large.bin')).text, pointer, 'the repository does not have it yet')
  await db.transaction((transaction) => addObjects(transaction, files, id, [stored]))
  const raw = await guest.get('/ada/engine/raw/main/large.bin')
  assert.deepEqual([raw.text, raw.headers.get('content-type')], ['large contents', 'application/octet-stream'])
})

test('blame shows the last commit of each line, and the finder what contains the typed characters', async () => {
  await using engine = await openEngine()
  const { work, ada, forge } = engine
  await work.commit('Write <one>', { 'src/engine.ts': 'let a\nlet b\nlet c\n', 'docs/e.md': 'x' })
  await work.commit('Change two', { 'src/engine.ts': 'let a\nlet B\nlet c\n' })
  await work.push()
  const guest = new Guest(forge)
  const { text } = await guest.get('/ada/engine/blame/main/src/engine.ts')
  assert.match(textOf(text), /Write &lt;one&gt; .*1 let a .*Change two .*2 let B .*Write &lt;one&gt; .*3 let c/)
  const before = /href="(\/ada\/engine\/blame\/[0-9a-f]{40}\/src\/engine\.ts)"/.exec(text)?.[1] ?? ''
  assert.match(textOf((await guest.get(before)).text), /2 let b/)
  assert.equal((await guest.get('/ada/engine/blame/main/gone')).status, 404)
  const found = async (words: string) =>
    [...(await guest.get(`/ada/engine/find/main?q=${words}`)).text.matchAll(/class="entry" href="([^"]*)"/g)].map(
      ([, href]) => href,
    )
  assert.deepEqual(await found('ENGINE'), ['/ada/engine/blob/main/src/engine.ts'])
  assert.deepEqual(await found('sgt'), ['/ada/engine/blob/main/src/engine.ts'])
  assert.equal((await found('e')).length, 2)
  assert.deepEqual(await found('%3Cb%3E'), [])
  await expect(201, await ada.post('/repos/ada/engine/branches/main/rename', { new_name: 'trunk' }))
  assert.equal((await guest.get('/ada/engine/blob/main/src/engine.ts')).location, '/ada/engine/blob/trunk/src/engine.ts')
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  for (const path of ['', '/tree/trunk', '/blame/trunk/src/engine.ts', '/find/trunk', `/blob/${await work.head()}/src/engine.ts`])
    assert.equal((await guest.get(`/ada/engine${path}`)).status, 404, path)
})
