import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { type AnyNode, parse } from 'acorn'

export interface FoundRegex {
  /** Below `src/`, with the line. */
  where: string
  source: string
  flags: string
}

/** Every regular expression of the program, and the places that make one from text. */
export function findRegexes(folder: string): { regexes: FoundRegex[]; made: string[] } {
  const regexes: FoundRegex[] = []
  const made: string[] = []
  const names = globSync('**/*.{ts,js}', { cwd: folder }).filter((name) => !/\.(test|d)\.ts$/.test(name))
  for (const name of names.sort()) {
    const text = readFileSync(join(folder, name), 'utf8')
    const program = parse(name.endsWith('.ts') ? stripTypeScriptTypes(text) : text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowHashBang: true,
      locations: true,
    })
    visit(program, (node) => {
      const where = `${name}:${node.loc?.start.line}`
      if (node.type === 'Literal' && node.regex)
        regexes.push({ where, source: node.regex.pattern, flags: node.regex.flags.replace('d', '') })
      // The pattern of a JSON schema.
      if (
        node.type === 'Property' &&
        node.key.type === 'Identifier' &&
        node.key.name === 'pattern' &&
        node.value.type === 'Literal'
      )
        regexes.push({ where, source: String(node.value.value), flags: 'u' })
      if (node.type === 'NewExpression' && node.callee.type === 'Identifier' && node.callee.name === 'RegExp') made.push(name)
    })
  }
  return { regexes, made }
}

function visit(node: AnyNode, look: (node: AnyNode) => void) {
  look(node)
  for (const value of Object.values(node).flat()) if (typeof value?.type === 'string') visit(value, look)
}
