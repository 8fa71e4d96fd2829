import { definitions, resolve, type Schema, type Type } from './schema.ts'

const names: Record<string, string> = {
  ...{ string: 'a text', integer: 'a whole number', number: 'a number', boolean: 'true or false', array: 'a list' },
  ...{ object: 'a map of keys and values', null: 'empty' },
}

/** Says which type a value must have instead of the one that it has, and how to write it. */
export function describeMismatch(schema: Schema, found: string, value: unknown): string {
  if (schema === definitions.Seed)
    return `must have keys such as "users:" and "repositories:", and not be ${found === 'null' ? 'empty' : (names[found] ?? `a ${found}`)}`
  const wanted = [schema.type ?? []].flat()
  const expected = wanted
    .filter((type) => type !== 'null')
    .map((type) => names[type])
    .join(' or ')
  const hint = hintOf(schema, wanted, found, value)
  return `must be ${expected}, not ${describeFound(found, value)}${hint && `. ${hint}`}`
}

const describeFound = (found: string, value: unknown) =>
  found === 'string' && isShort(value) ? `the text "${value}"` : (names[found] ?? `a ${found}`)

const isShort = (value: unknown): value is string => typeof value === 'string' && /^[^\n"]{1,30}$/.test(value)

function hintOf(schema: Schema, wanted: Type[], found: string, value: unknown): string {
  if (wanted.includes('string') && ['integer', 'number', 'boolean'].includes(found)) return quotedHint(schema, value)
  if (found === 'null')
    return `Give it a value, or remove the key${wanted.includes('string') ? '. A value that begins with # needs quotes' : ''}`
  if (wanted.includes('array')) return listHint(schema, found, value)
  return wanted.includes('object') && isShort(value) ? itemHint(schema, value) : ''
}

/** A number does not have the zeros that the file may begin it with. */
function quotedHint({ pattern }: Schema, value: unknown) {
  return pattern && !new RegExp(pattern).test(`${value}`) ? 'Write it in quotes' : `Write it in quotes: "${value}"`
}

function listHint({ items = {} }: Schema, found: string, value: unknown) {
  const schema = resolve(items)
  const [key] = schema.required ?? []
  if (found === 'object') return `Begin each item with a hyphen${key ? `: "- ${key}: …"` : ''}`
  if (!isShort(value)) return ''
  return key ? itemHint(schema, value) : `Write [${value}]`
}

/** How to write an item that has keys, when only a text is there. */
function itemHint({ required: [key] = [], properties = {} }: Schema, value: string) {
  const [first = '', rest] = value.split(/ (.*)/)
  if (rest && Object.hasOwn(properties, first)) return `A key is followed by a colon: "${first}: ${rest}"`
  if (!key) return ''
  return Object.hasOwn(properties, 'value') ? `Write { ${key}: …, value: ${value} }` : `Write { ${key}: ${value} }`
}
