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
  /** The highlighted text of a code block in a file. */
  codeBlock?(block: CodeBlock): Html | undefined
  /** The address of what a file refers to by a relative one. */
  fileLink?(address: string, kind: 'link' | 'image'): string
}

/**
 * A comment mentions people, and each of its lines is a line. In a file of a repository, a line break is a space, names are not mentions,
 * headings have anchors, and relative addresses refer to other files.
 */
export type TextKind = 'comment' | 'file'

/** The state of rendering: the number of open links, and the length left for addresses and titles. */
interface Page {
  markdown: MarkdownIt
  kind: TextKind
  open: number
  room: number
  anchors: Map<string, number>
  blocks: CodeBlock[]
}

/** A mention or reference in a text, whose address depends on the reader. */
interface Named {
  name: Exclude<Name, { address: string }>
  content: string
}

/** Markup that depends on the reader, or on where the text is. */
type Deferred = (links: Links) => Html

/** Code with the word after its fence, which names a language. */
export interface CodeBlock {
  language: string
  text: string
}

/** A parsed text. Its names must be looked up before it is written. */
export interface Reading {
  names: Name[]
  /** Code blocks of a file. */
  blocks: CodeBlock[]
  /** The number of tokens, as a measure of the work. */
  pieces: number
  write(links: Links): Html
}

/** Parsed texts by their digests, because pages show the same texts repeatedly. */
const kept = new ByteCache<Reading>(16 * 1024 * 1024)
/** Shorter texts are parsed in less than 0.1 ms. */
const worthKeeping = 500

/** Renders Markdown. HTML in the text is escaped, and nothing is loaded from other servers. */
export async function renderMarkdown(text: string, links: Links = {}, kind: TextKind = 'comment'): Promise<Html> {
  return (await readMarkdown(text, kind)).write(links)
}

export async function readMarkdown(text: string, kind: TextKind = 'comment'): Promise<Reading> {
  if (text.length < worthKeeping) return (await read(text, kind)).reading
  const key = `${kind} ${hash('sha1', text)}`
  const known = kept.get(key)
  if (known) return known
  const { reading, bytes } = await read(text, kind)
  kept.set(key, reading, bytes)
  return reading
}

async function read(text: string, kind: TextKind): Promise<{ reading: Reading; bytes: number }> {
  const [markdown, parsed] = [await openMarkdown(), await parseMarkdown(text)]
  if (!parsed) {
    // Finding out that a text is too complex takes as much work as the largest allowed text.
    const reading = plainReading(text, text.length > longest ? 0 : mostPieces)
    return { reading, bytes: 2 * reading.write({}).text.length }
  }
  const { tokens, pieces } = parsed
  const names = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'name')
  const blocks: CodeBlock[] = []
  const parts = writeAll({ markdown, kind, open: 0, room: longest, anchors: new Map(), blocks }, tokens)
  const write = (links: Links) => new Html(parts.map((part) => (typeof part === 'string' ? part : part(links).text)).join(''))
  const length = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 300), 0)
  return {
    reading: { names: names.map(({ meta }) => meta as Name), blocks, pieces, write },
    bytes: 2 * length + 200 * names.length,
  }
}

/** A text beyond the limits is shown unformatted. */
export function plainReading(text: string, pieces = 0): Reading {
  const shown = html`<p class="muted">This text is too long or too complex to be formatted. It is shown as it was written.</p>
<pre class="unformatted" tabindex="0">${text}</pre>\n`
  return { names: [], blocks: [], pieces, write: () => shown }
}

function writeAll(page: Page, tokens: Token[]): (string | Deferred)[] {
  const parts: (string | Deferred)[] = []
  let text = ''
  for (const [index, token] of tokens.entries()) {
    if (isTask(tokens, index) && token.children?.[0]) token.children[0].type = 'task'
    if (token.type === 'heading_open' && page.kind === 'file') token.attrSet('id', anchorOf(page, tokens[index + 1]))
    for (const part of token.children ?? [token]) {
      const written = write(page, part)
      if (typeof written === 'function') {
        parts.push(text, written)
        text = ''
      } else text += written.text
    }
  }
  return [...parts, text]
}

/** A heading's anchor, made of its words. The same words again get a number. */
function anchorOf({ anchors }: Page, heading: Token | undefined): string {
  const words = heading?.children?.map(({ content }) => content).join('') ?? ''
  const anchor = words
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
  const times = anchors.get(anchor) ?? 0
  anchors.set(anchor, times + 1)
  return anchorPrefix + (times ? `${anchor}-${times}` : anchor)
}

/** So that no heading has the id of an element of our pages. */
const anchorPrefix = 'user-content-'

