import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'
import { openWithTopic } from '#test/pulls.ts'
import { Html } from '#web/html.ts'
import { readRows } from './views/diff-rows.ts'
import { plainTable } from './views/diff-table.ts'

const inject = injecting(openWithTopic)

test('removed lines stand beside those that replace them, with the words that changed', () => {
  const rows = readRows('@@ -1,3 +1,3 @@ begin\n same\n-let a = first(1)\n+let a = second(1)\n-\\\n\\ No newline at end of file')
  assert.deepEqual(rows, [
    { note: '@@ -1,3 +1,3 @@ begin' },
    { left: { kind: 'context', number: 1, text: 'same' }, right: { kind: 'context', number: 1, text: 'same' } },
    {
      left: { kind: 'removed', number: 2, text: 'let a = first(1)', changed: [8, 13] },
      right: { kind: 'added', number: 2, text: 'let a = second(1)', changed: [8, 14] },
    },
    { left: { kind: 'removed', number: 3, text: '\\' }, right: undefined },
  ])
  const [, pair] = readRows('@@ -1 +1 @@\n-a 😀 b\n+a 😁 b')
  assert.deepEqual(pair && 'left' in pair && pair.left?.changed, [2, 4], 'half a character is never marked')
})

test('changed words are marked in highlighted lines too, across their elements', () => {
  const shown = new Html('a <b>&lt;bc</b>d')
  const { text } = plainTable([{ left: undefined, right: { kind: 'added', number: 1, text: 'a <bcd', changed: [2, 6], shown } }])
  const word = (marked: string) => `<span class="word">${marked}</span>`
  assert.ok(text.includes(`>a <b>${word('&lt;bc')}</b>${word('d')}<`), text)
})

test('a file is shown in one column or two, with hostile text as text, and long ones alone', inject(async (forge) => {
  const { work, propose, ada } = forge
  await work.commit('More', {
    'notes.txt': `${'<script>alert(1)</script>\n'.repeat(3)}`,
    'long.txt': 'x\n'.repeat(2000),
    'blob.bin': Buffer.from([0, 1, 2, 255]),
    'empty.txt': '',
    'turned.txt': 'a \u202e b\n',
    'a b/"><img src=x>.txt': 'odd\n',
  })
  await work.git('mv', 'readme.txt', 'moved.txt')
  await work.commit('Move', {})
  await work.push('topic')
  await propose()
  const nobody = new Guest(forge)
  const path = '/ada/engine/pull/1/files'
  const { text } = await nobody.get(path)
  assert.equal(/<script>alert|<img src=x/.test(text), false)
  for (const said of [
    '7 changed files',
    'characters that change the direction',
    'A binary or empty file',
    'was renamed without changes',
    'Show this file alone',
    'aria-label="Changed files"',
    '&lt;script&gt;alert(1)',
  ])
    assert.ok(text.includes(said), said)
  assert.equal(text.match(/>x<\/td>/g)?.length ?? 0, 0)
  const alone = (await nobody.get(`${path}?file=long.txt`)).text
  assert.equal(alone.match(/>x<\/td>/g)?.length, 2000)
  assert.match((await nobody.get(`${path}?diff=split`)).text, /class="diff-table split"/)
  assert.match((await nobody.get(path)).text, /class="diff-table split"/, 'the choice is kept')
  assert.match((await nobody.get('/ada/engine/compare/main...topic?diff=unified')).text, /class="diff-table unified"/)
  const [{ sha }] = await expect(200, await ada.get(`${engine}/pulls/1/commits`))
  assert.match((await nobody.get(`/ada/engine/commit/${sha}`)).text, /class="diff-table unified"/)
}))
