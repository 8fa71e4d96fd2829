import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMarkdown, renderMarkdown } from './render.ts'

const shown = async (text: string) => (await renderMarkdown(text)).text.trimEnd()

test('Markdown is shown as what it means', async () => {
  for (const [text, wanted] of [
    ['# One\n\ntwo', '<h1>One</h1>\n<p>two</p>'],
    ['**a** *b* ~~c~~ `d`', '<p><strong>a</strong> <em>b</em> <s>c</s> <code>d</code></p>'],
    ['a\nb', '<p>a<br>\nb</p>'],
    ['- a\n- b', '<ul><li>a</li>\n<li>b</li>\n</ul>'],
    ['3. a', '<ol start="3"><li>a</li>\n</ol>'],
    ['> a', '<blockquote><p>a</p>\n</blockquote>'],
    ['```js\nlet a\n```', '<pre tabindex="0"><code>let a\n</code></pre>'],
    ['    a < b', '<pre tabindex="0"><code>a &lt; b\n</code></pre>'],
    ['---', '<hr>'],
    [
      '|a|b|\n|-|-:|\n|1|2|',
      '<table><thead><tr><th>a</th><th align="right">b</th></tr>\n</thead>\n<tbody><tr><td>1</td><td align="right">2</td></tr>\n</tbody>\n</table>',
    ],
    [
      '- [ ] a\n- [x] b',
      '<ul><li><input type="checkbox" disabled aria-label="to do"> a</li>\n<li><input type="checkbox" disabled aria-label="done" checked> b</li>\n</ul>',
    ],
    ['[a](/b "c")', '<p><a href="/b" title="c" rel="nofollow noopener">a</a></p>'],
    ['<https://a.example>', '<p><a href="https://a.example" rel="nofollow noopener">https://a.example</a></p>'],
    [
      'see https://a.example/b?c=d&e.',
      '<p>see <a href="https://a.example/b?c=d&amp;e" rel="nofollow noopener">https://a.example/b?c=d&amp;e</a>.</p>',
    ],
    ['![a *cat*](https://a.example/cat.png)', '<p><a href="https://a.example/cat.png" rel="nofollow noopener">a cat</a></p>'],
    ['[![badge](/b.svg)](/c)', '<p><a href="/c" rel="nofollow noopener">badge</a></p>'],
    ['\\@ada &amp; \\*b\\*', '<p>@ada &amp; *b*</p>'],
    ['a <b>c</b>', '<p>a &lt;b&gt;c&lt;/b&gt;</p>'],
    ['<!-- for the author -->\n\na <!-- b -->c', '<p>a c</p>'],
    ['', ''],
  ] as const) {
    assert.equal(await shown(text), wanted, JSON.stringify(text))
  }
})

test('who and what is named becomes a link where it is there', async () => {
  const links = {
    userLink: (login: string) => (login === 'ada' ? '/ada' : null),
    teamLink: (org: string, slug: string) => `/orgs/${org}/teams/${slug}`,
    referenceLink: ({ owner, repo, number }: { owner: string | null; repo: string | null; number: number }) =>
      number === 1 ? `/${owner ?? 'acme'}/${repo ?? 'site'}/issues/1?"&<` : undefined,
  }
  const written = async (text: string) => (await renderMarkdown(text, links)).text.trimEnd()
  assert.equal(await written('@Ada @bob'), '<p><a href="/ada">@Ada</a> @bob</p>')
  assert.equal(await written('> **@ada**'), '<blockquote><p><strong><a href="/ada">@ada</a></strong></p>\n</blockquote>')
  assert.equal(await written('@acme/Writers'), '<p><a href="/orgs/acme/teams/writers">@acme/Writers</a></p>')
  assert.equal(await written('#1 #2'), '<p><a href="/acme/site/issues/1?&quot;&amp;&lt;">#1</a> #2</p>')
  assert.equal(await written('a/b#1'), '<p><a href="/a/b/issues/1?&quot;&amp;&lt;">a/b#1</a></p>')
  assert.equal(await written('`@ada` \\@ada x@ada'), '<p><code>@ada</code> @ada x@ada</p>')
  assert.equal(await written('[@ada](/x)'), '<p><a href="/x" rel="nofollow noopener">@ada</a></p>')
})

