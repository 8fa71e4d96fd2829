import { BelfryTestError } from './control-client.ts'

/** Refuses options that do not exist, because a typo in a test must not pass in silence. */
export function checkOptions(called: string, given: unknown, known: string[]) {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new BelfryTestError(`${called} takes an object, such as ${called}({ seed: './seed.yaml' }).`)
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw new BelfryTestError(`${called} has no option "${name}". Known are: ${known.join(', ')}.`)
}
