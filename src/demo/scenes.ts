import type { Stage } from '#seed/stage.ts'

/** Something that happens at a time before the demo is loaded. */
export interface Scene {
  /** Days ago, and the hour of that day in UTC. */
  days: number
  hour: number
  play(stage: Stage): Promise<unknown>
}

export const scene = (days: number, hour: number, play: Scene['play']): Scene => ({ days, hour, play })

const day = 86_400_000

/** Scenes of the present day are hours before now: they must not be in the future. */
export function timeOf({ days, hour }: Pick<Scene, 'days' | 'hour'>, now: Date): Date {
  if (days === 0) return new Date(now.getTime() - hour * 3_600_000)
  return new Date(Math.floor(now.getTime() / day) * day - days * day + hour * 3_600_000)
}

/** The same numbers in every demo, so that all demos look alike. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}
