import { Refusal } from '#platform/errors.ts'
import { networkOf } from '#platform/network.ts'

/**
 * The maximum number of open streams. A stream takes a connection and about 50 KB. A browser has one for each open inbox page, a program one
 * for each timeline that it follows. Many users may share an address behind a router or an untrusted proxy.
 */
export const mostStreams = { user: 50, address: 200, server: 5000 }

/** The client of a stream. */
export interface Follower {
  user_id: number | null
  ip: string
}

/** Counts the open streams of one process. */
export class StreamLimits {
  readonly #open = new Map<string, number>()

  /** Call this before reading anything. The returned function ends the reservation; further calls do nothing. */
  reserve({ user_id, ip }: Follower): () => void {
    const kinds = { user: user_id === null ? undefined : `user ${user_id}`, address: networkOf(ip), server: '' }
    const taken = Object.entries(kinds).filter((entry): entry is [keyof typeof mostStreams, string] => entry[1] !== undefined)
    for (const [kind, key] of taken) if ((this.#open.get(key) ?? 0) >= mostStreams[kind]) throw refusals[kind]()
    for (const [, key] of taken) this.#open.set(key, (this.#open.get(key) ?? 0) + 1)
    let given = false
    return () => {
      if (given) return
      given = true
      for (const [, key] of taken) {
        const left = (this.#open.get(key) ?? 0) - 1
        if (left > 0) this.#open.set(key, left)
        else this.#open.delete(key)
      }
    }
  }
}

const tooMany = (whose: string, most: number) =>
  new Refusal('too_many_streams', `Too many open streams: ${whose} may have ${most}. Close one of them, then try again.`)

const refusals = {
  user: () => tooMany('a user', mostStreams.user),
  address: () => tooMany('an address', mostStreams.address),
  server: () => new Refusal('unavailable', 'Too many streams are open on this server. Please try again in a minute.'),
}
