import type { Fault } from './faults.ts'
import type { Kind } from './recorder.ts'
import type { Findings } from './verify.ts'

export interface Round extends Findings {
  fault: string
  acknowledged: number
  /** The same by kind. */
  kinds: Partial<Record<Kind, number>>
  /** Refused with 503, or without a response. */
  refused: number
  polls: number
  exposed: string[]
  unexpected: string[]
  /** Milliseconds from the end of the fault until every node writes, pushes, delivers and shows what others wrote. */
  recovery: number
  /** The milliseconds until each of these worked, for each node. */
  steps: Record<string, number>[]
  /** Milliseconds from the end of the load until all background work is done. */
  settled: number
}

export interface Report {
  seed: number
  seconds: number
  began: string
  /** How the data folder was made full. */
  disk: 'tmpfs' | 'file size limit'
  rounds: Round[]
  /** What nodes logged at the level of errors, with how often. */
  errors: Record<string, number>
}

export const isClean = ({ rounds }: Report) =>
  rounds.every((round) => [round.lost, round.doubled, round.exposed, round.wrong, round.unexpected].every((list) => !list.length))

const columns = [
  'fault',
  'rounds',
  'acknowledged',
  'refused',
  'lost',
  'doubled',
  'exposed',
  'wrong',
  'resent',
  'recovery',
  'settled',
] as const

/** A row for each fault, in Markdown, which a terminal shows as well. */
export function table({ rounds }: Report, faults: readonly Fault[]) {
  const rows = faults.flatMap(({ name }) => {
    const own = rounds.filter(({ fault }) => fault === name)
    if (!own.length) return []
    const sum = (count: (round: Round) => number) => own.reduce((total, round) => total + count(round), 0)
    const longest = (milliseconds: (round: Round) => number) => `${(Math.max(...own.map(milliseconds)) / 1000).toFixed(1)} s`
    const cells = [
      name,
      own.length,
      sum((round) => round.acknowledged),
      sum((round) => round.refused),
      sum((round) => round.lost.length),
      sum((round) => round.doubled.length),
      sum((round) => round.exposed.length),
      sum((round) => round.wrong.length + round.unexpected.length),
      sum((round) => round.resent),
      longest((round) => round.recovery),
      longest((round) => round.settled),
    ]
    return [cells.map(String)]
  })
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, column) => (column ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [line(columns), line(rule), ...rows.map(line)].join('\n')
}
