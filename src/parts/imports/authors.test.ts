import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { applyRunEvent, authorsNamed, leadTo, openEmpty, path, present, report, start } from '#test/imports/import-states.ts'
import { takeCorrections } from './authors.ts'
import { recordProgress } from './progress.ts'

const people = authorsNamed('4f1c', 'ada', 'ben', 'cy')

async function openWithAuthors() {
  const forge = await openEmpty()
  await start(forge.ada, { vcs: 'subversion' })
  const { id, run } = await present(forge)
  await recordProgress(forge.belfry.db, id, run, { authors: people.slice(0, 2) })
  await recordProgress(forge.belfry.db, id, run, { authors: people })
  return forge
}

test('authors are listed in order, optionally since an id, and corrected one by one', async () => {
  await using forge = await openWithAuthors()
  const { ada } = forge
  const authors = await ada.read(`${path}/authors`)
  assert.deepEqual(
    authors.map(({ remote_id }: { remote_id: string }) => remote_id),
    people.map(({ remote_id }) => remote_id),
  )
  const [first, second] = authors
  const url = `${ada.base}${path}/authors/${first.id}`
  assert.deepEqual(first, { ...people[0], id: first.id, url, import_url: `${ada.base}${path}` })
  assert.equal((await ada.read(path)).authors_count, 3)
  for (const [since, count] of [
    [first.id, 2],
    [999_999, 0],
    ['-1', 3],
    ['x', 3],
    ['9'.repeat(30), 3],
  ]) {
    assert.equal((await ada.read(`${path}/authors?since=${since}`)).length, count, `since ${since}`)
  }
  const page = await ada.get(`${path}/authors?since=${first.id}&per_page=1&page=2`)
  assert.match(page.headers.get('link') ?? '', /<[^>]*\/authors\?since=\d+&per_page=1&page=1>; rel="prev"/)
  assert.equal((await expect(200, page))[0].remote_id, people[2]?.remote_id)
  const mapped = await expect(200, await ada.patch(url, { name: ' Ada Lovelace ', email: 'ada@example.com' }))
  assert.deepEqual(mapped, { ...first, name: 'Ada Lovelace', email: 'ada@example.com' })
  assert.deepEqual((await ada.read(`${path}/authors`))[0], mapped)
  assert.deepEqual(await expect(200, await ada.patch(url, {})), mapped)
  const wrong: object[] = [
    { email: 'nobody' },
    { email: 'a@b@c' },
    { email: 'a <a@b>' },
    { email: 'a@b\nc' },
    { email: `${'a'.repeat(255)}@b` },
    { name: '' },
    { name: '  ' },
    { name: 'a <b>' },
    { name: 'a\u0000b' },
    { name: 'a\u0007b' },
    { name: 'a'.repeat(256) },
    { name: null },
    { email: 1 },
    { login: 'x' },
  ]
  for (const body of wrong) await expect(422, await ada.patch(url, body as Record<string, unknown>))
  assert.deepEqual((await ada.read(`${path}/authors`))[0], mapped)

  // The author of another import is 404.
  await ada.owns('mill')
  const mill = '/repos/ada/mill/import'
  await expect(404, await ada.get(`${mill}/authors`))
  await expect(404, await ada.patch(`${mill}/authors/${second.id}`, { name: 'x' }))
  await expect(201, await ada.put(mill, { vcs_url: 'svn://source.example/mill' }))
  assert.deepEqual(await ada.read(`${mill}/authors`), [])
  for (const id of [second.id, 0, '-1', 'x', '9'.repeat(30)]) {
    await expect(404, await ada.patch(`${mill}/authors/${id}`, { name: 'x' }))
  }
})

test('a correction while commits are written causes another rewrite', async () => {
  await using forge = await openWithAuthors()
  const { ada } = forge
  const { db } = forge.belfry
  const [{ url }] = await ada.read(`${path}/authors`)
  const correct = async (name: string) => expect(200, await ada.patch(url, { name }))
  const take = async () => {
    const imported = await present(forge)
    return db.transaction((transaction) => takeCorrections(transaction, imported))
  }
  await correct('First')
  assert.equal((await present(forge)).correcting, false, 'there is nothing written yet')
  await leadTo(forge, 'mapping')
  const written = { original_name: 'ada', original_email: 'ada@4f1c', name: 'First', email: 'ada@4f1c' }
  assert.deepEqual(await take(), [written])
  await correct('First')
  assert.equal((await present(forge)).correcting, false, 'nothing is new')
  await correct('Second')
  await applyRunEvent(forge, 'mapped', { report })
  assert.partialDeepStrictEqual(await present(forge), { status: 'mapping', active: true })
  assert.deepEqual(await take(), [{ ...written, name: 'Second' }])
  await applyRunEvent(forge, 'mapped', { report })
  assert.partialDeepStrictEqual(await present(forge), { status: 'pushing', correcting: false })
  await correct('Third')
  assert.partialDeepStrictEqual(await present(forge), { status: 'pushing', correcting: true })
  const { mapped_authors } = await ada.read(`${path}/report`)
  assert.deepEqual(
    mapped_authors.map(({ name }: { name: string }) => name),
    ['Third'],
  )
})
