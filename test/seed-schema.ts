import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { definitions, type Schema } from '#seed/schema.ts'

export const seedSchemaFile = join(import.meta.dirname, '..', 'docs', 'seed.schema.json')
const formatFiles = ['format.ts', 'repository-format.ts'].map((name) => join(import.meta.dirname, '..', 'src', 'seed', name))

export interface DescribedType {
  name: string
  description: string | undefined
  keys: { key: string; optional: boolean; description: string | undefined }[]
}

/** The types of the format with their comments, as users see them. */
export function readFormat(): DescribedType[] {
  const types: DescribedType[] = []
  let description: string | undefined
  for (const line of formatFiles.flatMap((file) => readFileSync(file, 'utf8').split('\n'))) {
    const [, name] = /^export interface (\w+) \{$/.exec(line) ?? []
    const [, key, mark] = /^ {2}(\w+)(\??): /.exec(line) ?? []
    const [, comment] = /^ *\/\*\* (.*) \*\/$/.exec(line) ?? []
    if (name) types.push({ name, description, keys: [] })
    if (key) types.at(-1)?.keys.push({ key, optional: mark === '?', description })
    description = comment
  }
  return types
}

/** The schema for editors, with the comments of the types. */
export function describeSeedSchema(): string {
  const types = new Map(readFormat().map((type) => [type.name, type]))
  const described = Object.entries(definitions).map(([name, schema]) => {
    const { description, keys = [] } = types.get(name) ?? {}
    const comments = new Map(keys.map((each) => [each.key, each.description]))
    const properties = Object.entries(schema.properties ?? {}).map(([key, value]) => {
      const comment = comments.get(key)
      return [key, { ...(comment && { description: comment }), ...value }]
    })
    return [name, { ...(description && { description }), ...schema, properties: Object.fromEntries(properties) }]
  })
  const { Seed, ...others } = Object.fromEntries(described)
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Belfry seed', ...Seed, $defs: others }
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** The keys of each place as tables, for docs/seed.md. */
export function describeSeedKeys(): string {
  const types = new Map(readFormat().map((type) => [type.name, type.keys]))
  const tables = listPlaces('Seed', 'The seed itself').map(({ name, title }) => {
    const { properties = {}, required = [] } = definitions[name] ?? {}
    const rows = Object.entries(properties).map(([key, schema]) => {
      const comment = types.get(name)?.find((each) => each.key === key)?.description ?? ''
      const { meaning, usual } = readDefault(comment)
      const cells = [`\`${key}\``, describeType(schema), required.includes(key) ? 'required' : usual, meaning]
      return `| ${cells.join(' | ')} |`
    })
    return [`### ${title}`, '', '| key | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
  })
  return `${tables.join('\n\n')}\n`
}

/** Each definition once, where it is used first. */
function listPlaces(name: string, title: string, path = '', seen = new Map<string, string>()) {
  if (seen.has(name)) return []
  seen.set(name, title)
  const places: { name: string; title: string }[] = [{ name, title }]
  for (const [key, { items }] of Object.entries(definitions[name]?.properties ?? {})) {
    const inner = items?.$ref?.slice('#/$defs/'.length)
    const at = `${path}${path && '.'}${key}[]`
    if (inner) places.push(...listPlaces(inner, `\`${at}\``, at, seen))
  }
  return places
}

/** A comment that ends with `… unless given.` gives the default. */
function readDefault(comment: string) {
  const sentences = comment.split(/(?<=\.) /)
  const found = sentences.findLast((sentence) => sentence.endsWith(' unless given.'))
  const usual = found?.replace(/^.*: (?=`)/, '').replace(' unless given.', '') ?? ''
  return { usual, meaning: sentences.filter((sentence) => sentence !== found || sentence.includes(': `')).join(' ') }
}

function describeType(schema: Schema): string {
  const { type, items, enum: values, errorMessage = '', additionalProperties: others, maxLength = 0 } = schema
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  if (items) return items.$ref ? 'list' : `list of: ${describeType(items)}`
  if (others) return `map of: ${describeType(others)}`
  const [, form] =
    /^must be (?:an? )?(date|login|owner\/name|http or https address|six hexadecimal digits)/.exec(errorMessage) ?? []
  if (form) return form
  if (type === 'boolean') return '`true`, `false`'
  if (type === 'integer') return 'whole number'
  const most = maxLength >= 1 << 20 ? '1 MB' : `${maxLength.toLocaleString('en')} characters`
  return `${Array.isArray(type) ? 'text or `null`' : 'text'}, at most ${most}`
}

const [opening, closing] = ['<!-- keys: written by npm run schema -->\n', '<!-- end of keys -->']
export const seedPage = join(import.meta.dirname, '..', 'docs', 'seed.md')

/** The page with the present tables. */
export function describeSeedPage(): string {
  const [before = '', rest = ''] = readFileSync(seedPage, 'utf8').split(opening)
  return [before, opening, describeSeedKeys(), closing, rest.split(closing)[1]].join('')
}

if (import.meta.main) {
  writeFileSync(seedSchemaFile, describeSeedSchema())
  writeFileSync(seedPage, describeSeedPage())
}
