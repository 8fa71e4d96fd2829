import type { IncomingMessage, ServerResponse } from 'node:http'

/** Bytes a second that a client must send or take while we wait for it. */
const slowest = 1024
/** How often a client is checked within that time. */
const looks = 4

/**
 * Calls `end` when a client has kept us waiting for so many seconds: it owes us the rest of a request, or does not read the answer. The time
 * that git itself takes does not count.
 */
export function endWhenIdle(request: IncomingMessage, response: ServerResponse, seconds: number, end: () => void) {
  const { socket } = request
  const period = seconds / looks
  let [seen, idle] = [0, 0]
  const timer = setInterval(() => {
    const moved = socket.bytesRead + socket.bytesWritten
    // If data had arrived that we have not read, it would be in the buffer.
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
