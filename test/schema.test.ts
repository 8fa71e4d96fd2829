import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { dumpSchema, schemaFile } from '#test/schema.ts'

test('docs/schema.sql shows the schema that the migrations create', async () => {
  const created = await dumpSchema(JSON.parse(process.env.BELFRY_TEST_POSTGRES ?? '{}'))
  const matches = readFileSync(schemaFile, 'utf8') === created
  assert.ok(matches, 'docs/schema.sql is out of date. Run "npm run schema", look at the diff and commit it with the migration.')
})
