import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { describeSeedPage, describeSeedSchema, readFormat, seedPage, seedSchemaFile } from '#test/seed-schema.ts'
import { checkSeed } from './check.ts'
import { definitions } from './schema.ts'

test('the schema has the keys of the types, and the same of them are required', () => {
  const described = readFormat()
    .filter(({ name }) => name in definitions)
    .map(({ name, keys }) => ({
      name,
      keys: keys.map(({ key }) => key).sort(),
      required: keys.flatMap(({ key, optional }) => (optional ? [] : key)).sort(),
    }))
  const defined = Object.entries(definitions).map(([name, { properties = {}, required = [] }]) => ({
    name,
    keys: Object.keys(properties).sort(),
    required: required.toSorted(),
  }))
  const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name)
  assert.deepEqual(defined.sort(byName), described.sort(byName))
})

test('docs/seed.schema.json is the schema, and other validators agree with it', () => {
  const text = readFileSync(seedSchemaFile, 'utf8')
  assert.ok(text === describeSeedSchema(), 'docs/seed.schema.json is out of date. Run "npm run schema" and commit it.')
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true, keywords: ['errorMessage'] }).compile(JSON.parse(text))
  const right = {
    users: [{ login: 'ada' }],
    repositories: [{ name: 'ada/x', commits: [{ message: 'Drop', files: { x: null } }] }],
  }
  assert.ok(validate(checkSeed(right)))
  for (const wrong of [{ user: [] }, { users: [{}] }, { users: [{ login: '-' }] }, { users: [{ login: 1 }] }, { start: 'now' }]) {
    assert.equal(validate(wrong), false)
    assert.throws(() => checkSeed(wrong))
  }
})

test('docs/seed.md has a table of all keys, and each key has a meaning', () => {
  const isPresent = readFileSync(seedPage, 'utf8') === describeSeedPage()
  assert.ok(isPresent, 'The tables in docs/seed.md are out of date. Run "npm run schema" and commit it.')
  const missing = readFormat().flatMap(({ name, keys }) =>
    keys.flatMap((each) => (each.description ? [] : `${name}.${each.key}`)),
  )
  assert.deepEqual(
    missing.filter((each) => (each.split('.')[0] as string) in definitions),
    [],
  )
})