test('a file of a repository has anchors, pictures and links to other files, and mentions no one', async () => {
  const links = { fileLink: (address: string, kind: string) => `/${kind}/${address}`, userLink: () => '/ada' }
  for (const [text, wanted] of [
    ['# Ä b: *c*!\n\n# Ä b c', '<h1 id="user-content-ä-b-c">Ä b: <em>c</em>!</h1>\n<h1 id="user-content-ä-b-c-1">Ä b c</h1>'],
    ['a\nb @ada #1', '<p>a\nb @ada #1</p>'],
    ['[a](docs/b.md "c")', '<p><a href="/link/docs/b.md" title="c" rel="nofollow noopener">a</a></p>'],
    ['[a](#Over-There)', '<p><a href="#user-content-over-there" rel="nofollow noopener">a</a></p>'],
    ['[a](https://a.example/)', '<p><a href="https://a.example/" rel="nofollow noopener">a</a></p>'],
    ['[a](//a.example/)', '<p><a href="//a.example/" rel="nofollow noopener">a</a></p>'],
    ['![a "b"](c.png)', '<p><a href="/image/c.png"><img src="/image/c.png" alt="a &quot;b&quot;" loading="lazy"></a></p>'],
    ['[![a](b.svg)](c)', '<p><a href="/link/c" rel="nofollow noopener"><img src="/image/b.svg" alt="a" loading="lazy"></a></p>'],
    ['![a](https://a.example/b.png)', '<p><a href="https://a.example/b.png" rel="nofollow noopener">a</a></p>'],
    ['<p align="center">a <b onclick="x">c</b></p>\n\nd<br>e', '<p>a c</p>\n<p>de</p>'],
    ['<<b>script>alert(1)<</b>/script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
  ] as const) {
    assert.equal((await renderMarkdown(text, links, 'file')).text.trimEnd(), wanted, JSON.stringify(text))
  }
})

/** Everything that may be written, to the letter; an address has one of three schemes, or none. */
const plainTag =
  /^<\/?(?:p|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|em|strong|s|h[1-6]|pre|code)>|^<(?:br|hr)>|^<\/a>|^<pre tabindex="0">/
const tagWithMore =
  /^<ol start="\d+">|^<t[hd] align="(?:left|center|right)">|^<input type="checkbox" disabled aria-label=(?:"to do"|"done" checked)>/
const link = /^<a(?: href="(?<href>[^"<>]*)")?(?: title="[^"<>]*")? rel="nofollow noopener">/
const characters = /^(?:[^<>&"']|&(?:amp|lt|gt|quot|#39);)+/

/** Reads what was written as strictly as a browser is lenient: each element closed in its order, and nothing unknown. */
function assertSafe(markup: string, about: string) {
  const open: string[] = []
  let rest = markup
  while (rest) {
    const found = plainTag.exec(rest) ?? tagWithMore.exec(rest) ?? link.exec(rest) ?? characters.exec(rest)
    assert.ok(found, `${about} gave ${rest.slice(0, 200)}`)
    const { href } = found.groups ?? {}
    if (href !== undefined) {
      const address = href.replaceAll('&amp;', '&').replaceAll('&#39;', "'")
      // What is no address at all leads nowhere, and still must not look like another scheme.
      const scheme = URL.parse(address, 'https://here.example/')?.protocol ?? /^https?:/.exec(address)?.[0]
      assert.ok(scheme && ['http:', 'https:', 'mailto:'].includes(scheme), `${about} leads to ${href}`)
    }
    const [, slash, element = ''] = /^<(\/?)(\w+)/.exec(found[0]) ?? []
    if (slash) assert.equal(open.pop(), element, about)
    else if (element && !['br', 'hr', 'input'].includes(element)) {
      assert.ok(element !== 'a' || !open.includes('a'), `${about} has a link in a link`)
      open.push(element)
    }
    rest = rest.slice(found[0].length)
  }
  assert.deepEqual(open, [], about)
}

const hostile = [
  '<script>alert(1)</script>',
  'a <script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'a <img src="x" onerror="alert(1)">',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<style>*{display:none}</style>',
  '<iframe src="https://evil.example"></iframe>',
  '<a href="javascript:alert(1)">x</a>',
  'a <a href="javascript:alert(1)">x</a>',
  '<!-- --><script>alert(1)</script> -->',
  '<!--> <script>alert(1)</script>',
  'a <!--><img src=x onerror=alert(1)>-->',
  '<!<!-- --><script>-- x -->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<?php <script>alert(1)</script> ?>',
  '<math><mtext></p><script>',
  '</p><script>alert(1)</script>',
  '<p\n onclick=alert(1)>',
  '<base href="https://evil.example"><form action=x><input name=csrf>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x]( javascript:alert(1))',
  '[x](<java\tscript:alert(1)>)',
  '[x](<\u0001javascript:alert(1)>)',
  '[x](java&#115;cript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](javascript&#x3A;alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](java\\script:alert(1))',
  '[x](javascript\\:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](data:image/svg+xml,<svg onload=alert(1)>)',
  '![x](data:image/png;base64,AAAA)',
  '![x](javascript:alert(1))',
  '[x](vbscript:msgbox(1))',
  '[x](file:///etc/passwd)',
  '[x](blob:https://a.example/1)',
  '[x](view-source:javascript:1)',
  '[x](x-javascript:1)',
  '[x]: javascript:alert(1)\n\n[x]',
  '[x]: <javascript:alert(1)> "t"\n\n![x]',
  '<javascript:alert(1)>',
  '<data:text/html,1>',
  '<vbscript:x>',
  '[x](/a"onmouseover="alert(1))',
  '[x](/a \'" onmouseover="alert(1)\')',
  '[x](/a "\\" onmouseover=\\"alert(1)")',
  '[x](/a (" onmouseover="alert(1)))',
  '[x](/a "&quot; onmouseover=&quot;alert(1)")',
  '![" onerror="alert(1)](/x)',
  '![](/x"onerror="alert(1))',
  'https://a.example/"onmouseover="alert(1)',
  "https://a.example/'onmouseover='alert(1)",
  'https://a.example/<script>alert(1)</script>',
  'https://a.example/&quot;onmouseover=&quot;alert(1)',
  'javascript:alert(1)//https://a.example/',
  '```"><script>alert(1)</script>\nx\n```',
  '~~~ x" onload="alert(1)\n</code></pre><script>\n~~~',
  '`</code><script>alert(1)</script>`',
  '    </code></pre><script>alert(1)</script>',
  '|<script>|\n|-|\n|"onclick=|',
  '|a|\n|:-"onclick=x:|\n|b|',
  '# <script>\n\n<h1 onclick=x>',
  '9999999999. x\n\n007. y',
  '- [x] <script>\n- [ ] <img src=x onerror=1>',
  '- [X]<input autofocus onfocus=alert(1)>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)&#60;/script&#62;',
  '\\<script\\>alert(1)\\</script\\>',
  '\uFF1Cscript\uFF1Ealert(1)',
  '\u0000<scr\u0000ipt>alert(1)',
  '\uD800<script>\uDFFF [x](/\uD800)',
  '\u202E<script>\u2028alert(1)\u2029',
  '[<https://a.example>](/b)',
  '[a ![b [c](/d)](/e) f](/g)',
  '[https://a.example](/b)',
  '[a](<https://a.example/> "x\n\ny")',
  '@ada"><script>alert(1)</script> #1<script>',
  '**<script>*</script>**alert(1)*',
  '<!--\n<script>alert(1)</script>',
  '<a title="-->" onclick="alert(1)">',
  '<x onclick="alert(1)"\n>*a*</x>',
  '[x](//evil.example/\\@a)',
  '[x](https:javascript:alert(1))',
  '[x](/javascript:alert(1))',
  '[x](?javascript:alert(1))',
]

test('whatever is written, only the elements, attributes and schemes that are allowed come out', async () => {
  for (const text of hostile) {
    for (const context of [
      '%',
      '> %',
      '- %',
      '**a** %',
      '[%](/x)',
      '![%](/x)',
      '[a](/x "%")',
      '|a|\n|-|\n|%|',
      '%\n%',
      '<b>%',
      '`%',
    ]) {
      const whole = context.replaceAll('%', () => text)
      const { text: written } = await renderMarkdown(whole, { userLink: () => '/u', referenceLink: () => '/r' })
      assertSafe(written.replaceAll(/<a href="\/[ur]">/g, '<a href="/" rel="nofollow noopener">'), JSON.stringify(whole))
      const { text: file } = await renderMarkdown(whole, { fileLink: (address) => `/f/${address}` }, 'file')
      const plainer = file
        .replaceAll(/<h(\d) id="[^"<>]*">/g, '<h$1>')
        .replaceAll(/<img src="\/f\/[^"<>]*" alt="[^"<>]*" loading="lazy">/g, '')
        .replaceAll(/<a href="(\/f\/[^"<>]*)">/g, '<a href="$1" rel="nofollow noopener">')
      assertSafe(plainer, `${JSON.stringify(whole)} in a file`)
    }
  }
})

test('schemes that do something lead nowhere', async () => {
  for (const text of hostile.filter((text) => /script:|data:|file:/i.test(text) && /^!?\[x\]\((?![/?]|https)/.test(text))) {
    assert.doesNotMatch(await shown(text), /<a/, text)
  }
})

/** The same texts each time: a linear congruential generator picks. */
test('fragments in any order come out safe', async () => {
  const fragments = [...hostile, ...'<>"\'`*_~[]()!&;:#@/\\-|= \n\t'].concat([
    '\n\n',
    '\n> ',
    '\n- ',
    '<!--',
    '-->',
    '](',
    '![',
    '&#60;',
    'https://',
  ])
  let state = 1
  const pick = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: 1 + pick(12) }, () => fragments[pick(fragments.length)]).join('')
    assertSafe((await renderMarkdown(text)).text, JSON.stringify(text))
  }
})

