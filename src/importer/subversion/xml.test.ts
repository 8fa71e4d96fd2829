import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImportFailure } from '#importer/source.ts'
import { findElements, findInside, readElements } from './xml.ts'

async function readAll(name: string, ...chunks: (string | Buffer)[]) {
  const found = []
  const body = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk)
  })()
  for await (const element of readElements(body, name)) found.push(element)
  return found
}

const head = '<?xml version="1.0" encoding="utf-8"?>'

test('elements are read whatever their prefixes, across chunks, with references and CDATA decoded', async () => {
  const document = Buffer.from(
    `${head}<m xmlns="DAV:" xmlns:x="DAV:"><x:response a="1 &lt; 2"><href>/a%20&amp;&#233;é<![CDATA[<b>]]></href></x:response><response/></m>`,
  )
  const bytes = [...document].map((byte) => Buffer.from([byte]))
  for (const chunks of [[document], bytes]) {
    const [first, second, ...others] = await readAll('response', ...chunks)
    assert.deepEqual(first?.attributes, { a: '1 < 2' })
    assert.equal(first && findInside(first, 'href')?.text, '/a%20&éé<b>')
    assert.deepEqual([second?.children, others], [[], []])
  }
  assert.deepEqual(
    findElements('<l><path k="a">/x<!-- <path>no</path> --></path><path>/y</path></l>', 'path').map(({ text }) => text),
    ['/x', '/y'],
  )
})

test('text that only looks like an element is not one', () => {
  const [only, ...others] = findElements('<l><e n="&lt;e>no&lt;/e>"><![CDATA[<e>no</e>]]></e></l>', 'e')
  assert.equal(only?.text, '<e>no</e>')
  assert.deepEqual(others, [])
})

const laughs = Array.from({ length: 20 }, (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`).join('')
const hostile: [why: string, document: string, message: RegExp][] = [
  ['entities that grow', `${head}<!DOCTYPE l [<!ENTITY e0 "ha">${laughs}]><l>&e20;</l>`, /DOCTYPE/],
  ['a file of the server', `<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><l>&x;</l>`, /DOCTYPE/],
  ['an external DTD', `<!DOCTYPE l SYSTEM "http://127.0.0.1:1/x.dtd"><l/>`, /DOCTYPE/],
  ['an undeclared entity', '<l>&x;</l>', /undefined entity/],
  ['an unclosed element', '<l><e>', /unclosed/],
  ['an unmatched end', '<l></e></l>', /unexpected close tag|unmatched/],
  ['an unbound prefix', '<l><q:e/></l>', /unbound/],
  ['a control character', '<l>\u0001</l>', /disallowed character/],
  ['no XML', 'svn: E170013: Unable to connect', /XML/],
  ['nesting', `<l>${'<e>'.repeat(40)}${'</e>'.repeat(40)}</l>`, /nested/],
]

for (const [why, document, message] of hostile) {
  test(`XML with ${why} is refused with a message`, async () => {
    const isRefused = (error: unknown) => error instanceof ImportFailure && message.test(error.message)
    assert.throws(() => findElements(document, 'e'), isRefused)
    await assert.rejects(readAll('e', document), isRefused)
  })
}

test('an element that never ends is refused before it fills the memory', async () => {
  const endless = (async function* () {
    yield Buffer.from('<l><e>')
    for (;;) yield Buffer.alloc(64 << 10, 'a')
  })()
  await assert.rejects(readElements(endless, 'e').next(), /larger than 1 MB/)
})
