import { putFault } from './checkout.ts'
import type { Mutant } from './choose.ts'
import { nearTests } from './near-tests.ts'
import type { Tried } from './report.ts'
import { type Finding, tryTests } from './try-tests.ts'

/** Whether a test passes without faults, and the files in which one does not. */
const sound = new Map<string, Promise<boolean>>()
export const unsound = new Set<string>()

export async function tryMutant(checkout: string, mutant: Mutant, fast: boolean, left: string[] = []): Promise<Tried> {
  const tests = nearTests(mutant.file, fast).filter((test) => !unsound.has(test) && !left.includes(test))
  const finding = await tryFault(checkout, mutant, tests)
  if (!finding) return { mutant, tests }
  // A test that failed by chance passes this time.
  const again = await tryFault(checkout, mutant, [finding.file], finding.test)
  if (again && (await isSound(checkout, finding))) return { mutant, tests, finding }
  if (again) unsound.add(finding.file)
  return tryMutant(checkout, mutant, fast, [...left, finding.file])
}

async function tryFault(checkout: string, mutant: Mutant, tests: string[], only?: string) {
  using _ = putFault(checkout, mutant)
  return await tryTests(checkout, tests, only)
}

function isSound(checkout: string, { file, test }: Finding) {
  const key = `${file} ${test}`
  const known = sound.get(key) ?? tryTests(checkout, [file], test).then((finding) => finding === undefined)
  sound.set(key, known)
  return known
}
