import { hash } from 'node:crypto'
import type { MarkdownIt, Token } from 'markdown-it'
import { ByteCache } from '#platform/byte-cache.ts'
import { Html, html } from '#web/html.ts'
import type { Name, Reference } from '#web/markdown/names.ts'
import { isTask, longest, mostPieces, openMarkdown, parseMarkdown } from '#web/markdown/parse.ts'

type Address = string | null | undefined

/** The addresses of names in a text; undefined or null for a name that does not exist. */
export interface Links {
  userLink?(login: string): Address
  teamLink?(org: string, slug: string): Address
  referenceLink?(reference: Reference): Address
}

/** The state of rendering: the number of open links, and the length left for addresses and titles. */
interface Page {
  markdown: MarkdownIt
  open: number
  room: number
}

/** A mention or reference in a text, whose address depends on the reader. */
interface Named {
  name: Exclude<Name, { address: string }>
  content: string
}

/** A parsed text. Its names must be looked up before it is written. */
export interface Reading {
  names: Name[]
  /** The number of tokens, as a measure of the work. */
  pieces: number
  write(links: Links): Html
}

/** Parsed texts by their digests, because pages show the same texts repeatedly. */
const kept = new ByteCache<Reading>(16 * 1024 * 1024)
/** Shorter texts are parsed in less than 0.1 ms. */
const worthKeeping = 500

/** Renders Markdown. HTML in the text is escaped, and nothing is loaded from other servers. */
export async function renderMarkdown(text: string, links: Links = {}): Promise<Html> {
  return (await readMarkdown(text)).write(links)
}

export async function readMarkdown(text: string): Promise<Reading> {
  if (text.length < worthKeeping) return (await read(text)).reading
  const key = hash('sha1', text)
  const known = kept.get(key)
  if (known) return known
  const { reading, bytes } = await read(text)
  kept.set(key, reading, bytes)
  return reading
}

async function read(text: string): Promise<{ reading: Reading; bytes: number }> {
  const [markdown, parsed] = [await openMarkdown(), await parseMarkdown(text)]
  if (!parsed) {
    // Finding out that a text is too complex takes as much work as the largest allowed text.
    const reading = plainReading(text, text.length > longest ? 0 : mostPieces)
    return { reading, bytes: 2 * reading.write({}).text.length }
  }
  const { tokens, pieces } = parsed
  const names = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'name')
  const parts = writeAll({ markdown, open: 0, room: longest }, tokens)
  const write = (links: Links) =>
    new Html(parts.map((part) => (typeof part === 'string' ? part : writeNamed(links, part))).join(''))
  const length = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 200), 0)
  return { reading: { names: names.map(({ meta }) => meta as Name), pieces, write }, bytes: 2 * length + 200 * names.length }
}

/** A text beyond the limits is shown unformatted. */
export function plainReading(text: string, pieces = 0): Reading {
  const shown = html`<p class="muted">This text is too long or too complex to be formatted. It is shown as it was written.</p>
<pre class="unformatted" tabindex="0">${text}</pre>\n`
  return { names: [], pieces, write: () => shown }
}

function writeAll(page: Page, tokens: Token[]): (string | Named)[] {
  const parts: (string | Named)[] = []
  let text = ''
  for (const [index, token] of tokens.entries()) {
    if (isTask(tokens, index) && token.children?.[0]) token.children[0].type = 'task'
    for (const part of token.children ?? [token]) {
      const named = namedIn(part)
      if (named) {
        parts.push(text, named)
        text = ''
      } else text += write(page, part).text
    }
  }
  return [...parts, text]
}

function namedIn({ type, content, meta }: Token): Named | undefined {
  const name = meta as Name
  return type !== 'name' || 'address' in name ? undefined : { name, content }
}

/** Only listed tokens become elements; of all others, the text is shown. */
function write(page: Page, token: Token) {
  if (token.hidden) return html``
  const [, kind = '', side] = /^(.*?)(?:_(open|close))?$/.exec(token.type) ?? []
  const element = elements[kind]
  if (element) return new Html(side === 'open' ? `<${element}>` : `</${element}>\n`)
  return (writers[token.type] ?? writeText)(page, token)
}

const elements: Record<string, string> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  bullet_list: 'ul',
  list_item: 'li',
  table: 'table',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
}

