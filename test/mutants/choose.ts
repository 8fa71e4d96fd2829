import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRandom } from '../chaos/random.ts'
import { root } from '../run/files.ts'
import { type Fault, faultsOf, kinds } from './faults.ts'

/** A source with a fault. */
export interface Mutant extends Fault {
  file: string
  line: number
  /** The changed lines. */
  before: string
  after: string
  /** The whole source. */
  source: string
}

/** Mutants of each kind in turn, of a file by chance, a long one more often. The same for the same seed. */
export function* chooseMutants(count: number, seed: number, only: string): Generator<Mutant> {
  const { pick } = openRandom(seed)
  const texts = new Map(sources(only).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const lines = [...texts].flatMap(([file, text]) => text.split('\n').map(() => file))
  const chosen = new Set<string>()
  // Without a bound, files that have no fault of a kind left would be searched for ever.
  for (let draw = 0, turn = 0; turn < count && draw < lines.length * 10; draw++) {
    const file = pick(lines)
    const text = texts.get(file) ?? ''
    const faults = faultsOf(text).filter(({ kind }) => kind === kinds[turn % kinds.length])
    if (!faults.length) continue
    const fault = pick(faults)
    const key = `${file} ${fault.start} ${fault.kind}`
    if (chosen.has(key)) continue
    chosen.add(key)
    turn++
    yield mutantOf(file, text, fault)
  }
}

/** The demonstration and its seeds are data. */
const sources = (only: string) =>
  globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !/^src\/(demo|seed)\//.test(file) && file.startsWith(only))
    .sort()

function mutantOf(file: string, text: string, fault: Fault): Mutant {
  const from = text.lastIndexOf('\n', fault.start) + 1
  const end = text.indexOf('\n', fault.end)
  const to = end === -1 ? text.length : end
  return {
    ...fault,
    file,
    line: text.slice(0, fault.start).split('\n').length,
    before: oneLine(text.slice(from, to)),
    after: oneLine(text.slice(from, fault.start) + fault.text + text.slice(fault.end, to)),
    source: text.slice(0, fault.start) + fault.text + text.slice(fault.end),
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
