import { isOutdated } from './prepared.ts'
import { codeOf, explain } from './unavailable.ts'

const serializationFailure = '40001'
const deadlockDetected = '40P01'
const retriable = new Set([serializationFailure, deadlockDetected])

/** Repeats a transaction that PostgreSQL ended because of a deadlock, a serialization failure or a changed table, at most three times. */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 4 || !(retriable.has(codeOf(error) ?? '') || isOutdated(error))) throw explain(error)
    }
  }
}
