import { setTimeout as wait } from 'node:timers/promises'

/** Limits concurrent requests, in order of arrival, and stops all of them during a pause. */
export interface Gate {
  /** Resolves with a function to call at the end. */
  enter(): Promise<() => void>
  pause(milliseconds: number): void
}

export function openGate(places: number, signal: AbortSignal): Gate {
  let free = places
  let quiet = 0
  const waiting: (() => void)[] = []

  function leave() {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return {
    async enter() {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        for (let left = quiet - performance.now(); left > 0; left = quiet - performance.now()) {
          await wait(Math.ceil(left), undefined, { signal })
        }
        signal.throwIfAborted()
      } catch (error) {
        leave()
        throw error
      }
      let inside = true
      return () => {
        if (inside) leave()
        inside = false
      }
    },
    pause(milliseconds) {
      quiet = Math.max(quiet, performance.now() + milliseconds)
    },
  }
}
