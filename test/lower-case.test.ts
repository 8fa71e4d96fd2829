import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'

const source = join(import.meta.dirname, '..', 'src')

/** `lower(…)` of SQL, compared with a value that PostgreSQL does not lower. */
const halfLowered = /\blower\((?:[^()]|\([^()]*\))*\)\s*(?:=|<>|like|ilike|in)\s*(?:(?:any|all)\()?\s*\$\{(?!lowerEach\()[^}]*\}/g

/** Here the value is SQL, which calls `lower` itself. */
const exempt = new Set(['hosting/refs/commits.ts: lower(email) = {address}', 'hosting/search/names.ts: lower(term) in {texts}'])

test('PostgreSQL lowers both sides of a comparison that ignores case', () => {
  const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'))
  const found = files.flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(halfLowered)].map(([text]) => `${file}: ${text.replaceAll('$', '')}`),
  )
  assert.deepEqual(
    found.filter((one) => !exempt.has(one)),
    [],
  )
})

test('labels are found in any case of any script', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const name of ['ΟΔΟΣ', 'İş']) {
    await expect(201, await ada.post('/repos/ada/engine/labels', { name, color: 'ff0000' }))
    await expect(201, await ada.post('/repos/ada/engine/issues', { title: `About ${name}`, labels: [name] }))
    const query = encodeURIComponent(name)
    const listed = await expect(200, await ada.get(`/repos/ada/engine/issues?labels=${query}`))
    assert.equal(listed.length, 1, name)
    const found = await expect(200, await ada.get(`/search/issues?q=${encodeURIComponent(`repo:ada/engine label:"${name}"`)}`))
    assert.equal(found.total_count, 1, name)
  }
})
