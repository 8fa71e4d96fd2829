import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Correction } from '#importer/steps.ts'
import { openHistory, people } from '#test/imports/histories.ts'
import { prepareRefs } from './prepare-refs.ts'
import { rewriteHistory } from './rewrite-history.ts'

const { signal } = new AbortController()
const from = 'refs/import/orig'

async function openStage(commits: number) {
  const stage = await openHistory({ commits })
  const { git } = stage
  return Object.assign(stage, {
    /** Writes an object with exactly these bytes, and a ref to it. */
    place(ref: string, type: string, text: string | Buffer) {
      const id = git(['hash-object', '-t', type, '-w', '--stdin', '--literally'], text)
      git(['update-ref', `${from}/${ref}`, id])
      return id
    },
  })
}

const correction = (index: number, name: string, email: string): Correction => ({
  original_name: people[index]?.name ?? '',
  original_email: people[index]?.email ?? '',
  name,
  email,
})

const everybody = people.map((_, index) => correction(index, `Réal ${index}`, `real${index}@example.com`))

test('corrected names are the same as with a mailmap, and nothing else changes', async () => {
  await using stage = await openStage(160)
  const { git, repository, folder } = stage
  const authors = [...everybody.slice(0, 4), correction(4, 'Réal 0', 'real0@example.com')]
  await prepareRefs(repository, { authors, signal })
  const mailmap = join(folder, 'mailmap')
  const lines = authors.map((each) => `${each.name} <${each.email}> ${each.original_name} <${each.original_email}>`)
  await writeFile(mailmap, `${lines.join('\n')}\n`)
  const log = (place: string, format: string) =>
    git(['-c', `mailmap.file=${mailmap}`, 'log', '--topo-order', `--glob=${place}`, `--format=${format} %at %ct %T %B`])
  assert.equal(log('refs/heads', '%an %ae %cn %ce'), log(`${from}/heads`, '%aN %aE %cN %cE'))
  assert.match(log('refs/heads', '%an %ae'), /Réal 3 real3@example.com/)
  const tags = (place: string, ...fields: string[]) =>
    git(['-c', `mailmap.file=${mailmap}`, 'for-each-ref', `--format=%(refname:lstrip=-1) ${fields.join(' ')}`, `${place}/tags`])
  const told = ['%(*tree)', '%(taggerdate:raw)', '%(contents)']
  assert.equal(tags('refs', ...told), tags(from, ...told))
  assert.match(tags('refs', '%(taggername) %(taggeremail)'), /^v160 Réal 0 <real0@example.com>$/m)
  assert.equal(git(['for-each-ref', 'refs/heads', 'refs/tags']).split('\n').length, 2)
  git(['fsck', '--strict', '--no-dangling'])
})

test('commits before the first change keep their ids, and without corrections nothing changes', async () => {
  await using stage = await openStage(9)
  const { git, repository } = stage
  const before = git(['rev-list', '--reverse', `${from}/heads/main`]).split('\n')
  // The sixth person is the author of the sixth commit and the committer of the eighth.
  const { refs } = await rewriteHistory(repository, { from, authors: [correction(6, 'Six', 'six@example.com')], signal })
  const after = git(['rev-list', '--reverse', refs['refs/heads/main'] ?? '']).split('\n')
  assert.deepEqual(
    after.map((id, index) => id === before[index]),
    [true, true, true, true, true, false, false, false, false],
  )
  const same = { 'refs/heads/main': before.at(-1), 'refs/tags/v9': git(['rev-parse', `${from}/tags/v9`]) }
  const idle = [correction(3, people[3]?.name ?? '', people[3]?.email ?? ''), correction(-1, 'Nobody', 'nobody@example.com')]
  for (const authors of [[], idle]) assert.deepEqual((await rewriteHistory(repository, { from, authors, signal })).refs, same)
  assert.equal(git(['for-each-ref', 'refs/heads', 'refs/tags']), '')
})

test('two merged authors can be separated again, and the same corrections give the same ids', async () => {
  await using stage = await openStage(40)
  const { repository, git } = stage
  const apart = [correction(1, 'One', 'one@example.com'), correction(2, 'Two', 'two@example.com')]
  const first = await rewriteHistory(repository, { from, authors: apart, signal })
  await prepareRefs(repository, { authors: apart.map((each) => ({ ...each, name: 'Both', email: 'both@example.com' })), signal })
  assert.notEqual(git(['rev-parse', 'refs/heads/main']), first.refs['refs/heads/main'])
  await prepareRefs(repository, { authors: apart, signal })
  assert.equal(git(['rev-parse', 'refs/heads/main']), first.refs['refs/heads/main'])
  const packs = git(['count-objects', '-v'])
  assert.deepEqual(await rewriteHistory(repository, { from, authors: apart, signal }), first)
  assert.equal(git(['count-objects', '-v']), packs)
})

