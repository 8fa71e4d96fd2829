import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readRows } from './clients/story.ts'

test('every client with a story has its row in docs/clients.md, and every row a story', () => {
  const folder = join(import.meta.dirname, 'clients')
  const files = globSync('*.{test,story}.ts', { cwd: folder }).sort()
  const clients = files.map((file) => {
    const named = [...readFileSync(join(folder, file), 'utf8').matchAll(/\bclient: '([^']+)'/g)].map(([, name]) => name)
    assert.equal(named.length, 1, `${file} names its client`)
    return named[0]
  })
  const byName = (one = '', other = '') => (one.toLowerCase() < other.toLowerCase() ? -1 : 1)
  assert.deepEqual(
    readRows().map(({ client }) => client),
    clients.sort(byName),
    'Run "npm run clients" with the file of the client.',
  )
  for (const { client, works } of readRows()) assert.ok(works.length > 0, `${client} works with something`)
})
