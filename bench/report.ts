import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'

export const write = (line: string) => process.stdout.write(`${line}\n`)

export const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

let missed = 0

/** What is measured against what is wanted: at least, or at most, so much. */
export function judge(measured: number, wanted: { least: number } | { most: number } | undefined) {
  if (!wanted) return ''
  const met = 'least' in wanted ? measured >= wanted.least : measured <= wanted.most
  if (!met) missed++
  return `${'least' in wanted ? `≥ ${wanted.least}` : `≤ ${wanted.most}`}${met ? '' : ' **missed**'}`
}

type Figures = Record<string, number>

const figuresFile = join(import.meta.dirname, 'figures.json')
const figures: Figures = {}

/** Keeps a figure, by what it is of and its unit, for the comparison with the last recorded run. */
export function note(name: string, figure: number) {
  figures[name] = Number(figure.toPrecision(3))
}

/** Says which targets are missed, and what changed since the last recorded run. With BENCH_RECORD=1, this run is recorded. */
export function conclude() {
  const recorded: Figures = JSON.parse(readFileSync(figuresFile, 'utf8'))
  const load = loadavg().map((each) => each.toFixed(1))
  write(`\nCompared to the last recorded run; load of this machine in the last 1, 5 and 15 minutes: ${load.join(', ')}\n`)
  write('| figure | recorded | now | times |\n|---|---:|---:|---:|')
  for (const [name, now] of Object.entries(figures)) {
    const former = recorded[name]
    write(`| ${[name, former ?? '', now, former ? (now / former).toFixed(2) : 'new'].join(' | ')} |`)
  }
  if (process.env.BENCH_RECORD) writeFileSync(figuresFile, `${JSON.stringify({ ...recorded, ...figures }, null, 2)}\n`)
  write(missed ? `\n${missed} of the targets are missed.` : '\nEvery target is met.')
}
