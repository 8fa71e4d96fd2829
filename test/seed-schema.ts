import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { definitions } from '#seed/schema.ts'

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

if (import.meta.main) writeFileSync(seedSchemaFile, describeSeedSchema())
