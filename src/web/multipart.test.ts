import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Upload } from './multipart.ts'

async function* inPieces(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

async function encoded(form: FormData) {
  const response = new Response(form)
  return { type: response.headers.get('content-type') ?? '', bytes: Buffer.from(await response.arrayBuffer()) }
}

test('a form is read in whatever pieces it arrives, its fields as text and its files as streams', async () => {
  const form = new FormData()
  const tricky = Buffer.from('\r\n--\r\n------formdata\r\n\r\n--')
  form.append('csrf', 'token')
  form.append('body', 'Grüße\r\nand more')
  form.append('file', new Blob([tricky], { type: 'text/plain' }), 'a "b"\u00e9.txt')
  form.append('file', new Blob([]), 'empty')
  form.append('file', new Blob([Buffer.alloc(5000, 'x')]), 'skipped')
  form.append('file', new Blob([Buffer.alloc(5000, 'y')]), 'left')
  form.append('action', 'draft')
  const { type, bytes } = await encoded(form)
  for (const size of [1, 7, 64, 100_000]) {
    const upload = new Upload(inPieces(bytes, size), type)
    await upload.readFirst()
    assert.deepEqual([...upload.form], [['csrf', 'token']])
    const read: [string, string, string][] = []
    for await (const { name, type, content } of upload.files()) {
      if (name === 'skipped') continue
      const chunks: Buffer[] = []
      for await (const chunk of content) {
        chunks.push(Buffer.from(chunk))
        if (name === 'left') break
      }
      if (name !== 'left') read.push([name, type, Buffer.concat(chunks).toString()])
    }
    assert.deepEqual(read, [
      ['a "b"é.txt', 'text/plain', tricky.toString()],
      ['empty', 'application/octet-stream', ''],
    ])
    assert.deepEqual(upload.form.get('body'), 'Grüße\r\nand more')
    assert.deepEqual(upload.form.get('action'), 'draft')
  }
})

test('a form that ends early, has too much text or no boundary is refused', async () => {
  const form = new FormData()
  form.append('body', 'x'.repeat(2 * 1024 * 1024))
  const { type, bytes } = await encoded(form)
  const read = (content: Buffer, given = type) => new Upload(inPieces(content, 65_536), given).readFields()
  await assert.rejects(read(bytes), { reason: 'too_large' })
  await assert.rejects(read(bytes.subarray(0, 1000)), { reason: 'malformed' })
  await assert.rejects(read(Buffer.from('nothing')), { reason: 'malformed' })
  await assert.rejects(read(Buffer.alloc(100_000)), { reason: 'too_large' })
  await assert.rejects(async () => read(bytes, 'multipart/form-data'), { reason: 'malformed' })
})
