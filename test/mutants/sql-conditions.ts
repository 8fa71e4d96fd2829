/** Where a condition ends, outside of parentheses. */
const ends = new Set(
  'and or where order group having limit offset returning union except for on then when else end window left right inner cross join'.split(
    ' ',
  ),
)

interface Token {
  text: string
  start: number
  depth: number
}

/** The positions of the conditions that follow `where` and `and` in a text of SQL. */
export function conditionsOf(text: string): [from: number, to: number][] {
  const tokens = tokensOf(text)
  const found: [number, number][] = []
  for (const [index, token] of tokens.entries()) {
    if (!(token.text === 'where' || (token.text === 'and' && !isOfBetween(tokens, index)))) continue
    const rest = tokens.slice(index + 1)
    const last = rest.findIndex(
      ({ text, depth }, at) => depth < token.depth || (depth === token.depth && ends.has(text) && !isOfBetween(rest, at)),
    )
    const [first] = rest
    const to = rest[last]?.start ?? text.length
    if (first && last !== 0) found.push([first.start, first.start + text.slice(first.start, to).trimEnd().length])
  }
  return found
}

/** `between a and b` */
function isOfBetween(tokens: Token[], index: number) {
  const { text, depth } = tokens[index] ?? { text: '', depth: 0 }
  if (text !== 'and') return false
  const before = tokens
    .slice(0, index)
    .findLast((token) => token.depth === depth && /^(between|and|where|or|on)$/.test(token.text))
  return before?.text === 'between'
}

/** Words, texts in quotes and signs; a closing parenthesis is outside of what it closes. */
function tokensOf(text: string): Token[] {
  let depth = 0
  return [...text.matchAll(/--.*|'[^']*'|\w+|[^\s\w]/g)]
    .filter(([word]) => !word.startsWith('--'))
    .map(({ 0: word, index: start }) => {
      if (word === ')') depth--
      const token = { text: word.toLowerCase(), start, depth }
      if (word === '(') depth++
      return token
    })
}
