import { putFault } from './checkout.ts'
import type { Mutant } from './choose.ts'
import { nearTests } from './near-tests.ts'
import type { Tried } from './report.ts'
import { type Finding, tryTests } from './try-tests.ts'

/** Whether a test passes without faults, and the files in which one does not. */
const sound = new Map<string, Promise<boolean>>()
export const unsound = new Set<string>()

export async function tryMutant(checkout: string, mutant: Mutant, fast: boolean): Promise<Tried> {
  const tests = nearTests(mutant.file, fast).filter((test) => !unsound.has(test))
  const finding = await tryFault(checkout, mutant, tests)
  if (!finding || (await isSound(checkout, finding))) return { mutant, tests, ...(finding && { finding }) }
  unsound.add(finding.file)
  return tryMutant(checkout, mutant, fast)
}

async function tryFault(checkout: string, mutant: Mutant, tests: string[]) {
  using _ = putFault(checkout, mutant)
  return await tryTests(checkout, tests)
}

function isSound(checkout: string, { file, test }: Finding) {
  const key = `${file} ${test}`
  const known = sound.get(key) ?? tryTests(checkout, [file], test).then((finding) => finding === undefined)
  sound.set(key, known)
  return known
}