test('signatures are removed, encodings are converted, and unusual objects are accepted', async () => {
  await using stage = await openStage(3)
  const { git, place, repository } = stage
  const tree = git(['rev-parse', `${from}/heads/main^{tree}`])
  const by = (name: string) => `${name} <x@example.com> 1400000000 +0100`
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n'
  const mergetag = `mergetag object ${tree}\n type commit\n tag x\n tagger ${by('X')}\n \n text\n`
  const signed = place(
    'heads/signed',
    'commit',
    `tree ${tree}\nauthor ${by('X')}\ncommitter ${by('X')}\n${mergetag}${signature}\nsigned\n`,
  )
  place('heads/above', 'commit', `tree ${tree}\nparent ${signed}\nauthor ${by('Y')}\ncommitter ${by('Y')}\n\nabove\n`)
  const untouched = place(
    'heads/untouched',
    'commit',
    `tree ${tree}\nauthor ${by('Z')}\ncommitter ${by('Z')}\n${signature}\nsigned\n`,
  )
  const latin = `tree ${tree}\nauthor ${by('X')}\ncommitter ${by('J\xfcrgen')}\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n`
  place('heads/latin', 'commit', Buffer.from(latin, 'latin1'))
  place('heads/bytes', 'commit', Buffer.from(`tree ${tree}\nauthor ${by('X')}\ncommitter ${by('\xff')}\n\n\xff\n`, 'latin1'))
  place('heads/bare', 'commit', `tree ${tree}\nauthor ${by('X')}\ncommitter ${by('X')}\n`)
  const tag = place(
    'tags/signed',
    'tag',
    `object ${signed}\ntype commit\ntag signed\ntagger ${by('X')}\n\ntext\n-----BEGIN PGP SIGNATURE-----\nabc\n`,
  )
  place('tags/nested', 'tag', `object ${tag}\ntype tag\ntag nested\ntagger ${by('Z')}\n\nnested\n`)
  const blob = git(['rev-parse', `${from}/heads/main:src/part0/file0.txt`])
  git(['update-ref', `${from}/tags/blob`, blob])
  place('tags/tree', 'tag', `object ${tree}\ntype tree\ntag tree\n\nof a tree\n`)

  const authors = [
    { original_name: 'X', original_email: 'x@example.com', name: 'Ünï', email: 'u@example.com' },
    { original_name: '\ufffd', original_email: 'x@example.com', name: ' <Byte>\n', email: 'b<@>example.com' },
  ]
  await prepareRefs(repository, { authors, signal })
  const object = (name: string) => git(['cat-file', '-p', name])
  const now = '<u@example.com> 1400000000 +0100'
  assert.equal(object('refs/heads/signed'), `tree ${tree}\nauthor Ünï ${now}\ncommitter Ünï ${now}\n\nsigned`)
  assert.match(object('refs/heads/above'), new RegExp(`^parent ${git(['rev-parse', 'refs/heads/signed'])}$`, 'm'))
  assert.equal(git(['rev-parse', 'refs/heads/untouched']), untouched)
  assert.equal(object('refs/heads/latin'), `tree ${tree}\nauthor Ünï ${now}\ncommitter ${by('Jürgen')}\n\nGrüße`)
  assert.match(object('refs/heads/bytes'), /^committer Byte <b@example.com> 1400000000/m)
  assert.equal(object('refs/heads/bare'), `tree ${tree}\nauthor Ünï ${now}\ncommitter Ünï ${now}`)
  assert.equal(
    object('refs/tags/signed'),
    `object ${git(['rev-parse', 'refs/heads/signed'])}\ntype commit\ntag signed\ntagger Ünï ${now}\n\ntext`,
  )
  assert.match(object('refs/tags/nested'), new RegExp(`^object ${git(['rev-parse', 'refs/tags/signed'])}\ntype tag\n`))
  for (const same of ['blob', 'tree'])
    assert.equal(git(['rev-parse', `refs/tags/${same}`]), git(['rev-parse', `${from}/tags/${same}`]))
})

test('an unreadable or cancelled history gives no refs', async () => {
  await using stage = await openStage(5)
  const { git, place, repository } = stage
  await assert.rejects(
    rewriteHistory(repository, { from, authors: everybody, signal: AbortSignal.abort(new Error('cancelled')) }),
    /cancelled/,
  )
  const cancelling = new AbortController()
  const cancelled = prepareRefs(repository, { authors: everybody, signal: cancelling.signal })
  cancelling.abort(new Error('cancelled'))
  await assert.rejects(cancelled, /cancelled/)
  const tree = git(['rev-parse', `${from}/heads/main^{tree}`])
  place('heads/torn', 'commit', `tree ${tree}\nparent ${'1'.repeat(40)}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\ntorn\n`)
  await assert.rejects(prepareRefs(repository, { authors: everybody, signal }), /git rev-list failed/)
  assert.equal(git(['for-each-ref', 'refs/heads', 'refs/tags']), '')
})
