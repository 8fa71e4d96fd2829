import type { Measured } from './measured-process.ts'

/** The cost of one request of a series, in milliseconds, by the size of its input. */
export interface Cost extends Measured {
  size: number
}

/** Less is noise: compiling, collecting garbage, the first use of a code path. */
const floor = 30
const least = 2

/** Whether the processor time grew twice as fast as the input since the request before. */
export function growsTooFast(cost: Cost, before: Cost | undefined) {
  if (!before || cost.cpu < floor) return false
  return cost.cpu / Math.max(before.cpu, least) > (2 * cost.size) / before.size
}

/**
 * How long a request and its response of so many bytes may block the loop: as long as a page of events takes, at least 100 ms, and what it
 * takes to parse, check and write them.
 */
export const mostBlocked = (page: number, bytes: number) => Math.max(100, page) + (150 * bytes) / 2 ** 20

/** What a machine that is busy adds to the one measure, it does not add to the other: the loop was blocked at most for the lesser of them. */
export const blockedBy = ({ cpu, blocked }: Measured) => Math.min(cpu, blocked)