const writers: Record<string, (page: Page, token: Token) => Html> = {
  em_open: () => html`<em>`,
  em_close: () => html`</em>`,
  strong_open: () => html`<strong>`,
  strong_close: () => html`</strong>`,
  s_open: () => html`<s>`,
  s_close: () => html`</s>`,
  softbreak: () => html`<br>\n`,
  hardbreak: () => html`<br>\n`,
  hr: () => html`<hr>\n`,
  heading_open: (_, { tag }) => html`<${tag}>`,
  heading_close: (_, { tag }) => html`</${tag}>\n`,
  ordered_list_open: (_, token) => html`<ol${attribute('start', attributeOf(token, 'start'))}>`,
  ordered_list_close: () => html`</ol>\n`,
  th_open: (_, token) => html`<th${alignment(token)}>`,
  th_close: () => html`</th>`,
  td_open: (_, token) => html`<td${alignment(token)}>`,
  td_close: () => html`</td>`,
  code_inline: (_, { content }) => html`<code>${content}</code>`,
  // `tabindex` makes wide content scrollable by keyboard.
  code_block: (_, { content }) => html`<pre tabindex="0"><code>${content}</code></pre>\n`,
  fence: (_, { content }) => html`<pre tabindex="0"><code>${content}</code></pre>\n`,
  link_open: (page, token) =>
    page.open++ > 0
      ? html``
      : openLink(page, attributeOf(token, 'href'), attribute('title', spend(page, attributeOf(token, 'title')))),
  link_close: (page) => (--page.open > 0 ? html`` : html`</a>`),
  image: writeImage,
  html_inline: (_, { content }) => html`${withoutComments(content)}`,
  html_block: (_, { content }) => {
    const shown = withoutComments(content).trim()
    return shown ? html`<p>${shown}</p>\n` : html``
  },
  task: writeTask,
  name: writeAddress,
}

function writeText(_: Page, { content }: Token) {
  return html`${content}`
}

function attributeOf(token: Token, name: string) {
  return token.attrGet(name)?.toString() ?? null
}

function attribute(name: string, value: string | null) {
  return value === null ? html`` : html` ${name}="${value}"`
}

/** Our pages allow no `style`. */
function alignment(token: Token) {
  return attribute('align', /left|center|right/.exec(attributeOf(token, 'style') ?? '')?.[0] ?? null)
}

function openLink(page: Page, address: string | null, more = html``) {
  return html`<a${attribute('href', spend(page, address))}${more} rel="nofollow noopener">`
}

/** Many short references may repeat one long address. Beyond the length of the longest text, links have no address. */
function spend(page: Page, value: string | null) {
  page.room -= value?.length ?? 0
  return page.room < 0 ? null : value
}

/** An image becomes a link, because loading it would reveal the reader to its host. */
function writeImage(page: Page, token: Token) {
  const shown = (token.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('') || 'image'
  return page.open > 0 ? html`${shown}` : html`${openLink(page, attributeOf(token, 'src'))}${shown}</a>`
}

/** Issue templates contain comments that are not for readers. */
function withoutComments(markup: string) {
  let shown = ''
  let from = 0
  for (;;) {
    const start = markup.indexOf('<!--', from)
    const end = start < 0 ? -1 : markup.indexOf('-->', start + 4)
    if (end < 0) return shown + markup.slice(from)
    shown += markup.slice(from, start)
    from = end + 3
  }
}

function writeTask(_: Page, { content }: Token) {
  const state = content.startsWith('[ ]') ? html`aria-label="to do"` : html`aria-label="done" checked`
  return html`<input type="checkbox" disabled ${state}> ${content.slice(4)}`
}

/** A bare address. Other names are looked up when the text is shown. */
function writeAddress(page: Page, { content, meta }: Token) {
  const { address } = meta as { address: string }
  return html`${openLink(page, page.markdown.normalizeLink(address))}${content}</a>`
}

function writeNamed(links: Links, { name, content }: Named): string {
  const address = addressOf(links, name)
  return (address ? html`<a href="${address}">${content}</a>` : html`${content}`).text
}

function addressOf(links: Links, name: Named['name']) {
  if ('user' in name) return links.userLink?.(name.user)
  if ('org' in name) return links.teamLink?.(name.org, name.slug)
  return links.referenceLink?.(name.reference)
}
