import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { DamagedArchive } from './read-tar.ts'
import { tarEnd, tarHeader, tarLongHeader, tarPadding } from './tar.ts'
import { packedSize, packFolder, unpackFolder } from './tar-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'belfry-tar-'))
after(() => rmSync(root, { recursive: true }))
let count = 0
function makeFolder() {
  const path = join(root, `${++count}`)
  mkdirSync(path)
  return path
}
const { signal } = new AbortController()
const pack = (folder: string) => buffer(packFolder(folder, ['left-out.json'], signal))
async function* inPieces(archive: Buffer) {
  for (let at = 0; at < archive.length; at += 700) yield archive.subarray(at, at + 700)
}

test('a folder is packed and unpacked as it was', async () => {
  const from = makeFolder()
  const long = join('refs', 'x'.repeat(120), 'y'.repeat(200), 'z'.repeat(250))
  mkdirSync(join(from, 'objects', 'empty'), { recursive: true })
  mkdirSync(join(from, long), { recursive: true })
  writeFileSync(join(from, long, 'main'), 'deep')
  writeFileSync(join(from, 'left-out.json'), '{}')
  writeFileSync(join(from, 'none'), '')
  writeFileSync(join(from, 'large'), Buffer.alloc(1_000_001, 'large'))
  const latin = Buffer.concat([Buffer.from(from), Buffer.from('/caf\xe9', 'latin1')])
  writeFileSync(latin, 'not text')
  chmodSync(join(from, 'none'), 0o444)
  chmodSync(join(from, 'objects'), 0o700)
  const archive = await pack(from)
  assert.equal(archive.length, await packedSize(from, ['left-out.json']))
  assert.ok((await pack(from)).equals(archive), 'the same folder is the same archive')

  const to = makeFolder()
  await unpackFolder(inPieces(archive), to)
  assert.equal(existsIn(to, 'left-out.json'), false)
  rmSync(join(from, 'left-out.json'))
  execFileSync('diff', ['-r', from, to])
  for (const name of ['none', 'large', 'objects', join(long, 'main')])
    assert.equal(statSync(join(to, name)).mode, statSync(join(from, name)).mode)
  assert.ok((await pack(to)).equals(archive))
  const other = makeFolder()
  execFileSync('tar', ['-x', '-C', other], { input: archive })
  execFileSync('diff', ['-r', from, other])
})

const existsIn = (folder: string, name: string) => readdirSync(folder).includes(name)
const at = new Date(0)
const entry = (path: string, type = '0', content = Buffer.from('text')) =>
  Buffer.concat([tarHeader(path, content.length, at, 0o644, type), content, tarPadding(content.length)])
const folder = (path: string) => tarHeader(path, 0, at, 0o755, '5')
const far = Buffer.from(`${'x/'.repeat(60)}../../outside`)

for (const [title, entries] of Object.entries({
  'a name above the folder': [entry('../outside')],
  'an absolute name': [entry('/tmp/belfry-outside')],
  'a name that goes up in the middle': [folder('a'), entry('a/../../outside')],
  'a long name that goes up': [tarLongHeader(far, 4, 0o644, '0', at), Buffer.from('text'), tarPadding(4)],
  'the folder itself': [folder('.')],
  'an empty name': [entry('')],
  'a symbolic link': [entry('link', '2', Buffer.alloc(0)), entry('link/outside')],
  'a hard link': [entry('link', '1', Buffer.alloc(0))],
  'a file twice': [entry('a'), entry('a')],
  'a file in a file': [entry('a'), entry('a/b')],
  'a file in a missing folder': [entry('a/b')],
  'a device': [entry('a', '3', Buffer.alloc(0))],
}))
  test(`an archive with ${title} is damaged`, async () => {
    const to = makeFolder()
    await assert.rejects(unpackFolder(inPieces(Buffer.concat([...entries, tarEnd])), to), DamagedArchive)
    assert.deepEqual([existsIn(root, 'outside'), existsIn(tmpdir(), 'belfry-outside')], [false, false])
  })

test('an archive that ends early or has another byte is damaged', async () => {
  const archive = Buffer.concat([entry('a'), entry('b'), tarEnd])
  for (const length of [0, 100, 514, 1024, 1500])
    await assert.rejects(unpackFolder(inPieces(archive.subarray(0, length)), makeFolder()), DamagedArchive)
  archive[3] = 7
  await assert.rejects(unpackFolder(inPieces(archive), makeFolder()), DamagedArchive)
})

test('a link is not packed, and an aborted archive has no end', async () => {
  const from = makeFolder()
  writeFileSync(join(from, 'file'), 'text')
  await assert.rejects(buffer(packFolder(from, [], AbortSignal.abort(new Error('enough')))), /enough/)
  symlinkSync('file', join(from, 'link'))
  await assert.rejects(pack(from), /link is neither a file nor a folder/)
  assert.equal(readFileSync(join(from, 'link'), 'utf8'), 'text')
})
