import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseChangeset } from './changeset.ts'

const manifest = 'a1'.repeat(20)
const parse = (text: string) => parseChangeset(Buffer.from(text))

test('a changeset has its manifest, user, time, branch and message', () => {
  assert.deepEqual(parse(`${manifest}\nAda <ada@example.com>\n7 -3600 close:1\0branch:a\\\\b\na.txt\nb.txt\n\nFirst\n\nMore`), {
    manifest: Buffer.from(manifest, 'hex'),
    user: 'Ada <ada@example.com>',
    time: 7,
    west: -3600,
    branch: 'a\\b',
    closes: true,
    message: Buffer.from('First\n\nMore'),
  })
  assert.partialDeepStrictEqual(parse(`${manifest}\nAda\n7 0\n\nFirst`), { branch: 'default', closes: false })
})

test('a text that is not a changeset is called damaged', () => {
  for (const text of ['', 'First', `${manifest}\n\n`, `${manifest}\nAda\n7 0\na.txt`, `${manifest.slice(1)}\nAda\n7 0\n\nFirst`])
    assert.throws(() => parse(text), { message: /The data of the server is damaged/ }, text)
})
