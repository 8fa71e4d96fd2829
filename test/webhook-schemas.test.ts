import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkPayload, differences } from './webhook-schemas.ts'

const root = join(import.meta.dirname, '..')

test('docs/differences.md lists the same differences of payloads', () => {
  const [, section = ''] = readFileSync(join(root, 'docs', 'differences.md'), 'utf8').split('## Webhook payloads')
  const rows = section.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim())
    return line.startsWith('| ') ? [cells.slice(1, -1)] : []
  })
  assert.deepEqual(
    rows.slice(1),
    differences.map(({ event, path, why }) => [event, path, why]),
  )
})

test('of every difference, a test shows that it is needed', () => {
  const tests = globSync('src/**/*.test.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const shown = tests.flatMap((text) => [...text.matchAll(/unneeded\(([^)]*)\)/g)].map(([, events = '']) => events))
  const idle = differences.filter(({ event }) => !shown.some((events) => events.includes(`'${event}'`)))
  assert.deepEqual(idle, [])
})

test('a payload that lacks something, or is of an unknown action, is found out', () => {
  assert.throws(() => checkPayload('label', { action: 'created' }), /label\$created \/label must have required property/)
  assert.throws(() => checkPayload('label', { action: 'licked' }), /nothing is said publicly of label\$licked/)
  assert.throws(
    () => checkPayload('issues', { action: 'opened', issue: { labels: [{ url: 1 }] } }),
    /\/issue\/labels\/\*\/url must be/,
  )
})
