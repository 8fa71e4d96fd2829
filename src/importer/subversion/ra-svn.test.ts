import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { listen } from '#test/imports/http-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { openSession } from './ra-svn.ts'
import { type Item, NoRepository, openParser } from './ra-svn-items.ts'

const refused = (chunks: Iterable<string>) =>
  assert.throws(() => {
    const read = openParser(() => {})
    for (const chunk of chunks) read(Buffer.from(chunk))
  }, NoRepository)

test('nesting, strings and lists of a server are bounded', () => {
  refused(['( '.repeat(17)])
  refused([') '])
  refused([`( ${'1'.repeat(101)} `])
  refused([`${(16 << 20) + 1}:`, ' '])
  refused(
    (function* () {
      yield '( '
      for (;;) yield `${8 << 20}:${'x'.repeat(8 << 20)} `
    })(),
  )
  refused(
    (function* () {
      yield '( '
      for (;;) yield '( ) '.repeat(1 << 15)
    })(),
  )
})

test('items are the same however they arrive', () => {
  const wire = `( success ( 2 5:a b\nc ( ) 0: word-x ( ( ( 7 ) ) ) ) ) 12:${'x'.repeat(12)} `
  const parse = (step: number) => {
    const given: Item[] = []
    const read = openParser((item) => given.push(item))
    for (let at = 0; at < wire.length; at += step) read(Buffer.from(wire.slice(at, at + step)))
    return given
  }
  const whole = parse(wire.length)
  assert.deepEqual(whole, [[{ word: 'success' }, [2, 'a b\nc', [], '', { word: 'word-x' }, [[[7]]]]], 'x'.repeat(12)])
  for (const step of [1, 2, 3, 7]) assert.deepEqual(parse(step), whole)
})

test('a long string takes time in proportion to its length', () => {
  const read = openParser(() => {})
  read(Buffer.from(`${16 << 20}:`))
  // Copied with each chunk, this would be 2 TB.
  const chunk = Buffer.alloc(64, 'x')
  for (let at = 0; at < 16 << 20; at += chunk.length) read(chunk)
  read(Buffer.from(' '))
})

test('a server that sends what it was not asked for is left', async () => {
  await using server = await listen(
    createServer((socket) => {
      socket.on('error', () => {}).write('( success ( 2 2 ( ) ( ) ) ) ')
      const send = () => {
        while (socket.write('( success ( ( ) 0: ) ) ( success ( 1:x 1:y ( ) ) ) '.repeat(100)));
        socket.once('drain', send)
      }
      socket.once('data', send)
    }),
  )
  await using workspace = await openWorkspace()
  const origin = originOf(server.url.replace('http:', 'svn:'))
  using session = await openSession(origin.url, origin, workspace)
  await assert.rejects(async () => {
    for (;;) await session.ask('get-latest-rev', '')
  })
})
