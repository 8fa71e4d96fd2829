import type { IncomingMessage, ServerResponse } from 'node:http'

/** Bytes per second that a client must send or read while we wait for it. */
const slowest = 1024
/** Checks within the limit. */
const looks = 4

/**
 * Calls `end` when we waited for a client for this many seconds: it did not send the rest of its request, or did not read the response.
 * The time that git takes does not count.
 */
export function endWhenIdle(request: IncomingMessage, response: ServerResponse, seconds: number, end: () => void) {
  // It left while its request waited, and is not heard of again.
  if (response.closed || response.destroyed) return
  const { socket } = request
  const period = seconds / looks
  let [seen, idle] = [0, 0]
  const timer = setInterval(() => {
    const moved = socket.bytesRead + socket.bytesWritten
    // Data that has arrived unread would be in the buffer.
    const owes = !request.complete && request.readableLength === 0
    const waits = owes || response.writableNeedDrain
    idle = waits && moved - seen < period * slowest ? idle + 1 : 0
    seen = moved
    if (idle < looks) return
    clearInterval(timer)
    end()
  }, period * 1000)
  response.once('close', () => clearInterval(timer))
}
