import { SeedError } from './check.ts'
import type { Seed } from './format.ts'
import { type Fault, type Path, spell } from './path.ts'

interface Source {
  /** The file. */
  name: string
  locate: (path: Path) => string
}

/** Where seeds come from. A typed object is not here. */
const sources = new WeakMap<Seed, Source>()

export const setSource = (seed: Seed, source: Source) => sources.set(seed, source)

/** In the same words as those of a check: `seed.yaml:12 repositories[2].issues[0].author: …`. */
export function seedError(seed: Seed, faults: Fault[]): SeedError {
  const { name, locate } = sources.get(seed) ?? { name: 'The seed', locate: spell }
  return new SeedError(faults, name, locate)
}
