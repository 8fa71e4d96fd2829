import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reference } from '#web/markdown/names.ts'
import { renderMarkdown } from '#web/markdown/render.ts'
import { findMentions } from './mentions.ts'

/** Texts, and the mentions in them. */
const mentions: [text: string, ...meant: string[]][] = [
  // Where a name may be
  ['@ada', '@ada'],
  ['hello @ada', '@ada'],
  ['@ada, @bob and @carol-ann', '@ada', '@bob', '@carol-ann'],
  ['(@ada)', '@ada'],
  ['"@ada"', '@ada'],
  ['cc:@ada', '@ada'],
  ['@ada: look', '@ada'],
  ['@ada. And more', '@ada'],
  ['thanks, @ada...', '@ada'],
  ["@ada's change", '@ada'],
  ['one\n@ada\nthree', '@ada'],
  ['请@ada看', '@ada'],
  ['@ada님', '@ada'],
  // Characters of a name
  ['@Ada and @ADA', '@ada'],
  ['@42', '@42'],
  ['@a', '@a'],
  [`@${'a'.repeat(39)}`, `@${'a'.repeat(39)}`],
  [`@${'a'.repeat(40)}`],
  [`@${'a'.repeat(39)}-b`],
  ['@ada-', '@ada'],
  ['@ada--bob'],
  ['@-ada'],
  ['@ada_l'],
  ['@ada.lovelace'],
  ['@josé'],
  ['@\u212Aate'],
  ['@ ada'],
  ['@'],
  // Teams
  ['@acme/writers', '@acme/writers'],
  ['@Acme/Writers and @acme', '@acme/writers', '@acme'],
  ['@acme/night_shift-2.', '@acme/night_shift-2'],
  ['@acme/'],
  ['@acme/writers/more'],
  ['@acme/writers.js'],
  // Text that only looks like a name
  ['ada@example.com'],
  ['mail ada@example.com or @bob', '@bob'],
  ['<ada@example.com>'],
  ['@ada@example.com'],
  ['@@ada'],
  ['josé@ada'],
  ['x_@ada'],
  ['path/@ada'],
  ['.@ada'],
  ['-@ada'],
  ['\\@ada'],
  ['&#64;ada'],
  ['\\\\@ada', '@ada'],
  // Code
  ['`@ada`'],
  ['`` ` @ada ``'],
  ['`code`@ada'],
  ['a ` @ada', '@ada'],
  ['```\n@ada\n```'],
  ['~~~ruby\n@ada = 1\n~~~\n@bob', '@bob'],
  ['```\n@ada, and the fence never ends'],
  ['    @ada'],
  ['text\n    @ada', '@ada'],
  ['\t@ada'],
  ['- item\n\n      @ada'],
  // A quoted reply does not notify again
  ['> @ada wrote this'],
  ['> quoted\ngoes on @ada'],
  ['> quoted\n\n@ada', '@ada'],
  ['- > @ada'],
  ['> ```\n> @ada\n> ```\n\n@bob', '@bob'],
  // Links, images and addresses
  ['[@ada](https://example.com)'],
  ['[mail](https://example.com/?to=@ada)'],
  ['[text](/x "@ada")'],
  ['[**@ada**][x]\n\n[x]: /y'],
  ['[x]: /y "@ada"\n\n[x]'],
  ['[@ada]', '@ada'],
  ['![@ada](/x.png)'],
  ['[link](/x) @ada', '@ada'],
  ['<https://example.com/@ada>'],
  ['https://example.com/@ada'],
  ['https://example.com/?to=@ada'],
  ['see https://example.com/, @ada', '@ada'],
  // HTML
  ['<!-- @ada -->'],
  ['text <!-- @ada --> @bob', '@bob'],
  ['<!--\n@ada\n\n@bob\n-->\n@carol', '@carol'],
  ['<b title="@ada">x</b>'],
  ['a <b>@ada</b>', '@ada'],
  ['a <a href="/x">@ada</a> @bob', '@bob'],
  ['a <code>@ada</code>'],
  ['<pre>\n@ada\n</pre>'],
  ['a < @ada >', '@ada'],
  // Formatted text
  ['**@ada**', '@ada'],
  ['*@ada* _@bob_', '@ada', '@bob'],
  ['~~@ada~~', '@ada'],
  ['# @ada', '@ada'],
  ['@ada\n====', '@ada'],
  ['- @ada\n- [ ] @bob\n  1. @carol', '@ada', '@bob', '@carol'],
  ['| who |\n| --- |\n| @ada |\n| `@bob` |', '@ada'],
  ['**@acme**/writers', '@acme'],
  ['@ada  \n@bob\\\n@carol', '@ada', '@bob', '@carol'],
  ['@ada\r\n\r\n@bob', '@ada', '@bob'],
]

