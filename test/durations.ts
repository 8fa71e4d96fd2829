import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

const root = join(import.meta.dirname, '..')
const path = join(root, 'test/durations.json')

/** A reporter that writes how many seconds the tests of each file took; test/groups.ts balances by them. */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter from there.
export default async function* record(events: AsyncIterable<TestEvent>) {
  const taken = new Map<string, number>()
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0 || !data.file) continue
    const file = relative(root, data.file)
    taken.set(file, (taken.get(file) ?? 0) + data.details.duration_ms / 1000)
  }
  const known: Record<string, number> = JSON.parse(readFileSync(path, 'utf8'))
  const all = Object.entries({ ...known, ...Object.fromEntries(taken) })
  const long = all.filter(([file, seconds]) => seconds >= 0.5 && existsSync(join(root, file))).sort()
  const lines = long.map(([file, seconds]) => `  ${JSON.stringify(file)}: ${Math.round(seconds * 10) / 10}`)
  writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`)
  yield ''
}