const plain =
  /^<p class="muted">This text is too long or too complex to be formatted\.[^<]*<\/p>\n<pre class="unformatted" tabindex="0">[^<]*<\/pre>\n$/

test('what is written stays in proportion to the text', async () => {
  const place = `[a]: /${'b'.repeat(25_000)} "${'c'.repeat(25_000)}"\n\n${'[a] ![a] '.repeat(2000)}`
  for (const text of [place, '&'.repeat(50_000), '- '.repeat(50_000), '> '.repeat(50_000), '@a '.repeat(9000)]) {
    const { text: written } = await renderMarkdown(text, { userLink: (login) => `/${login}` })
    assert.doesNotMatch(written, plain)
    assert.ok(written.length < 25 * text.length, `${text.slice(0, 20)}: ${written.length} from ${text.length}`)
  }
})

test('a text that is too long or too complex is shown as it is written', async () => {
  const columns = (count: number) => `|${'a|'.repeat(count)}\n|${'-|'.repeat(count)}\n`
  const rows = (count: number) => '|\n'.repeat(count)
  const texts = [
    'a '.repeat(62_501),
    columns(10_000),
    columns(300) + rows(20_000),
    (columns(20) + rows(20)).repeat(100),
    '|a|\n|-|\n|b|\n\n'.repeat(5000),
    '- a\n'.repeat(30_000),
    '**a*b'.repeat(20_000),
    '!['.repeat(60_000),
    '[a](b) '.repeat(17_000),
    '@a '.repeat(40_000),
    `<script>alert(1)</script>\n\n${columns(10_000)}`,
  ]
  for (const text of texts) {
    const { names, pieces, write } = await readMarkdown(text)
    assert.match(write({}).text, plain, text.slice(0, 30))
    assert.deepEqual(names, [])
    assert.ok(pieces <= 20_000)
  }
  const table = await renderMarkdown(columns(20) + rows(200))
  assert.equal(table.text.match(/<td>/g)?.length, 4000, 'a large table is a table')
})

test('a text is read once, and written for each reader', async () => {
  const text = `${'a '.repeat(300)}@ada`
  const reading = await readMarkdown(text)
  assert.equal(await readMarkdown(text), reading)
  assert.match(reading.write({ userLink: () => '/ada' }).text, /<a href="\/ada">@ada<\/a><\/p>\n$/)
  assert.match(reading.write({}).text, /a @ada<\/p>\n$/)
})
