import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest, signedIn, withoutSignIn } from '#test/guest.ts'

const inject = injecting(openWithEngine)

test('an issue is opened, commented on, closed and reopened on its pages', inject(async (forge) => {
  const dan = await signedIn(forge, 'dan')
  const opened = await dan.fill('/ada/engine/issues/new', { title: ' Smoke ', body: 'It\r\nsmokes' })
  assert.equal(opened.location, '/ada/engine/issues/1')
  assert.deepEqual(pick(await forge.ada.read(`${engine}/issues/1`)), ['Smoke', 'It\nsmokes', 'open', 0])
  const said = await dan.fill('/ada/engine/issues/1', { body: 'And **more**' }, '/ada/engine/issues/1/comments')
  const [comment] = await forge.ada.read(`${engine}/issues/1/comments`)
  assert.equal(said.location, `/ada/engine/issues/1#issuecomment-${comment.id}`)
  const shown = await dan.get('/ada/engine/issues/1')
  assert.match(shown.text, new RegExp(`id="issuecomment-${comment.id}".*And <strong>more</strong>`, 's'))
  assert.match(shown.text, /Close issue/)
  const closed = await dan.post('/ada/engine/issues/1/comments', { body: 'Enough', state: 'closed' })
  assert.match(closed.location ?? '', /#issuecomment-\d+$/)
  assert.deepEqual(pick(await forge.ada.read(`${engine}/issues/1`)), ['Smoke', 'It\nsmokes', 'closed', 2])
  assert.match((await dan.get('/ada/engine/issues/1')).text, /Reopen issue/)
  assert.equal((await dan.post('/ada/engine/issues/1/comments', { state: 'open' })).location, '/ada/engine/issues/1')
  assert.deepEqual(pick(await forge.ada.read(`${engine}/issues/1`)), ['Smoke', 'It\nsmokes', 'open', 2])
}))

const pick = ({ title, body, state, comments }: Record<string, unknown>) => [title, body, state, comments]

test('a refused form is shown again with the reason, and changes nothing', inject(async (forge) => {
  await forge.open()
  const dan = await signedIn(forge, 'dan')
  const refused: [path: string, fields: Record<string, string>, status: number, shown: RegExp][] = [
    ['/ada/engine/issues/new', { title: ' ', body: 'a <b>' }, 422, /role="alert">Title is missing\..*a &lt;b&gt;<\/textarea>/s],
    ['/ada/engine/issues/new', { title: 'x'.repeat(257) }, 422, /longer than 256/],
    ['/ada/engine/issues/1/comments', { body: ' \r\n' }, 422, /Write a comment first/],
    ['/ada/engine/issues/1/comments', { body: `${'x'.repeat(65_537)}` }, 422, /longer than 65536/],
    [
      '/ada/engine/issues/1/comments',
      { body: 'Kept text', state: 'closed' },
      403,
      /Must have triage access.*Kept text<\/textarea>/s,
    ],
    ['/ada/engine/issues/1/comments', { body: 'Hello', csrf: 'x' }, 403, /out of date/],
    ['/ada/engine/issues/9/comments', { body: 'Hello' }, 404, /no such page/],
  ]
  await dan.get('/ada/engine/issues/1')
  for (const [path, fields, status, shown] of refused) {
    const answer = await dan.post(path, fields)
    assert.equal(answer.status, status, JSON.stringify([path, fields]).slice(0, 100))
    assert.match(answer.text, shown)
  }
  assert.deepEqual(pick(await forge.ada.read(`${engine}/issues/1`)), ['Smoke', null, 'open', 0])
  assert.equal((await forge.ada.read(`${engine}/issues`)).length, 1)
  assert.equal((await dan.get('/ada/engine/issues/1')).text.includes('Close issue'), false)
}))

test('visitors read public pages, and learn nothing about private ones', inject(async (forge) => {
  await forge.open({ title: 'In public' })
  await forge.ada.owns('secret', { private: true })
  await expect(201, await forge.ada.post('/repos/ada/secret/issues', { title: 'Hidden' }))
  const nobody = new Guest(forge)
  const dan = await signedIn(forge, 'dan')
  for (const path of ['/ada/engine', '/ada/engine/issues', '/ada/engine/issues/1']) {
    assert.equal((await nobody.get(path)).status, 200, path)
  }
  assert.match(
    (await nobody.get('/ada/engine/issues/1')).text,
    /href="\/login\?return_to=%2Fada%2Fengine%2Fissues%2F1">Sign in<\/a>/,
  )
  assert.equal((await nobody.get('/ada/engine/issues/new')).location, '/login?return_to=%2Fada%2Fengine%2Fissues%2Fnew')
  for (const guest of [nobody, dan]) {
    for (const rest of ['', '/issues', '/issues/1']) {
      const [hidden, absent] = await Promise.all([guest.get(`/ada/secret${rest}`), guest.get(`/ada/nothing${rest}`)])
      assert.equal(hidden.status, 404)
      const plain = ({ text }: { text: string }) => withoutSignIn(text).replaceAll(/value="\w+"/g, '')
      assert.equal(plain(hidden), plain(absent))
    }
  }
  for (const path of [
    '/ada/engine/issues/0',
    '/ada/engine/issues/99999999999',
    '/ada/engine/issues/x',
    '/ada/eng%00ine/issues',
  ]) {
    assert.equal((await nobody.get(path)).status, 404, path)
  }
  assert.equal((await (await signedIn(forge, 'ada')).get('/ada/secret/issues/1')).status, 200)
}))

test('mentions link to existing users and teams that the reader may see, and to no others', inject(async (forge) => {
  await forge.organization('acme', forge.ben)
  for (const [name, privacy] of Object.entries({ Writers: 'closed', Spies: 'secret' })) {
    await expect(201, await forge.ben.post('/orgs/acme/teams', { name, privacy }))
  }
  await forge.ada.owns('secret', { private: true })
  await expect(201, await forge.ada.post('/repos/ada/secret/issues', { title: 'Hidden' }))
  await forge.open({ body: '@Ben @nobody-here @acme/writers @acme/spies #1 #7 Ada/Engine#1 ada/secret#1 `@ada`' })
  const linksFor = async (guest: Guest) => {
    const text = /class="markdown">(.*?)<\/div>/s.exec((await guest.get('/ada/engine/issues/1')).text)?.[1] ?? ''
    return [...text.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)
  }
  const issue = '/ada/engine/issues/1'
  assert.deepEqual(await linksFor(new Guest(forge)), ['/ben', issue, issue])
  assert.deepEqual(await linksFor(await signedIn(forge, 'ada')), ['/ben', issue, issue, '/ada/secret/issues/1'])
  assert.deepEqual(await linksFor(await signedIn(forge, 'ben')), [
    '/ben',
    '/orgs/acme/teams/writers',
    '/orgs/acme/teams/spies',
    issue,
    issue,
  ])
}))

test('a long conversation shows its end, with links to every comment', inject(async (forge) => {
  await forge.open()
  const { db } = forge.belfry
  const comments = await db.rows<{ id: number }>(sql`
    insert into comments (repo_id, issue_id, author_id, body, created_at, updated_at)
    select i.repo_id, i.id, i.author_id, concat('Line ', n, '.'), ${db.now}, ${db.now} from issues i, generate_series(0, 119) n order by n returning id`)
  const ids = comments.map(({ id }) => id)
  const nobody = new Guest(forge)
  const read = async (query: string) => {
    const { text } = await nobody.get(`/ada/engine/issues/1${query}`)
    const lines = [...text.matchAll(/Line (\d+)\./g)].map(([, number]) => Number(number))
    const ways = ['Earlier', 'Later', 'The newest'].filter((way) => text.includes(`>${way}`))
    return [lines[0], lines.at(-1), lines.length, ...ways]
  }
  assert.deepEqual(await read(''), [70, 119, 50, 'Earlier'])
  assert.deepEqual(await read(`?before=${ids[70]}`), [20, 69, 50, 'Earlier', 'Later', 'The newest'])
  assert.deepEqual(await read(`?before=${ids[20]}`), [0, 19, 20, 'Later', 'The newest'])
  assert.deepEqual(await read(`?from=${ids[33]}`), [33, 82, 50, 'Earlier', 'Later', 'The newest'])
  assert.deepEqual(await read(`?from=${ids[100]}`), [100, 119, 20, 'Earlier'])
  assert.deepEqual(await read('?from=999999999999999'), [undefined, undefined, 0, 'Earlier'])
  assert.deepEqual(await read('?before=x'), [70, 119, 50, 'Earlier'])
}))

test('lists are paged, and separate open and closed issues', inject(async (forge) => {
  for (let index = 1; index <= 31; index++) await forge.open({ title: `Matter ${index}` })
  await expect(200, await forge.ada.patch(`${engine}/issues/5`, { state: 'closed' }))
  const nobody = new Guest(forge)
  const titles = async (query: string) =>
    [...(await nobody.get(`/ada/engine/issues${query}`)).text.matchAll(/>Matter (\d+)</g)].map(([, number]) => Number(number))
  assert.equal((await titles('')).length, 30)
  assert.deepEqual(await titles('?state=closed'), [5])
  await forge.open({ title: 'Matter 32' })
  assert.deepEqual(await titles('?page=2'), [1])
  assert.deepEqual(await titles('?page=900'), [])
}))

test('users who may not comment see the reason, and a renamed repository redirects', inject(async (forge) => {
  await forge.open()
  await expect(204, await forge.ada.put(`${engine}/issues/1/lock`, { lock_reason: 'too heated' }))
  const dan = await signedIn(forge, 'dan')
  const locked = await dan.get('/ada/engine/issues/1')
  assert.match(locked.text, /locked as too heated/)
  assert.equal(locked.text.includes('<textarea'), false)
  assert.equal((await dan.post('/ada/engine/issues/1/comments', { body: 'But' })).status, 403)
  assert.match((await (await signedIn(forge, 'ben')).get('/ada/engine/issues/1')).text, /<textarea/)
  await expect(200, await forge.ada.patch(engine, { name: 'machine' }))
  assert.equal((await dan.get('/ada/engine/issues/1?from=1')).location, '/ada/machine/issues/1?from=1')
  await expect(200, await forge.ada.patch('/repos/ada/machine', { archived: true }))
  const ada = await signedIn(forge, 'ada')
  assert.match((await ada.get('/ada/machine/issues/1')).text, /archived, so you cannot comment/)
  assert.equal((await ada.post('/ada/machine/issues/1/comments', { body: 'But' })).status, 403)
  await expect(200, await forge.ada.patch('/repos/ada/machine', { archived: false, has_issues: false }))
  assert.equal((await ada.get('/ada/machine/issues/1')).status, 410)
  assert.equal((await ada.post('/ada/machine/issues/1/comments', { body: 'But' })).status, 410)
}))

test('texts that are too complex are shown unformatted, and a page formats a bounded amount', inject(async (forge) => {
  const table = `|${'a|'.repeat(300)}\n|${'-|'.repeat(300)}\n${'|\n'.repeat(30_000)}`
  await forge.open({ body: `${table}\n<script>alert(1)</script>` })
  for (let n = 0; n < 5; n++) {
    await expect(201, await forge.dan.post(`${engine}/issues/1/comments`, { body: `${n}\n\n${table}` }))
  }
  await expect(201, await forge.dan.post(`${engine}/issues/1/comments`, { body: '**last**' }))
  const { status, text } = await new Guest(forge).get('/ada/engine/issues/1')
  assert.equal(status, 200)
  assert.equal(text.match(/too long or too complex to be formatted/g)?.length, 7, 'the last one comes after too much work')
  assert.match(text, /<pre class="unformatted" tabindex="0">\|a\|a\|/)
  assert.match(text, /&lt;script&gt;alert\(1\)/)
  assert.ok(text.length < 1_000_000, `${text.length} characters`)
}))
