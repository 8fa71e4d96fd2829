import { type AST, visitRegExpAST } from '@eslint-community/regexpp'
import { openMatcher, openTest, parsePattern, TooManySteps } from './matcher.ts'

/** Characters that expressions distinguish. */
const characters = [
  ...Array.from({ length: 95 }, (_, code) => String.fromCharCode(32 + code)),
  '\n',
  '\r',
  '\t',
  '\0',
  'é',
  '\ufffd',
]
const mostCharacters = 12
/** Few sets accept a control character, so most matches fail there. */
const other = '\u0001'
const ends = ['', other, '\n', `${other}\n`]
const mostWords = 40
const longestWord = 60

type CountSteps = ReturnType<typeof openMatcher>

/**
 * A text for which the cost of the expression grows faster than its length; undefined if none was found. Each text repeats a character or
 * a part of what the expression matches, after each beginning that leads to a repetition, and ends so that the match fails.
 */
export function findAttack(source: string, flags: string): string | undefined {
  const pattern = parsePattern(source, flags)
  const shape = readShape(pattern, flags)
  if (!shape.repeats) return undefined
  const countSteps = openMatcher(source, flags)
  const pumps = [...shape.characters, ...shape.words, ...pairsOf(shape.characters.slice(0, 6))]
  for (const pump of new Set(pumps)) {
    for (const begin of shape.beginnings) {
      for (const end of ends) {
        const text = (length: number) => begin + pump.repeat(Math.ceil(length / pump.length)) + end
        if (isSuperlinear(countSteps, text))
          return `${JSON.stringify(begin)} + ${JSON.stringify(pump)}.repeat(n) + ${JSON.stringify(end)}`
      }
    }
  }
  return undefined
}

/** Long texts are costly, so only those are measured that look suspicious when they are short. */
function isSuperlinear(countSteps: CountSteps, text: (length: number) => string) {
  const early = growth(countSteps, text, 30)
  return early > 2.2 && (early === Number.POSITIVE_INFINITY || growth(countSteps, text, 200) > 2.6)
}

/** By which factor the cost grows when the length doubles: 2 if it is linear, 4 if it is quadratic. */
function growth(countSteps: CountSteps, text: (length: number) => string, length: number) {
  const most = 40 * length * length
  try {
    return countSteps(text(2 * length), 4 * most) / countSteps(text(length), most)
  } catch (error) {
    if (error instanceof TooManySteps || error instanceof RangeError) return Number.POSITIVE_INFINITY
    throw error
  }
}

const pairsOf = (given: string[]) => given.flatMap((one) => given.filter((other) => other !== one).map((other) => one + other))

interface Shape {
  /** Whether any part may repeat without a bound, or so often that it looks like it. */
  repeats: boolean
  /** One of each kind that the expression distinguishes, those that most of its sets accept first. */
  characters: string[]
  /** Texts that parts of the expression match. */
  words: string[]
  /** Texts that lead to each repetition. */
  beginnings: string[]
}

function readShape(pattern: AST.Pattern, flags: string): Shape {
  const sets: ((character: string) => boolean)[] = []
  let repeats = false
  const sequences: AST.Element[][] = []
  visitRegExpAST(pattern, {
    onCharacterEnter: ({ raw, parent }) =>
      parent.type !== 'CharacterClass' && parent.type !== 'CharacterClassRange' && sets.push(openTest(raw, flags)),
    onCharacterSetEnter: ({ raw, parent }) => parent.type !== 'CharacterClass' && sets.push(openTest(raw, flags)),
    onCharacterClassEnter: ({ raw }) => sets.push(openTest(raw, flags)),
    onQuantifierEnter: ({ max }) => {
      repeats ||= max > 8
    },
    onAlternativeEnter: ({ elements }) => sequences.push(elements),
  })
  const kinds = Map.groupBy(
    characters,
    (character) => sets.map((accepts) => Number(accepts(character))).join('') + (character === '\n' ? '\n' : ''),
  )
  const weight = (kind: string) => kind.replaceAll('0', '').length
  const found = [...kinds].sort(([one], [other]) => weight(other) - weight(one)).map(([, [first = '']]) => first)
  const wordOf = openWords(found, flags)
  const words = sequences.flatMap((elements) =>
    elements.flatMap((_, start) =>
      elements.slice(start).map((_, count) =>
        elements
          .slice(start, start + count + 1)
          .map(wordOf)
          .join(''),
      ),
    ),
  )
  const beginnings = new Set(['', other])
  collectBeginnings(pattern.alternatives, '', wordOf, beginnings)
  return {
    repeats,
    characters: found.slice(0, mostCharacters),
    words: words.filter((word) => word && word.length <= longestWord).slice(0, mostWords),
    beginnings: [...beginnings].slice(0, 6),
  }
}

/** A short text that a part of the expression matches. */
function openWords(preferred: string[], flags: string) {
  const wordOf = (node: AST.Element): string => {
    switch (node.type) {
      case 'Group':
      case 'CapturingGroup':
        return node.alternatives[0]?.elements.map(wordOf).join('') ?? ''
      case 'Quantifier':
        return wordOf(node.element).repeat(Math.max(node.min, 1))
      case 'Assertion':
      case 'Backreference':
        return ''
      default:
        return preferred.find(openTest(node.raw, flags)) ?? ''
    }
  }
  return wordOf
}

function collectBeginnings(list: AST.Alternative[], before: string, wordOf: (node: AST.Element) => string, found: Set<string>) {
  for (const { elements } of list) {
    let text = before
    for (const element of elements) {
      const inner = element.type === 'Quantifier' ? element.element : element
      if (element.type === 'Quantifier') found.add(text)
      if (inner.type === 'Group' || inner.type === 'CapturingGroup') collectBeginnings(inner.alternatives, text, wordOf, found)
      text += wordOf(element)
    }
  }
}
