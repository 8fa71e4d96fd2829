import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** Calls the rest of the expression at a position; true if it matches. */
type Next = (at: number) => boolean
type Match = (at: number, next: Next) => boolean

/** Thrown when matching takes more steps than allowed. */
export class TooManySteps extends Error {}

/**
 * A matcher that backtracks as V8 does, and counts its steps instead of measuring time. Like `replaceAll`, an expression with the flag `g` is
 * matched again after each match.
 */
export function openMatcher(source: string, flags: string) {
  const pattern = parsePattern(source, flags)
  const [global, sticky, multiline] = ['g', 'y', 'm'].map((flag) => flags.includes(flag))
  let [text, steps, most] = ['', 0, 0]
  let captures: (string | undefined)[] = []
  const groups = new Map<AST.CapturingGroup, number>()
  const step = () => {
    if (++steps > most) throw new TooManySteps()
  }

  const alternatives = (list: AST.Alternative[], back: boolean): Match => {
    const choices = list.map(({ elements }) => sequence(elements, back))
    return choices.length === 1 && choices[0] ? choices[0] : (at, next) => choices.some((choice) => choice(at, next))
  }

  const sequence = (elements: AST.Element[], back: boolean): Match => {
    const parts = (back ? elements.toReversed() : elements).map((element) => compile(element, back))
    const from = (index: number, at: number, next: Next): boolean => {
      const part = parts[index]
      return part ? part(at, (after) => from(index + 1, after, next)) : next(at)
    }
    return (at, next) => from(0, at, next)
  }

  const compile = (node: AST.Element, back: boolean): Match => {
    switch (node.type) {
      case 'Group':
        return alternatives(node.alternatives, back)
      case 'CapturingGroup':
        return capture(node, back)
      case 'Quantifier':
        return repeat(node, back)
      case 'Assertion':
        return assertion(node)
      case 'Backreference': {
        const [group] = [node.resolved].flat()
        return (at, next) => {
          step()
          const said = (group && captures[numberOf(group)]) ?? ''
          const [start, end] = back ? [at - said.length, at] : [at, at + said.length]
          return text.slice(Math.max(start, 0), end) === said && next(back ? start : end)
        }
      }
      default: {
        const accepts = openTest(node.raw, flags)
        return (at, next) => {
          step()
          const character = text[back ? at - 1 : at]
          return character !== undefined && accepts(character) && next(back ? at - 1 : at + 1)
        }
      }
    }
  }

  const numberOf = (group: AST.CapturingGroup) => {
    const known = groups.get(group) ?? groups.size
    groups.set(group, known)
    return known
  }

  const capture = (node: AST.CapturingGroup, back: boolean): Match => {
    const inner = alternatives(node.alternatives, back)
    const number = numberOf(node)
    return (at, next) =>
      inner(at, (after) => {
        const before = captures[number]
        captures[number] = text.slice(Math.min(at, after), Math.max(at, after))
        if (next(after)) return true
        captures[number] = before
        return false
      })
  }

  const repeat = ({ element, min, max, greedy }: AST.Quantifier, back: boolean): Match => {
    const inner = compile(element, back)
    const from = (count: number, at: number, next: Next): boolean => {
      step()
      const more = () => count < max && inner(at, (after) => (after !== at || count < min) && from(count + 1, after, next))
      const enough = () => count >= min && next(at)
      return greedy ? more() || enough() : enough() || more()
    }
    return (at, next) => from(0, at, next)
  }

  const assertion = (node: AST.Assertion): Match => {
    if (node.kind === 'lookahead' || node.kind === 'lookbehind') {
      const inner = alternatives(node.alternatives, node.kind === 'lookbehind')
      return (at, next) => inner(at, () => true) !== node.negate && next(at)
    }
    const holds = (at: number) => {
      if (node.kind === 'word') return (isWord(text[at - 1]) !== isWord(text[at])) !== node.negate
      const beside = node.kind === 'start' ? text[at - 1] : text[at]
      return beside === undefined || (multiline === true && beside === '\n')
    }
    return (at, next) => {
      step()
      return holds(at) && next(at)
    }
  }

  const whole = alternatives(pattern.alternatives, false)

  /** How many steps it takes to search a text. */
  return function countSteps(searched: string, mostSteps: number): number {
    ;[text, steps, most] = [searched, 0, mostSteps]
    for (let start = 0; start <= text.length; start++) {
      captures = []
      let end: number | undefined
      const matched = whole(start, (at) => {
        end = at
        return true
      })
      if (matched ? !global : sticky) break
      if (matched && end !== undefined && end > start) start = end - 1
    }
    return steps
  }
}

export function parsePattern(source: string, flags: string) {
  const modes = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') }
  return new RegExpParser().parsePattern(source, 0, source.length, modes)
}

/** Whether a character is in a set, such as `[^"]`, `\s` or `.`. */
export function openTest(raw: string, flags: string) {
  const set = new RegExp(`^${raw}$`, flags.replaceAll(/[gym]/g, ''))
  const known = new Map<string, boolean>()
  return (character: string) => {
    const accepted = known.get(character) ?? set.test(character)
    known.set(character, accepted)
    return accepted
  }
}

const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character)
