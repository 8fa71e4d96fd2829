/**
 * Fails like a connection that timed out. The deadline has two timers: if this process was blocked, an answer that has arrived is read in
 * between.
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  let timer = setTimeout(() => {
    timer = setTimeout(() => late.reject(new Error('timeout expired')), milliseconds / 10)
  }, milliseconds)
  work.catch(() => {})
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
