import { putFault } from './checkout.ts'
import type { Mutant } from './choose.ts'
import { nearTests } from './near-tests.ts'
import type { Tried } from './report.ts'
import { type Bounds, type Finding, tryTests } from './try-tests.ts'

/** Milliseconds for a fault, after which no further file is run. */
const patience = 300_000

/** Whether a test passes without faults, and the files in which one does not. */
const sound = new Map<string, Promise<boolean>>()
export const unsound = new Set<string>()

export async function tryMutant(checkout: string, mutant: Mutant, fast: boolean): Promise<Tried> {
  const tests = nearTests(mutant.file, fast).filter((test) => !unsound.has(test))
  const finding = await find(checkout, mutant, tests, performance.now() + patience)
  return { mutant, tests, ...(finding && { finding }) }
}

async function find(checkout: string, mutant: Mutant, tests: string[], until: number): Promise<Finding | undefined> {
  const finding = await tryFault(checkout, mutant, tests, { until })
  if (!finding) return undefined
  // A test that failed by chance passes this time.
  const again = await tryFault(checkout, mutant, [finding.file], { only: finding.test })
  if (again && (await isSound(checkout, finding))) return finding
  if (again) unsound.add(finding.file)
  // Those before it have passed.
  return find(checkout, mutant, tests.slice(tests.indexOf(finding.file) + 1), until)
}

async function tryFault(checkout: string, mutant: Mutant, tests: string[], bounds: Bounds) {
  using _ = putFault(checkout, mutant)
  return await tryTests(checkout, tests, bounds)
}

function isSound(checkout: string, { file, test }: Finding) {
  const key = `${file} ${test}`
  const known = sound.get(key) ?? tryTests(checkout, [file], { only: test }).then((finding) => finding === undefined)
  sound.set(key, known)
  return known
}