const references: [text: string, ...meant: string[]][] = [
  ['#12', '#12'],
  ['fixes #12, #3 and #12', '#12', '#3'],
  ['(#12)', '#12'],
  ['see #12.', '#12'],
  ['acme/site#12', 'acme/site#12'],
  ['Acme/My.Site-2#7', 'acme/my.site-2#7'],
  ['**#12** and *acme/site#1*', '#12', 'acme/site#1'],
  ['- [ ] #12', '#12'],
  ['#2147483647', '#2147483647'],
  ['#2147483648'],
  ['#0'],
  ['#012'],
  ['# 12'],
  ['#12a'],
  ['#a12'],
  ['x#12'],
  ['##12'],
  ['/#12'],
  ['a/b/c#12'],
  ['a.b/c#12'],
  ['-acme/site#12'],
  ['\\#12'],
  ['acme/site\\#12'],
  ['&#12;'],
  ['`#12`'],
  ['```\n#12\n```'],
  ['    #12'],
  ['> #12', '#12'],
  ['[#12](/x)'],
  ['https://example.com/a/b#12'],
  ['https://example.com/?n=#12'],
  ['<!-- #12 -->'],
]

test('a mention is what a reader sees as one, and nothing else', async () => {
  assert.ok(mentions.length >= 60)
  for (const [text, ...meant] of mentions) {
    const { users, teams } = await findMentions(text)
    const isTeam = (name: string) => name.includes('/')
    assert.deepEqual(
      [...teams.map(({ org, slug }) => `@${org}/${slug}`), ...users.map((user) => `@${user}`)],
      [...meant.filter(isTeam), ...meant.filter((name) => !isTeam(name))],
      JSON.stringify(text),
    )
  }
})

test('references are numbers of this repository or of a named one', async () => {
  for (const [text, ...meant] of references) {
    const found = new Set<string>()
    const referenceLink = ({ owner, repo, number }: Reference) => {
      found.add(owner ? `${owner}/${repo}#${number}` : `#${number}`)
      return '/'
    }
    await renderMarkdown(text, { referenceLink })
    assert.deepEqual([...found], meant, JSON.stringify(text))
  }
})

test('quoted mentions are found on request, as a page shows them', async () => {
  assert.deepEqual((await findMentions('> @ada\n\n@bob', { quoted: true })).users, ['ada', 'bob'])
})

test('the first fifty of each kind are found', async () => {
  const numbers = Array.from({ length: 80 }, (_, index) => index + 1)
  const { users, teams } = await findMentions(numbers.map((n) => `@user${n} @acme/team${n}`).join('\n'))
  const first = numbers.slice(0, 50)
  const wanted = { users: first.map((n) => `user${n}`), teams: first.map((n) => ({ org: 'acme', slug: `team${n}` })) }
  assert.deepEqual({ users, teams }, wanted)
})

test('text beyond 256 KB is not read', async () => {
  const filler = 'word '.repeat(52_428)
  assert.deepEqual((await findMentions(`${filler.slice(0, 262_130)} @ada ${filler} @bob`)).users, ['ada'])
})

/** Repeated often, each of these has made some Markdown parser slow. */
const repeated = [
  '[](',
  '[a](b (',
  '[a](<b',
  '[a][',
  '![',
  '*a **a ',
  'a* ',
  '*a_ ',
  '\\``',
  '<!--',
  '<a b="',
  '- ',
  '>- ',
  '\n[',
]

const built = {
  'quotes that a line ends': '># a\nb\n'.repeat(15_000),
  'a quote after quotes that a line ends': `${'># a\nb\n'.repeat(2000)}${'>c\n'.repeat(30_000)}`,
  'brackets in comments that do not end': '[--><!--]<a '.repeat(21_000),
  'lists in lists, line by line': Array.from({ length: 350 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
  'empty lines below deep lists': `${'- '.repeat(300)}a${'\n'.repeat(50_000)}`,
  'lazy lines below deep quotes': `${'>'.repeat(1000)}a\n${'a\n'.repeat(30_000)}`,
  'a wide table of short rows': `|${'a|'.repeat(20_000)}\n|${'-|'.repeat(20_000)}\n${'|\n'.repeat(20_000)}`,
  'brackets that open and close': '['.repeat(60_000) + ']'.repeat(60_000),
  'stars that open and close': `${'*a '.repeat(20_000)}${'a* '.repeat(20_000)}`,
  'runs of backticks, each longer': Array.from({ length: 500 }, (_, length) => '`'.repeat(length)).join('a'),
  'names that do not end': `${'@a-'.repeat(20_000)} ${'a/'.repeat(20_000)} ${'https://.'.repeat(5000)}${'.'.repeat(20_000)}`,
}

test('deep nesting does not take long', async () => {
  const texts = [...repeated.map((part) => [part, part.repeat(65_536 / part.length)] as const), ...Object.entries(built)]
  const slow: string[] = []
  for (const [about, text] of texts) {
    const before = process.cpuUsage()
    assert.equal((await findMentions(`@ada\n\n${text}`)).users[0], 'ada', about)
    // A linear parser stays far below half a second; a quadratic one takes many.
    const { user } = process.cpuUsage(before)
    if (user > 3_000_000) slow.push(`${JSON.stringify(about)} took ${user / 1000} ms`)
  }
  assert.deepEqual(slow, [])
})

test('mentions after hostile nesting are still found', async () => {
  for (const part of ['>', '[', '*']) {
    assert.deepEqual((await findMentions(`${part.repeat(100_000)}\n\n@ada`)).users, ['ada'], part)
  }
})
