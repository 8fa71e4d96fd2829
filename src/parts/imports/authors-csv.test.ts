import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, expect } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { leadTo, openEmpty, page, path, present, start } from '#test/imports/import-states.ts'
import { recordProgress } from './progress.ts'

const people = ['ada', 'ben, jr', 'cy "the" third'].map((login) => ({
  ...{ remote_id: login, remote_name: login, name: login.replaceAll('"', ''), email: `${login[0]}@svn` },
}))

async function openWithAuthors() {
  const forge = await openEmpty()
  await start(forge.ada, { vcs: 'subversion' })
  const { id, run } = await present(forge)
  await recordProgress(forge.belfry.db, id, run, { authors: people })
  return forge
}

const csv = `${path}/authors.csv`
const download = async (client: Client) => (await client.get(csv)).text()

test('authors are downloaded as CSV, and a changed file maps them all at once', async () => {
  await using forge = await openWithAuthors()
  const { ada } = forge
  const answer = await ada.get(csv)
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  const before = await answer.text()
  assert.equal(
    before,
    'remote_id,name,email\r\nada,ada,a@svn\r\n"ben, jr","ben, jr",b@svn\r\n"cy ""the"" third",cy the third,c@svn\r\n',
  )
  assert.deepEqual(await expect(200, await ada.put(csv, before)), { changed: 0 })
  // As a spreadsheet or an editor may save it: with a mark, other line ends, empty lines, and without the header.
  const changed = '\ufeff\n"ben, jr","Ben\nJr",b@example.com\n'
  assert.match((await expect(422, await ada.put(csv, changed))).errors[0].message, /^line 2: name must be/)
  const fixed = '\ufeff\n"ben, jr", Ben Jr ,ben@example.com\n\nada,Ada,ada@example.com'
  assert.deepEqual(await expect(200, await ada.put(csv, fixed)), { changed: 2 })
  assert.match(await download(ada), /^ada,Ada,ada@example\.com\r\n"ben, jr",Ben Jr,ben@example\.com\r$/m)
  assert.equal((await present(forge)).correcting, false)
  await leadTo(forge, 'mapping')
  await expect(200, await ada.put(csv, 'ada,Ada L,ada@example.com'))
  assert.equal((await present(forge)).correcting, true, 'the commits are written again')
})

test('a wrong line is named, and nothing is changed', async () => {
  await using forge = await openWithAuthors()
  const { ada } = forge
  const before = await download(ada)
  const first = 'ada,Changed,changed@example.com\n'
  for (const [file, why] of [
    ['nobody,X,x@y', 'line 2: the import has no author "nobody"'],
    ['ada,X,x@y', 'line 2: the author "ada" is in the file twice'],
    ['"ben, jr",X', 'line 2: it must have the fields remote_id, name, email, and has 2'],
    ['"ben, jr",X,', 'line 2: email must be'],
    ['"ben, jr",X,x@y,z', 'line 2: it must have the fields remote_id, name, email, and has 4'],
    ['\n"ben, jr",X,nobody', 'line 3: email must be an address such as ada@example.com'],
    ['"ben, jr",,x@y', 'line 2: name must be 1 to 255 characters without < and >'],
    ['"ben, jr,X,x@y', 'line 2: a quote is not closed'],
    ['ben" jr,X,x@y', 'line 2: a quote is not closed, or is in the middle of a field'],
  ] as const) {
    const { errors } = await expect(422, await ada.put(csv, first + file))
    assert.ok(errors[0].message.startsWith(why), `${file}: ${errors[0].message}`)
  }
  await expect(413, await ada.put(csv, 'x'.repeat((4 << 20) + 1)))
  assert.equal(await download(ada), before)
  await expect(200, await ada.put(csv, ''))
  const ben = await forge.person('ben')
  await expect(403, await ben.put(csv, first))
  await expect(404, await ben.get('/repos/ada/none/import/authors.csv'))
})

test('the page has the file and takes it back', async () => {
  await using forge = await openWithAuthors()
  const ada = await signedIn(forge, 'ada')
  assert.match((await ada.get(page)).text, /href="\/ada\/engine\/import\/authors\.csv"[\s\S]*type="file"/)
  assert.equal((await ada.get(`${page}/authors.csv`)).text, await download(forge.ada))
  const send = (text: string) => ada.upload(`${page}/authors.csv`, [['authors', new File([text], 'authors.csv')]])
  const wrong = await send('ada,,x')
  assert.deepEqual([wrong.status, /[Ll]ine 1: name must be/.test(wrong.text)], [422, true])
  assert.equal((await send('ada,Ada,ada@example.com')).location, `${page}?done=mapped#authors`)
  assert.match(
    (await ada.get(`${page}?done=mapped`)).text,
    /The authors of the file are corrected\.[\s\S]*value="ada@example\.com"/,
  )
  assert.equal((await ada.upload(`${page}/authors.csv`, [])).status, 422)
})
