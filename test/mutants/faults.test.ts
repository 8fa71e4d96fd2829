import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf } from './faults.ts'

/** The source with each of its faults. */
const mutantsOf = (source: string) =>
  faultsOf(source).map(({ kind, start, end, text }) => `${kind}: ${source.slice(0, start)}${text}${source.slice(end)}`)

const cases: [source: string, ...mutants: string[]][] = [
  ['const a: string = b ? c : d', 'condition: const a: string = !(b) ? c : d'],
  ['if (!a) b()', 'condition: if (a) b()'],
  ['if (a) throw missing()', 'condition: if (!(a)) throw missing()', 'check: {}'],
  ["if (a) throw new Error('b')", "condition: if (!(a)) throw new Error('b')"],
  ['await checkAccess(a)', 'check: {}'],
  ["get({ access: 'push', operation: 'a' })", "check: get({ ...{}, operation: 'a' })"],
  ['const a = b.length <= c', 'limit: const a = b.length < c'],
  ['const began = performance.now(), late = c - began > d'],
  ['const maxNames = 10, names = 5', 'limit: const maxNames = 11, names = 5'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source.
  ['sql`select a from b where c = ${d}`', 'where: sql`select a from b where true`'],
  [
    'sql`select a from b where c between 1 and 2 and d in (select e where f) order by g`',
    'where: sql`select a from b where true and d in (select e where f) order by g`',
    'where: sql`select a from b where c between 1 and 2 and true order by g`',
    'where: sql`select a from b where c between 1 and 2 and d in (select e where true) order by g`',
  ],
]

for (const [source, ...mutants] of cases) test(`the faults of ${source}`, () => assert.deepEqual(mutantsOf(source), mutants))
