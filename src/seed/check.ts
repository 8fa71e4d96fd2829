import { StartError } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import type { Seed } from './format.ts'
import type { Fault, Path } from './path.ts'
import { spell } from './path.ts'
import { planSeed } from './plan.ts'
import { checkReferences } from './references.ts'
import { checkShape, mostFaults, placeholder } from './shape.ts'

/** What is wrong with a seed, all at once. */
export class SeedError extends StartError {
  readonly faults: Fault[]

  /** `name` is the file. */
  constructor(faults: Fault[], name: string, locate: (path: Path) => string) {
    const shown = faults.slice(0, mostFaults)
    const lines = shown.map(({ path, message }) => `  ${locate(path)}: ${message}`)
    const more = faults.length > shown.length ? [`  … and more`] : []
    super([`${name} has ${faults.length === 1 ? 'an error' : 'errors'}:`, ...lines, ...more].join('\n'))
    this.faults = faults
  }
}

/** Unknown keys, wrong types, and references and dates that cannot be. */
export function findFaults(seed: unknown): Fault[] {
  const { faults, repaired, filled, complete } = checkShape(seed)
  if (!repaired) return faults
  const given = repaired as Seed
  const start: Fault[] =
    given.start && !parseIsoDate(given.start) ? [{ path: ['start'], message: 'is not a date of the calendar' }] : []
  const known = new Set([...faults.map(({ path }) => path), ...filled].map(spell))
  const further = [...start, ...checkReferences(given, complete), ...planSeed(given).faults].filter(({ path, message }) => {
    return !known.has(spell(path)) && !message.includes(placeholder)
  })
  return [...faults, ...further]
}

/** Checks a typed object as a file is checked. Errors name the path, such as `repositories[2].issues[0].author`. */
export function checkSeed(seed: unknown): Seed {
  const faults = findFaults(seed)
  if (faults.length) throw new SeedError(faults, 'The seed', spell)
  return seed as Seed
}
