import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { applyRunEvent, openEmpty, present, path as route, start } from '#test/imports/import-states.ts'
import { recordProgress } from './progress.ts'

const page = '/ada/engine/import'

test('one of thousands of authors is found by text, and corrected without losing the search', async () => {
  await using forge = await openEmpty()
  const ada = await signedIn(forge, 'ada')
  await start(forge.ada, { vcs: 'subversion' })
  const { id, run } = await present(forge)
  const authors = Array.from({ length: 3000 }, (_, index) => ({
    remote_id: `u${index}@4f1c`,
    remote_name: `u${index}`,
    name: index % 50 ? `Person ${index}` : `Émile 100% _${index}`,
    email: `u${index}@example.com`,
  }))
  await recordProgress(forge.belfry.db, id, run, { authors: authors.slice(0, 50) })
  const shown = async (query: string) => {
    const { status, text } = await ada.get(page + query)
    assert.equal(status, 200)
    return { text, rows: text.match(/<tr id="author-/g)?.length ?? 0 }
  }
  assert.equal((await shown('')).text.includes('/import#authors"'), false, 'few need not be searched')
  await recordProgress(forge.belfry.db, id, run, { authors: authors.slice(50) })
  const all = await shown('')
  assert.match(all.text, /method="get" action="\/ada\/engine\/import#authors"[\s\S]*name="q"[\s\S]*Page 1 of 60/)
  assert.equal(all.rows, 50)
  const some = await shown('?q=%20%C3%89MILE+100%25+&page=2')
  assert.match(
    some.text,
    /60 of 3,000 authors[\s\S]*value="ÉMILE 100%"[\s\S]*Show all[\s\S]*page=1&amp;q=%C3%89MILE%20100%25#authors[\s\S]*Page 2 of 2/,
  )
  assert.equal(some.rows, 10)
  assert.equal((await shown('?q=u2999@')).rows, 1)
  assert.equal((await shown('?q=100%25+_2&page=7')).rows, 22, 'the last page there is')
  assert.match((await shown('?q=_%25_')).text, /0 of 3,000 authors[\s\S]*No author matches/)
  for (const odd of ['?q=%00u2999', `?q=${'%F0%9F%92%A9'.repeat(150)}x`, '?q=%ff', '?page=99999999', '?files=0&page=-1'])
    await shown(odd)

  const found = (await forge.ada.read(`${route}/authors?per_page=100&page=30`)).at(-1)
  const look = { page: '1', q: 'U2999' }
  const wrong = await ada.post(`${page}/authors/${found.id}`, { name: 'Zoë', email: 'no', ...look })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /1 of 3,000 authors[\s\S]*aria-invalid="true"/)
  const right = await ada.post(`${page}/authors/${found.id}`, { name: 'Zoë', email: 'z@example.com', ...look })
  assert.equal(right.location, `${page}?done=corrected&page=1&q=U2999#author-${found.id}`)
  assert.equal((await shown('?q=zo%C3%AB')).rows, 1)
})

test('many large files are shown in pages', async () => {
  await using forge = await openEmpty()
  const ada = await signedIn(forge, 'ada')
  await start(forge.ada, { vcs: 'git' })
  const large_files = Array.from({ length: 201 }, (_, index) => ({
    ref_name: 'refs/import/orig/heads/trunk',
    path: `disk-${index}.iso`,
    oid: 'd'.repeat(40),
    size: 157_286_400,
  }))
  await applyRunEvent(forge, 'imported', { commit_count: 3, large_files })
  const shown = async (query: string) => (await ada.get(page + query)).text.match(/disk-\d+/g) ?? []
  assert.deepEqual([(await shown('')).length, (await shown('?files=2')).at(0)], [100, 'disk-100'])
  for (const last of ['?files=3', '?files=4']) assert.deepEqual(await shown(last), ['disk-200'])
  assert.match((await ada.get(`${page}?files=2`)).text, /files=3#files/)
})

test('the remaining time depends on the current step only', async () => {
  await using forge = await openEmpty()
  const { belfry, clock } = forge
  const ada = await signedIn(forge, 'ada')
  const left = async () => / · ([^<]*left)/.exec((await ada.get(page)).text)?.[1]
  await start(forge.ada, { vcs: 'git' })
  clock.advance(3_600_000)
  await applyRunEvent(forge, 'found', { vcs: 'git' })
  clock.advance(600_000)
  const { id, run } = await present(forge)
  const author = { remote_id: 'bob', remote_name: 'bob', name: 'bob', email: 'bob@4f1c' }
  await recordProgress(belfry.db, id, run, { percent: 40, authors: [author] })
  assert.equal(await left(), 'about 15 minutes left')
  await expect(200, await forge.ada.patch(`${route}/lfs`, { use_lfs: 'opt_in' }))
  assert.equal(await left(), 'about 15 minutes left')
  await applyRunEvent(forge, 'imported', { commit_count: 3, large_files: [] })
  await applyRunEvent(forge, 'mapped', {
    report: { default_branch: null, notes: {}, verification: { branches: 0, tags: 0, revisions: 0, files: 0, mismatches: [] } },
  })
  clock.advance(600_000)
  await recordProgress(belfry.db, id, run, { push_percent: 40 })
  const [{ url }] = await forge.ada.read(`${route}/authors`)
  await expect(200, await forge.ada.patch(url, { name: 'Bob' }))
  assert.equal(await left(), 'about 15 minutes left')
})
