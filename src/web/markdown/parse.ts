import type { Env, MarkdownIt, StateBlock, StateCore, StateInline, Token } from 'markdown-it'
import { namesIn } from './names.ts'

/** The longest text that the API accepts, the body of a release. A longer one is not parsed, because time and memory grow with it. */
export const longest = 125_000

/**
 * How much work one text may make: 10 for each piece of markup, which becomes a token, and 1 for each step in search of the end of a link.
 * 20,000 tokens take 50 to 100 ms of one core and 15 MB until they are rendered. Prose of the longest length has 5,000. A table has two
 * tokens for each cell and one for its text, and rows of `|` alone have as many cells as the widest row.
 */
const workOfToken = 10
export const mostPieces = 20_000
const mostWork = mostPieces * workOfToken

/** Thrown out of the parser, which has no limit of its own. */
class TooMuchWork extends Error {}

function spend(env: Env, work: number) {
  env.work = Number(env.work ?? 0) + work
  if ((env.work as number) > mostWork) throw new TooMuchWork()
}

/** A parsed text, and its number of tokens. */
export interface Parsed {
  tokens: Token[]
  pieces: number
}

/** Undefined when the text is too long or makes too much work: such a text is shown unformatted. */
export async function parseMarkdown(text: string): Promise<Parsed | undefined> {
  if (text.length > longest) return undefined
  const markdown = await openMarkdown()
  const env: Env = {}
  try {
    return { tokens: markdown.parse(text, env), pieces: Math.ceil(Number(env.work ?? 0) / workOfToken) }
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined
    throw error
  }
}

/** Whether the token is the text of a task: `- [ ] to do`, `- [x] done`. */
export function isTask(tokens: Token[], index: number): boolean {
  const first = tokens[index]?.children?.[0]
  return tokens[index - 2]?.type === 'list_item_open' && first?.type === 'text' && /^\[[ x]\] /i.test(first.content)
}

let opening: Promise<MarkdownIt> | undefined

/** Loaded on first use, because the parser takes memory. */
export function openMarkdown(): Promise<MarkdownIt> {
  opening ??= load()
  return opening
}

async function load() {
  const { default: Parser } = await import('markdown-it')
  // HTML becomes tokens of its own; the renderer must escape them.
  const markdown = new Parser({ html: true, breaks: true })
  markdown.validateLink = isLinkable
  markdown.helpers.parseLinkLabel = findLabelEnd
  limitWork(markdown)
  markdown.block.ruler.push('end_quote', endsQuote, { alt: ['blockquote'] })
  // Replaces the joining of text tokens, because escaped characters must stay recognizable.
  markdown.core.ruler.at('text_join', nameAll)
  return markdown
}

/** Counts tokens as they are made. */
function limitWork({ block, inline }: MarkdownIt) {
  block.State = class extends block.State {
    override push(...token: Parameters<StateBlock['push']>) {
      spend(this.env, workOfToken)
      return super.push(...token)
    }
  }
  inline.State = class extends inline.State {
    override push(...token: Parameters<StateInline['push']>) {
      spend(this.env, workOfToken)
      return super.push(...token)
    }
  }
}

/** A web or mail address, or a path on this server without anything that could be a scheme. */
function isLinkable(address: string) {
  return /^(?:https?:\/\/|mailto:)/i.test(address) || /^[^:]*(?:[/?#]|$)/.test(address)
}

/**
 * Where the text of a link ends, or -1. The parser's own function reads the whole paragraph for each bracket; this one gives up
 * after 500 pieces of text and markup, so that a text full of brackets still takes linear time.
 */
function findLabelEnd(state: StateInline, start: number, no_links_inside = false) {
  const before = state.pos
  let end = -1
  let depth = 1
  state.pos = start + 1
  for (let pieces = 0; pieces < 500 && state.pos < state.posMax; pieces++) {
    const at = state.pos
    const character = state.src[at]
    if (character === ']' && --depth === 0) {
      end = at
      break
    }
    spend(state.env, 1)
    state.md.inline.skipToken(state)
    if (character !== '[') continue
    if (state.pos === at + 1) depth++
    else if (no_links_inside) break
  }
  state.pos = before
  return end
}

/**
 * Whether a line without `>` below a quote ends it. It belongs to the quote when it continues a paragraph. To find out, the parser
 * reads to the end, and may do so for every quote. It may read a million lines this way; after that, every such line ends the quote.
 */
function endsQuote({ env }: StateBlock, line: number, end: number, silent: boolean) {
  if (!silent) return false
  const read_ahead = Number(env.read_ahead ?? 0) + end - line
  env.read_ahead = read_ahead
  return read_ahead > 1_000_000
}

/** Splits the text of paragraphs, headings and cells so that each name is a token of its own, `name`, with the name in `meta`. */
function nameAll({ tokens, Token, env }: StateCore) {
  const make = (type: string) => {
    spend(env, workOfToken)
    return new Token(type, '', 0)
  }
  for (const token of tokens) if (token.children) token.children = nameInline(token.children, make)
}

function nameInline(children: Token[], make: (type: string) => Token) {
  const named: Token[] = []
  let inside = 0
  for (let index = 0; index < children.length; index++) {
    const child = children[index] as Token
    if (!isText(child)) {
      inside = Math.max(0, inside + entered(child))
      named.push(child)
      continue
    }
    // A name right after code belongs to it, as in `decorator`@name.
    let seen = children[index - 1]?.type === 'code_inline' ? '`' : ' '
    let text = ''
    for (; isText(children[index]); index++) {
      const { type, content } = children[index] as Token
      text += content
      seen += type === 'text' ? content : content.replaceAll(/[@#]/g, '`')
    }
    index--
    let done = 0
    for (const { start, end, name } of inside > 0 ? [] : namesIn(seen)) {
      named.push(Object.assign(make('text'), { content: text.slice(done, start - 1) }))
      done = end - 1
      named.push(Object.assign(make('name'), { content: text.slice(start - 1, done), meta: name }))
    }
    named.push(Object.assign(make('text'), { content: text.slice(done) }))
  }
  return named
}

function isText(token: Token | undefined) {
  return token?.type === 'text' || token?.type === 'text_special'
}

/** Names in the text of a link or in HTML code are not mentions. */
function entered({ type, content }: Token) {
  if (type === 'link_open') return 1
  if (type === 'link_close') return -1
  if (type !== 'html_inline') return 0
  if (/^<(?:a|code|pre)[\s>]/i.test(content)) return 1
  return /^<\/(?:a|code|pre)[\s>]/i.test(content) ? -1 : 0
}
