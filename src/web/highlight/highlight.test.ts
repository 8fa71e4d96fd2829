import assert from 'node:assert/strict'
import { test } from 'node:test'
import { highlightBlocks, highlightLines } from './highlight.ts'

const shown = async (path: string, text: string) => (await highlightLines(`${path} ${text}`, path, text)).map((line) => line.text)

test('each line has its own elements, also within a comment of several lines', async () => {
  assert.deepEqual(await shown('a.ts', '/* one\n two */ let a = "<b>"\n'), [
    '<span class="hljs-comment">/* one</span>',
    '<span class="hljs-comment"> two */</span> <span class="hljs-keyword">let</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>',
  ])
  const [first = ''] = await shown('page.html', '<script>let a</script>')
  assert.match(first, /<span class="hljs-keyword">let<\/span>/, 'a language inside another one')
})

test('code blocks are highlighted by the word that names their language', async () => {
  const blocks = ['ts', 'TypeScript', 'unknown', 'constructor'].map((language) => ({ language, text: 'let <a>\n' }))
  const found = await highlightBlocks(blocks)
  assert.deepEqual(
    blocks.map((block) => found.get(block)?.text),
    [...Array(2).fill('<span class="hljs-keyword">let</span> &lt;a&gt;\n'), undefined, undefined],
  )
})

test('a text is escaped and without colours if its language is unknown, or if it is too long', async () => {
  assert.deepEqual(await shown('a.unknown', '<b>\r\n'), ['&lt;b&gt;'])
  assert.deepEqual(await shown('a.ts', `let a\n${'"<"'.repeat(2000)}`), ['let a', '&quot;&lt;&quot;'.repeat(2000)])
  const [line = ''] = await shown('b.ts', 'let a\n'.repeat(100_000))
  assert.equal(line, 'let a')
})

test('a text that takes too long is shown without colours, and stops nobody meanwhile', async () => {
  const slow = `${'['.repeat(2000)}\n`.repeat(200)
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  const [lines, after] = await Promise.all([shown('slow.md', slow), shown('next.ts', 'let b')])
  clearInterval(timer)
  assert.equal(lines[0], '['.repeat(2000))
  assert.deepEqual(after, ['<span class="hljs-keyword">let</span> b'], 'the next text has a worker again')
  assert.ok(turns > 20, `${turns} turns`)
})
