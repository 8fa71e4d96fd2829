import { connect, type Socket } from 'node:net'
import { bareHost, checkUrl } from './check-url.ts'
import { type checkedLookup, checkLiteral, connectPatience, ForbiddenAddress } from './checked-lookup.ts'
import type { Policy } from './policy.ts'

/** Opens connections that a policy allows. */
export interface Connector {
  /** Throws for a URL that the policy refuses whatever DNS says. */
  check(url: string): URL
  /** Received bytes go to `receiver`, if there is one. Otherwise the socket is read as usual. */
  connect(host: string, port: number, receiver?: Socket): Socket
}

/** Bytes that are read at a time for a receiver. */
const pieceSize = 256 * 1024

export function openConnector(policy: Policy, lookup: ReturnType<typeof checkedLookup>): Connector {
  return {
    check(text) {
      const checked = checkUrl(text, policy)
      if ('refused' in checked) throw new ForbiddenAddress(checked.refused, text, '')
      return checked.url
    },
    connect(hostname, port, receiver) {
      const host = bareHost(hostname)
      const refused = checkLiteral(policy, host)
      if (refused) throw refused
      const onread = receiver && {
        buffer: Buffer.allocUnsafe(pieceSize),
        callback: (length: number, buffer: Uint8Array): boolean =>
          passOn((buffer as Buffer).subarray(0, length), socket, receiver),
      }
      const options = { host, port, lookup, autoSelectFamily: true, allowHalfOpen: true, noDelay: true }
      const socket: Socket = connect({ ...options, ...(onread && { onread }) })
      socket.setTimeout(connectPatience, () => socket.destroy(new Error(`${host} did not answer in time`)))
      return socket.once('connect', () => socket.setTimeout(0))
    },
  }
}

/**
 * Writes past Node's streams, which take five times the processor time. The buffer is reused, so reading waits until the bytes are written.
 */
function passOn(bytes: Buffer, from: Socket, to: Socket): boolean {
  let waiting = false
  to.write(bytes, () => waiting && from.resume())
  waiting = to.writableLength > 0
  return !waiting
}
