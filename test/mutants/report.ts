import { kindOf } from '../run/files.ts'
import type { Mutant } from './choose.ts'
import { kinds } from './faults.ts'
import type { Finding } from './try-tests.ts'

export interface Tried {
  mutant: Mutant
  /** Those that may find it. */
  tests: string[]
  finding?: Finding
}

/** The fault, and what found it. */
export function lineOf({ mutant: { kind, file, line, before, after }, tests, finding }: Tried) {
  const found = finding ? `found by ${finding.file}${finding.test === undefined ? '' : `: ${finding.test}`}` : tests.join(' ')
  return `${kind} ${file}:${line}\n  - ${before}\n  + ${after}\n  ${found || 'no test is near'}`
}

/** A table by kind of fault, and each that was not found. */
export function summaryOf(tried: Tried[], unsound: string[]) {
  const rows = kinds.map((kind) =>
    rowOf(
      kind,
      tried.filter(({ mutant }) => mutant.kind === kind),
    ),
  )
  const survivors = tried.filter(({ finding }) => !finding)
  return [
    ...survivors.map((one) => `Not found: ${lineOf(one)}\n`),
    ...unsound.map((file) => `A test fails without a fault, so it was left out: ${file}`),
    'kind        faults  found  by a slow test',
    ...rows,
    rowOf('all', tried),
  ].join('\n')
}

function rowOf(name: string, tried: Tried[]) {
  const findings = tried.flatMap(({ finding }) => finding ?? [])
  const slow = findings.filter(({ file }) => kindOf(file) === 'slow')
  return `${name.padEnd(10)}${[tried, findings, slow].map(({ length }, column) => String(length).padStart([8, 7, 16][column] ?? 0)).join('')}`
}
