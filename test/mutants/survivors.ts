import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run/files.ts'
import type { Mutant } from './choose.ts'
import type { Tried } from './report.ts'

const path = join(root, 'test-output/mutants.json')

export const nameOf = ({ kind, file, line }: Mutant) => `${kind} ${file}:${line}`

export function keepSurvivors(tried: Tried[]) {
  const names = tried.flatMap(({ mutant, finding }) => (finding ? [] : nameOf(mutant)))
  writeFileSync(path, JSON.stringify(names, null, 2))
}

/** The names of those that the last run did not find. */
export const survivedBefore = () => new Set<string>(JSON.parse(readFileSync(path, 'utf8')))