/** Only listed tokens become elements; of all others, the text is shown. */
function write(page: Page, token: Token): Html | Deferred {
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

const writers: Record<string, (page: Page, token: Token) => Html | Deferred> = {
  em_open: () => html`<em>`,
  em_close: () => html`</em>`,
  strong_open: () => html`<strong>`,
  strong_close: () => html`</strong>`,
  s_open: () => html`<s>`,
  s_close: () => html`</s>`,
  softbreak: ({ kind }) => (kind === 'file' ? html`\n` : html`<br>\n`),
  hardbreak: () => html`<br>\n`,
  hr: () => html`<hr>\n`,
  heading_open: (_, token) => html`<${token.tag}${attribute('id', attributeOf(token, 'id'))}>`,
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
  fence: writeFence,
  link_open: (page, token) =>
    page.open++ > 0
      ? html``
      : openLink(page, attributeOf(token, 'href'), attribute('title', spend(page, attributeOf(token, 'title')))),
  link_close: (page) => (--page.open > 0 ? html`` : html`</a>`),
  image: writeImage,
  html_inline: (page, { content }) => html`${shownOf(page, content)}`,
  html_block: (page, { content }) => {
    const shown = shownOf(page, content).trim()
    return shown ? html`<p>${shown}</p>\n` : html``
  },
  task: writeTask,
  name: writeName,
}

function writeFence({ kind, blocks }: Page, { content, info }: Token): Html | Deferred {
  const block = { language: info.trim().split(/[\s{,]/, 1)[0] ?? '', text: content }
  const write = (code: Html | string) => html`<pre tabindex="0"><code>${code}</code></pre>\n`
  if (kind === 'comment' || !block.language) return write(content)
  blocks.push(block)
  return ({ codeBlock }) => write(codeBlock?.(block) ?? content)
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

function openLink(page: Page, address: string | null, more = html``): Html | Deferred {
  const href = spend(page, address)
  const open = (to: string | null) => html`<a${attribute('href', to)}${more} rel="nofollow noopener">`
  if (page.kind === 'comment' || href === null || !isRelative(href)) return open(href)
  if (href.startsWith('#')) return open(`#${anchorPrefix}${href.slice(1).toLowerCase()}`)
  return ({ fileLink }) => open(fileLink?.(href, 'link') ?? href)
}

const isRelative = (address: string) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address)

/** Many short references may repeat one long address. Beyond the length of the longest text, links have no address. */
function spend(page: Page, value: string | null) {
  page.room -= value?.length ?? 0
  return page.room < 0 ? null : value
}

/** An image becomes a link, because loading it would reveal the reader to its host. An image in the same repository is shown. */
function writeImage(page: Page, token: Token): Html | Deferred {
  const shown = (token.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
  const address = attributeOf(token, 'src')
  const inside = page.open > 0
  if (page.kind === 'file' && address !== null && isRelative(address)) {
    const src = spend(page, address)
    if (src !== null) return ({ fileLink }) => writePicture(fileLink?.(src, 'image') ?? src, shown, inside)
  }
  if (inside) return html`${shown || 'image'}`
  const open = openLink(page, address)
  return typeof open === 'function'
    ? (links) => html`${open(links)}${shown || 'image'}</a>`
    : html`${open}${shown || 'image'}</a>`
}

function writePicture(src: string, alt: string, inside_link: boolean) {
  const picture = html`<img src="${src}" alt="${alt}" loading="lazy">`
  return inside_link ? picture : html`<a href="${src}">${picture}</a>`
}

/** HTML in a comment is shown as it was written. Files use it to arrange texts, so there only the text is shown. */
function shownOf({ kind }: Page, markup: string) {
  const shown = withoutComments(markup)
  return kind === 'file' ? shown.replaceAll(/<\/?[a-z][^<>]*>/gi, '') : shown
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

/** A bare address is a link at once. Other names are looked up when the text is shown. */
function writeName(page: Page, { content, meta }: Token): Html | Deferred {
  const name = meta as Name
  if (!('address' in name)) return page.kind === 'file' ? html`${content}` : (links) => writeNamed(links, { name, content })
  const href = spend(page, page.markdown.normalizeLink(name.address))
  return html`<a${attribute('href', href)} rel="nofollow noopener">${content}</a>`
}

function writeNamed(links: Links, { name, content }: Named): Html {
  const address = addressOf(links, name)
  return address ? html`<a href="${address}">${content}</a>` : html`${content}`
}

function addressOf(links: Links, name: Named['name']) {
  if ('user' in name) return links.userLink?.(name.user)
  if ('org' in name) return links.teamLink?.(name.org, name.slug)
  return links.referenceLink?.(name.reference)
}
