import { failureThreshold } from '#parts/webhooks/throttling.ts'

/** Deliveries in flight at the same time: for one hook, for one host, and in total. A receiver that hangs blocks only its own. */
export const perHook = 10
export const perHost = 50
export const inTotal = 1000

/** A receiver whose last delivery failed gets fewer at a time, because one that hangs must not block many. */
const perHookAfterFailure = 2

export const widthAfter = (failures: number) => (failures === 0 ? perHook : failures < failureThreshold ? perHookAfterFailure : 1)

/** Deliveries that one sender owns, queued and unrecorded ones included, and how many of them for one hook. */
export const mostOwned = 10_000
export const mostOwnedPerHook = 10 * perHook

/** With less room than this, a claim is not worth a query while other deliveries are in flight. */
export const leastRoom = 50

/** Without notifications, a sender polls for deliveries that became due and for those of dead senders. In milliseconds. */
export const pollInterval = 1000

/** How long a delivery waits after a bug of ours, in milliseconds. */
export const pauseAfterBug = 10_000

/** How long exchanges in flight may take after a stop was requested, in milliseconds. */
export const stopTimeout = 10_000
